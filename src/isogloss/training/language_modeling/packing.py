"""Lines of text as sequences of token ids of one length.

Packed (the default): the lines of a language are joined, each followed by the separator, and the stream is cut every
`length` tokens; nothing is padding, and attention crosses the lines of a sequence, as in RoBERTa's full sentences.
By line: every line is one padded sequence; a longer line is split into several.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

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

CHUNK_LINES = 5000  # lines that are tokenized at a time
Text = str | tuple[str, ...]  # a line, or a line with its translations


@dataclass(frozen=True)
class Sequences:
    """`ids[sequence, token]`, language after language, on disk and read as if in memory.

    `lengths` is absent where every sequence is full; `starts` says which tokens begin a word, where asked for.
    """

    ids: Ids
    languages: Mapping[str, int]  # sequences of each
    lengths: IntArray | None = None
    starts: npt.NDArray[np.bool_] | None = None

    @property
    def tokens(self) -> int:
        return int(self.ids.size if self.lengths is None else self.lengths.sum())


def pack(
    model: LoadedModel, texts: Mapping[str, Iterable[Text]], length: int, *, by_line: bool = False, words: bool = False
) -> Sequences:
    """The sequences of all languages; `words` keeps where words begin, for masking by words."""
    text_length = length - len(model.prefix) - len(model.suffix)
    if text_length < 1 or length > model.max_length:
        shortest = len(model.prefix) + len(model.suffix) + 1
        raise UsageError(
            f"length: expected {shortest} to {model.max_length} tokens, as '{model.name}' has it, got {length}"
        )
    cut = _cut_by_line if by_line else _cut_into_blocks
    blank = np.full(length, padding_id(model), dtype=np.int32)
    ids_file, starts_file = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115  they live with the arrays
    languages, lengths = {}, []
    for lang, lines in texts.items():
        number = 0
        for tokens, sizes in cut(_token_stream(model, lines, words), text_length):
            ids_file.write(_add_special_tokens(model, tokens[:, 0], sizes, blank).tobytes())
            if words:
                starts_file.write(_pad_starts(model, tokens[:, 1], sizes, length).tobytes())
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
    """What stands after each line: the token that ends a sentence, or the end of text; nothing where there is none."""
    end = model.tokenizer.eos_token_id
    return model.suffix[-1:] or (() if end is None else (int(end),))


def _token_stream(model: LoadedModel, lines: Iterable[Text], words: bool) -> Iterator[tuple[Ids, IntArray]]:
    """Chunks of lines as `array[token, (id, begins a word)]`, a separator after each part, and the lines' lengths."""
    after, encode = separator(model), text_encoder(model.tokenizer)
    table = _word_start_table(model) if words else None
    remaining = iter(lines)
    while chunk := list(islice(remaining, CHUNK_LINES)):
        parts = [(line,) if isinstance(line, str) else line for line in chunk]
        texts = list(chain.from_iterable(parts))
        if words and table is None:
            encoded, begins = _encode_with_word_starts(model.tokenizer, texts)
        else:
            encoded = encode(texts)
            begins = np.ones(len(encoded.ids), np.bool_) if table is None else table[encoded.ids]
        tokens, sizes, full = np.stack([encoded.ids, begins], axis=1), encoded.sizes, encoded.sizes > 0
        if after:
            tokens = np.insert(tokens, np.cumsum(sizes)[full], (*after, True), axis=0)
            sizes = sizes + full
        bounds = np.cumsum([0, *map(len, parts)])
        yield tokens, np.diff(np.concatenate([[0], np.cumsum(sizes)])[bounds])


def _encode_with_word_starts(tokenizer: Any, texts: Sequence[str]) -> tuple[TokenIds, npt.NDArray[np.bool_]]:
    """Tokens, and whether each begins a word, from where they stand in their text."""
    encodings = without_truncation(tokenizer.backend_tokenizer).encode_batch(texts, add_special_tokens=False)
    encoded = concatenate_ids([encoding.ids for encoding in encodings])
    begins = (_word_starts(text, encoding.offsets, encoding.word_ids) for text, encoding in zip(texts, encodings))
    return encoded, np.fromiter(chain.from_iterable(begins), np.bool_, len(encoded.ids))


def _word_start_table(model: LoadedModel) -> npt.NDArray[np.bool_] | None:
    """Whether each token of a WordPiece vocabulary begins a word, which its own form tells; None for other kinds.

    Offsets, which tell it for all kinds, take twice the time of the tokens themselves.
    """
    tokenizer: Any = model.tokenizer
    if not tokenizer.is_fast:
        raise UsageError(f"masking by words needs a fast tokenizer; that of '{model.name}' is none")
    inside = getattr(tokenizer.backend_tokenizer.model, "continuing_subword_prefix", None)
    if type(tokenizer.backend_tokenizer.model).__name__ != "WordPiece" or not inside:
        return None
    tokens = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    return np.array([not str(token).startswith(inside) for token in tokens])


def _word_starts(line: str, offsets: list[tuple[int, int]], words: list[int | None]) -> list[bool]:
    """Whether each token begins a word: the tokenizer says so, or there is a space before it.

    A token of nothing but the space belongs to the word after it.
    """
    begins = [True] * len(words)
    for i in range(1, len(words)):
        (before, end), (start, _) = offsets[i - 1], offsets[i]
        spaced = line[start - 1 : start + 1].strip() != line[start - 1 : start + 1] and line[before:end].strip() != ""
        begins[i] = (spaced and start > before) or words[i] != words[i - 1]
    return begins


def _cut_into_blocks(stream: Iterator[tuple[Ids, IntArray]], text_length: int) -> Iterator[tuple[Ids, IntArray]]:
    """The stream cut every `room` tokens, with the pieces' sizes; the last is filled up from the beginning."""
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
        yield (
            np.concatenate([remainder, *[filling] * -(-text_length // len(filling))])[:text_length],
            np.array([text_length]),
        )


def _cut_by_line(stream: Iterator[tuple[Ids, IntArray]], text_length: int) -> Iterator[tuple[Ids, IntArray]]:
    """Each line a piece, or several where it is longer than `room`: full ones, then what is left."""
    for tokens, lengths in stream:
        pieces = -(-lengths // text_length)
        sizes = np.full(pieces.sum(), text_length)
        last = np.cumsum(pieces)[pieces > 0] - 1
        sizes[last] = (lengths - (pieces - 1) * text_length)[pieces > 0]
        yield tokens, sizes


def _add_special_tokens(model: LoadedModel, ids: Ids, sizes: IntArray, blank: Ids) -> Ids:
    """Each piece with the model's special tokens around it, and padding after."""
    framed = np.tile(blank, (len(sizes), 1))
    start = len(model.prefix)
    framed[:, :start] = model.prefix
    framed[_text_positions(sizes, start, len(blank))] = ids
    for position, token in enumerate(model.suffix, start):
        framed[np.arange(len(sizes)), sizes + position] = token
    return framed


def _pad_starts(model: LoadedModel, starts: Ids, sizes: IntArray, length: int) -> npt.NDArray[np.bool_]:
    framed = np.ones((len(sizes), length), dtype=np.bool_)
    framed[_text_positions(sizes, len(model.prefix), length)] = starts
    return framed


def _text_positions(sizes: IntArray, start: int, length: int) -> npt.NDArray[np.bool_]:
    """Which places of each sequence hold its piece."""
    positions = np.arange(length)
    return (positions >= start) & (positions < start + sizes[:, None])


def _memory_map(file: BinaryIO, dtype: Any, shape: tuple[int, int]) -> Any:
    file.flush()
    return np.memmap(file, dtype, mode="r+", shape=shape)
