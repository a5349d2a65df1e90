"""Lines of text as sequences of token ids, all of one length: what a language model reads.

Packed (the default): the lines of a language are joined, each followed by the separator, and the stream is cut every
`length` tokens; nothing is padding, and attention crosses the lines of a sequence, as in RoBERTa's full sentences.
By line: every line is a sequence of its own, padded; a longer one is cut into several.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from types import SimpleNamespace
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from isogloss.core.errors import UsageError
from isogloss.models.batching import IntArray
from isogloss.models.encoding import padding_id
from isogloss.models.load import LoadedModel

Ids = npt.NDArray[np.int32]
CHUNK = 5000  # lines that are tokenized at a time
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
    room = length - len(model.prefix) - len(model.suffix)
    if room < 1 or length > model.max_length:
        least = len(model.prefix) + len(model.suffix) + 1
        raise UsageError(
            f"length: expected {least} to {model.max_length} tokens, as '{model.name}' has it, got {length}"
        )
    cut = _lines if by_line else _blocks
    blank = np.full(length, padding_id(model), dtype=np.int32)
    ids_file, starts_file = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115  they live with the arrays
    languages, lengths = {}, []
    for lang, lines in texts.items():
        number = 0
        for piece in cut(_streamed(model, lines, words), room):
            ids_file.write(_framed(model, piece[:, 0], blank).tobytes())
            if words:
                starts_file.write(_framed_starts(model, piece[:, 1], length).tobytes())
            lengths.append(len(piece) + length - room)
            number += 1
        if not number:
            raise UsageError(f"'{lang}': there is no text to train on")
        languages[lang] = number
    shape = sum(languages.values()), length
    full = not by_line or min(lengths) == length
    return Sequences(
        _mapped(ids_file, np.int32, shape),
        languages,
        None if full else np.array(lengths),
        _mapped(starts_file, np.bool_, shape) if words else None,
    )


def separator(model: LoadedModel) -> tuple[int, ...]:
    """What stands after each line: the token that ends a sentence, or the end of text; nothing where there is none."""
    end = model.tokenizer.eos_token_id
    return model.suffix[-1:] or (() if end is None else (int(end),))


def _streamed(model: LoadedModel, lines: Iterable[Text], words: bool) -> Iterator[tuple[Ids, list[int]]]:
    """Chunks of lines as `array[token, (id, begins a word)]`, a separator after each part, and the lines' lengths."""
    after = list(separator(model))
    table = _beginnings(model) if words else None
    remaining = iter(lines)
    while chunk := list(islice(remaining, CHUNK)):
        parts = [(line,) if isinstance(line, str) else line for line in chunk]
        texts = list(chain.from_iterable(parts))
        encodings = _encodings(model.tokenizer, texts, offsets=words and table is None)
        pieces = [ids + after if (ids := encoding.ids) else [] for encoding in encodings]
        sizes = iter([len(piece) for piece in pieces])
        lengths = [sum(islice(sizes, len(line))) for line in parts]
        tokens = np.ones((sum(lengths), 2), dtype=np.int32)
        tokens[:, 0] = np.fromiter(chain.from_iterable(pieces), np.int32, len(tokens))
        if table is not None:
            tokens[:, 1] = table[tokens[:, 0]]
        elif words:
            marks = (
                _begins(text, e.offsets, e.word_ids) + [True] * len(after) for text, e in zip(texts, encodings) if e.ids
            )
            tokens[:, 1] = np.fromiter(chain.from_iterable(marks), np.bool_, len(tokens))
        yield tokens, lengths


def _encodings(tokenizer: Any, lines: list[str], offsets: bool) -> Sequence[Any]:
    """Each line's tokens, without special ones and uncut; from the compiled tokenizer itself where there is one."""
    if not tokenizer.is_fast:
        found = tokenizer(lines, add_special_tokens=False, return_attention_mask=False, verbose=False)
        return [SimpleNamespace(ids=ids) for ids in found["input_ids"]]
    compiled = tokenizer.backend_tokenizer
    compiled.no_truncation()
    compiled.no_padding()
    encode = compiled.encode_batch if offsets else compiled.encode_batch_fast
    encodings: Sequence[Any] = encode(lines, add_special_tokens=False)
    return encodings


def _beginnings(model: LoadedModel) -> npt.NDArray[np.bool_] | None:
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


def _begins(line: str, offsets: list[tuple[int, int]], words: list[int | None]) -> list[bool]:
    """Whether each token begins a word: the tokenizer says so, or there is a space before it.

    A token of nothing but the space belongs to the word after it.
    """
    begins = [True] * len(words)
    for i in range(1, len(words)):
        (before, end), (start, _) = offsets[i - 1], offsets[i]
        spaced = line[start - 1 : start + 1].strip() != line[start - 1 : start + 1] and line[before:end].strip() != ""
        begins[i] = (spaced and start > before) or words[i] != words[i - 1]
    return begins


def _blocks(stream: Iterator[tuple[Ids, list[int]]], room: int) -> Iterator[Ids]:
    """The stream cut every `room` tokens; the last piece is filled up from the beginning."""
    rest: Ids = np.zeros((0, 2), dtype=np.int32)
    first: Ids | None = None
    for tokens, _ in stream:
        joined = np.concatenate([rest, tokens])
        whole = len(joined) // room * room
        first = joined[:room] if first is None and whole else first
        yield from joined[:whole].reshape(-1, room, 2)
        rest = joined[whole:]
    if len(rest):
        filling = rest if first is None else first
        yield np.concatenate([rest, *[filling] * -(-room // len(filling))])[:room]


def _lines(stream: Iterator[tuple[Ids, list[int]]], room: int) -> Iterator[Ids]:
    for tokens, lengths in stream:
        for line in np.split(tokens, np.cumsum(lengths)[:-1]):
            yield from (line[start : start + room] for start in range(0, len(line), room))


def _framed(model: LoadedModel, ids: Ids, blank: Ids) -> Ids:
    """With the model's special tokens around it, and padding after."""
    framed = blank.copy()
    start = len(model.prefix)
    end = start + len(ids)
    framed[:start], framed[start:end], framed[end : end + len(model.suffix)] = model.prefix, ids, model.suffix
    return framed


def _framed_starts(model: LoadedModel, starts: Ids, length: int) -> npt.NDArray[np.bool_]:
    framed = np.ones(length, dtype=np.bool_)
    framed[len(model.prefix) : len(model.prefix) + len(starts)] = starts
    return framed


def _mapped(file: BinaryIO, dtype: Any, shape: tuple[int, int]) -> Any:
    file.flush()
    return np.memmap(file, dtype, mode="r+", shape=shape)
