"""Lines of text as token sequences of equal length.

By default, the lines of a language are joined, each followed by the separator, and the stream is cut every `length`
tokens: there is no padding, and attention crosses lines, as in the full sentences of RoBERTa. With `by_line`, every
line is a padded sequence; a longer line is split into several.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import BinaryIO, TypeVar

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from isogloss.core.errors import UsageError
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.batching import IntArray
from isogloss.models.tokenization.encoding import padding_id
from isogloss.training.language_modeling.word_tokens import (
    Ids,
    TokenIds,
    concatenate_ids,
    text_encoder,
    without_truncation,
)

CHUNK_LINES = 5000  # tokenized at a time
Text = str | tuple[str, ...]  # a line, or a line with its translations
Value = TypeVar("Value", bound=np.generic)


@dataclass(frozen=True)
class Sequences:
    """`ids[sequence, token]` of all languages, concatenated, in a memory-mapped file.

    `lengths` is None if every sequence is full; `starts` marks the tokens that begin a word, for masking by words.
    """

    ids: Ids
    languages: Mapping[str, int]  # number of sequences of each
    lengths: IntArray | None = None
    starts: npt.NDArray[np.bool_] | None = None


def pack(
    model: LoadedModel, texts: Mapping[str, Iterable[Text]], length: int, *, by_line: bool = False, words: bool = False
) -> Sequences:
    """The sequences of all languages; with `words`, also the tokens that begin a word."""
    text_length = length - len(model.prefix) - len(model.suffix)
    if text_length < 1 or length > model.max_length:
        shortest = len(model.prefix) + len(model.suffix) + 1
        raise UsageError(
            f"length: expected {shortest} to {model.max_length} tokens, which '{model.name}' supports, got {length}"
        )
    cut = _cut_by_line if by_line else _cut_into_blocks
    padding = np.full(length, padding_id(model), dtype=np.int32)
    ids_file, starts_file = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115  the arrays need them
    languages, lengths = {}, []
    for lang, lines in texts.items():
        number = 0
        for tokens, sizes in cut(_token_stream(model, lines, words), text_length):
            ids_file.write(_add_special_tokens(model, tokens[:, 0], sizes, padding).tobytes())
            if words:
                starts = _place_text(tokens[:, 1], sizes, np.ones(length, np.bool_), len(model.prefix))
                starts_file.write(starts.tobytes())
            lengths.append(sizes + length - text_length)
            number += len(sizes)
        if not number:
            raise UsageError(f"'{lang}': there is no text to train on")
        languages[lang] = number
    shape = sum(languages.values()), length
    all_lengths = np.concatenate(lengths)
    return Sequences(
        _memory_map(ids_file, np.int32, shape),
        languages,
        None if int(all_lengths.min()) == length else all_lengths,
        _memory_map(starts_file, np.bool_, shape) if words else None,
    )


def separator(model: LoadedModel) -> tuple[int, ...]:
    """The token after each line: the end of a sentence, or the end of the text; empty if the model has neither."""
    end = model.tokenizer.eos_token_id
    return model.suffix[-1:] or (() if end is None else (int(end),))


def _token_stream(model: LoadedModel, lines: Iterable[Text], words: bool) -> Iterator[tuple[Ids, IntArray]]:
    """Chunks of lines: `array[token, (id, begins a word)]` with a separator after each part, and the line lengths."""
    after, encode = separator(model), text_encoder(model.tokenizer)
    table = _word_start_table(model) if words else None
    remaining = iter(lines)
    while chunk := list(islice(remaining, CHUNK_LINES)):
        parts = [(line,) if isinstance(line, str) else line for line in chunk]
        texts = list(chain.from_iterable(parts))
        if words and table is None:
            encoded, begins = _encode_with_word_starts(model.tokenizer.backend_tokenizer, texts)
        else:
            encoded = encode(texts)
            begins = np.ones(len(encoded.ids), np.bool_) if table is None else table[encoded.ids]
        tokens, sizes, full = np.stack([encoded.ids, begins], axis=1), encoded.sizes, encoded.sizes > 0
        if after:
            tokens = np.insert(tokens, np.cumsum(sizes)[full], (*after, True), axis=0)
            sizes = sizes + full
        bounds = np.cumsum([0, *map(len, parts)])
        yield tokens, np.diff(np.concatenate([[0], np.cumsum(sizes)])[bounds])


def _encode_with_word_starts(backend: Tokenizer, texts: Sequence[str]) -> tuple[TokenIds, npt.NDArray[np.bool_]]:
    """Tokens, and whether each begins a word, by the offsets of the tokens."""
    encodings = without_truncation(backend).encode_batch(texts, add_special_tokens=False)
    encoded = concatenate_ids([encoding.ids for encoding in encodings])
    begins = (_word_starts(text, encoding.offsets, encoding.word_ids) for text, encoding in zip(texts, encodings))
    return encoded, np.fromiter(chain.from_iterable(begins), np.bool_, len(encoded.ids))


def _word_start_table(model: LoadedModel) -> npt.NDArray[np.bool_] | None:
    """Whether each token of a WordPiece vocabulary begins a word, by its prefix; None for other tokenizers.

    For those, offsets are needed, which take twice the time of the tokens.
    """
    tokenizer = model.tokenizer
    if not tokenizer.is_fast:
        raise UsageError(f"masking by words needs a fast tokenizer, which '{model.name}' does not have")
    vocabulary = tokenizer.backend_tokenizer.model
    prefix = getattr(vocabulary, "continuing_subword_prefix", None)
    if type(vocabulary).__name__ != "WordPiece" or not prefix:
        return None
    tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    return np.array([not str(token).startswith(prefix) for token in tokens])


def _word_starts(line: str, offsets: list[tuple[int, int]], words: list[int | None]) -> list[bool]:
    """Whether each token begins a word: the word number changes, or there is a space before the token.

    A token that is only a space belongs to the following word.
    """
    begins = [True] * len(words)
    for i in range(1, len(words)):
        (before, end), (start, _) = offsets[i - 1], offsets[i]
        spaced = line[start - 1 : start + 1].strip() != line[start - 1 : start + 1] and line[before:end].strip() != ""
        begins[i] = (spaced and start > before) or words[i] != words[i - 1]
    return begins


def _cut_into_blocks(stream: Iterator[tuple[Ids, IntArray]], text_length: int) -> Iterator[tuple[Ids, IntArray]]:
    """The stream cut every `text_length` tokens, with sizes; the last block is filled with tokens of the first."""
    remainder: Ids = np.zeros((0, 2), dtype=np.int32)
    first: Ids | None = None
    for tokens, _ in stream:
        joined = np.concatenate([remainder, tokens])
        blocks = len(joined) // text_length
        first = joined[:text_length] if first is None and blocks else first
        yield joined[: blocks * text_length], np.full(blocks, text_length)
        remainder = joined[blocks * text_length :]
    if len(remainder):
        filling = remainder if first is None else first
        repeated = np.concatenate([remainder, *[filling] * -(-text_length // len(filling))])
        yield repeated[:text_length], np.array([text_length])


def _cut_by_line(stream: Iterator[tuple[Ids, IntArray]], text_length: int) -> Iterator[tuple[Ids, IntArray]]:
    """Each line as one sequence, or as several full ones and a remainder if it is longer than `text_length`."""
    for tokens, lengths in stream:
        pieces = -(-lengths // text_length)
        sizes = np.full(pieces.sum(), text_length)
        last = np.cumsum(pieces)[pieces > 0] - 1
        sizes[last] = (lengths - (pieces - 1) * text_length)[pieces > 0]
        yield tokens, sizes


def _add_special_tokens(model: LoadedModel, ids: Ids, sizes: IntArray, padding: Ids) -> Ids:
    """Each sequence between the special tokens of the model, followed by padding."""
    start = len(model.prefix)
    sequences = _place_text(ids, sizes, padding, start)
    sequences[:, :start] = model.prefix
    for position, token in enumerate(model.suffix, start):
        sequences[np.arange(len(sizes)), sizes + position] = token
    return sequences


def _place_text(values: Ids, sizes: IntArray, padding: npt.NDArray[Value], start: int) -> npt.NDArray[Value]:
    """Rows of padding with the concatenated values of each sequence from position `start`."""
    rows, positions = np.tile(padding, (len(sizes), 1)), np.arange(len(padding))
    rows[(positions >= start) & (positions < start + sizes[:, None])] = values
    return rows


def _memory_map(file: BinaryIO, dtype: type[Value], shape: tuple[int, int]) -> npt.NDArray[Value]:
    file.flush()
    return np.memmap(file, dtype, mode="r+", shape=shape)
