"""Size of training text and its split into training and held-out lines.

Whether a line is held out depends on its content, so that duplicates are never on both sides, and text larger than
memory can be streamed several times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import filterfalse, islice
from pathlib import Path

import numpy as np

from isogloss.core.errors import UsageError
from isogloss.core.hashing import hash_bytes, hasher
from isogloss.corpora.formats.text import stream_files
from isogloss.training.language_modeling.packing import CHUNK_LINES, Text

# 1 % of the lines, but at least 200 lines, and at most 10 %
HELD_OUT_SHARE, MIN_HELD_OUT_LINES, MAX_HELD_OUT_SHARE = 0.01, 200, 0.1


@dataclass(frozen=True)
class TextFiles:
    """Lines of files and folders, streamed at every iteration: for text larger than memory."""

    paths: tuple[Path, ...]
    repair: bool = False

    def __iter__(self) -> Iterator[str]:
        return stream_files(self.paths, self.repair)


@dataclass(frozen=True)
class TrainingLines:
    """All lines of a text except those held out; can be iterated repeatedly."""

    lines: Iterable[Text]
    held_out: frozenset[Text]

    def __iter__(self) -> Iterator[Text]:
        return filterfalse(self.held_out.__contains__, self.lines)


@dataclass(frozen=True)
class TextSplit:
    """Text of one language: number of lines and characters, hash, training and held-out lines."""

    lines: int
    characters: int
    digest: str
    share: float  # held out, on average
    train: TrainingLines
    held_out: tuple[Text, ...]


def split_texts(texts: Mapping[str, Iterable[Text]]) -> dict[str, TextSplit]:
    """Split the text of each language into training and held-out lines."""
    if not texts:
        raise UsageError("there is no text to train on")
    return {lang: _split_text(lang, text if iter(text) is not text else tuple(text)) for lang, text in texts.items()}


def _split_text(lang: str, lines: Iterable[Text]) -> TextSplit:
    if isinstance(lines, str):
        raise UsageError(f"'{lang}': expected lines of text, got one string; put it in a list")
    number = characters = highest = 0
    lowest = bound = 2**64  # lines with a fingerprint below this bound are held out
    digest = hasher(12)
    low: list[tuple[int, Text]] = []  # candidates; the bound falls as lines are read
    remaining = iter(lines)
    while chunk := list(islice(remaining, CHUNK_LINES)):
        written = [_bytes(line) for line in chunk]
        digest.update(b"\n".join(written) + b"\n")
        marks = np.frombuffer(b"".join(hash_bytes(line, 8) for line in written), ">u8").astype(np.uint64)
        number += len(chunk)
        characters += sum(len(line) if isinstance(line, str) else sum(map(len, line)) for line in chunk)
        lowest, highest = min(lowest, int(marks.min())), max(highest, int(marks.max()))
        bound = int(min(max(HELD_OUT_SHARE, MIN_HELD_OUT_LINES / number), MAX_HELD_OUT_SHARE) * 2**64)
        low += [(int(marks[i]), chunk[i]) for i in np.flatnonzero(marks <= max(bound - 1, lowest))]
    if not characters:
        raise UsageError(f"'{lang}': there is no text to train on")
    if lowest < highest:
        bound = max(bound, lowest + 1)  # at least one line
    held_out = tuple(line for mark, line in low if mark < bound)
    train = TrainingLines(lines, frozenset(held_out))
    return TextSplit(number, characters, digest.hexdigest(), bound / 2**64, train, held_out)


def _bytes(line: Text) -> bytes:
    return (line if isinstance(line, str) else "\t".join(line)).encode("utf-8", "surrogatepass")
