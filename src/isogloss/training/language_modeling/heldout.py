"""A first pass over text: how much there is, and which lines are held out.

Whether a line is held out is decided by its content, so that a line that occurs twice is never on both sides, and text
larger than memory can be read as a stream, several times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import filterfalse, islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from isogloss.core.errors import UsageError
from isogloss.core.hashing import hash_bytes, hasher
from isogloss.corpora.formats.text import stream_files
from isogloss.training.language_modeling.packing import CHUNK_LINES, Text

HELD_OUT_SHARE, MIN_HELD_OUT_LINES, MAX_HELD_OUT_SHARE = (
    0.01,
    200,
    0.1,
)  # 1 % of the lines or 200, but never more than a tenth


@dataclass(frozen=True)
class TextFiles:
    """Lines of files and folders, read as a stream each time anew: for text larger than memory."""

    paths: tuple[Path, ...]
    repair: bool = False

    def __iter__(self) -> Iterator[str]:
        return stream_files(self.paths, self.repair)


@dataclass(frozen=True)
class TrainingLines:
    """All lines of a text but those held out; it can be read again and again."""

    lines: Iterable[Text]
    held_out: frozenset[Text]

    def __iter__(self) -> Iterator[Text]:
        return filterfalse(self.held_out.__contains__, self.lines)


@dataclass(frozen=True)
class TextSplit:
    """What one language's text is: lines, characters, a hash of it all, and the two parts."""

    lines: int
    characters: int
    digest: str
    share: float  # held out, in the mean of all texts
    train: TrainingLines
    held_out: tuple[Text, ...]


def split_texts(texts: Mapping[str, Iterable[Text]]) -> dict[str, TextSplit]:
    """Count each language's text and hold some of it out."""
    if not texts:
        raise UsageError("there is no text to train on")
    return {lang: _split_text(lang, text if iter(text) is not text else tuple(text)) for lang, text in texts.items()}


def _split_text(lang: str, lines: Iterable[Text]) -> TextSplit:
    if isinstance(lines, str):
        raise UsageError(f"'{lang}': expected lines of text, got one string; put it in a list")
    number = characters = highest = 0
    lowest = bound = 2**64  # lines with a fingerprint below the bound are held out
    digest = hasher(12)
    low: list[tuple[int, Text]] = []  # what may be held out: the bound falls as lines are read
    remaining = iter(lines)
    while chunk := list(islice(remaining, CHUNK_LINES)):
        written = [_bytes(line) for line in chunk]
        digest.update(b"\n".join(written) + b"\n")
        marks = _fingerprints(written)
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
    return TextSplit(
        number, characters, digest.hexdigest(), bound / 2**64, TrainingLines(lines, frozenset(held_out)), held_out
    )


def _fingerprints(written: Sequence[bytes]) -> npt.NDArray[np.uint64]:
    digests = b"".join([hash_bytes(line, 8) for line in written])
    return np.frombuffer(digests, ">u8").astype(np.uint64)


def _bytes(line: Text) -> bytes:
    return (line if isinstance(line, str) else "\t".join(line)).encode("utf-8", "surrogatepass")
