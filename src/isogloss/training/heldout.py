"""A first pass over text: how much there is, and which lines are held out.

Whether a line is held out is decided by its content, so that a line that occurs twice is never on both sides, and text
larger than memory can be read as a stream, several times.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from isogloss.core.errors import UsageError
from isogloss.corpora.raw import stream_files
from isogloss.training.packing import Text

SHARE, LEAST, MOST = 0.01, 200, 0.1  # 1 % of the lines or 200, but never more than a tenth


@dataclass(frozen=True)
class TextFiles:
    """Lines of files and folders, read as a stream each time anew: for text larger than memory."""

    paths: tuple[Path, ...]
    repair: bool = False

    def __iter__(self) -> Iterator[str]:
        return stream_files(self.paths, self.repair)


@dataclass(frozen=True)
class Part:
    """The held-out lines of a text, or all others; it can be read again and again."""

    lines: Iterable[Text]
    bound: int  # lines with a smaller fingerprint are held out
    held_out: bool

    def __iter__(self) -> Iterator[Text]:
        return (line for line in self.lines if (_fingerprint(line) < self.bound) == self.held_out)


@dataclass(frozen=True)
class Survey:
    """What one language's text is: lines, characters, a hash of it all, and the two parts."""

    lines: int
    characters: int
    digest: str
    train: Part
    held_out: Part

    @property
    def share(self) -> float:
        """How much is held out, in the mean of all texts."""
        return self.held_out.bound / 2**64


def survey(texts: Mapping[str, Iterable[Text]]) -> dict[str, Survey]:
    """Count each language's text and hold some of it out."""
    if not texts:
        raise UsageError("there is no text to train on")
    return {lang: _survey(lang, text if iter(text) is not text else tuple(text)) for lang, text in texts.items()}


def _survey(lang: str, lines: Iterable[Text]) -> Survey:
    if isinstance(lines, str):
        raise UsageError(f"'{lang}': expected lines of text, got one string; put it in a list")
    number = characters = highest = 0
    lowest = 2**64
    digest = hashlib.blake2b(digest_size=12)
    for line in lines:
        number += 1
        characters += len(line) if isinstance(line, str) else sum(map(len, line))
        digest.update(_bytes(line) + b"\n")
        mark = _fingerprint(line)
        lowest, highest = min(lowest, mark), max(highest, mark)
    if not characters:
        raise UsageError(f"'{lang}': there is no text to train on")
    bound = int(min(max(SHARE, LEAST / number), MOST) * 2**64)
    if lowest < highest:
        bound = max(bound, lowest + 1)  # at least one line
    return Survey(number, characters, digest.hexdigest(), Part(lines, bound, False), Part(lines, bound, True))


def _fingerprint(line: Text) -> int:
    return int.from_bytes(hashlib.blake2b(_bytes(line), digest_size=8).digest(), "big")


def _bytes(line: Text) -> bytes:
    return (line if isinstance(line, str) else "\t".join(line)).encode("utf-8", "surrogatepass")
