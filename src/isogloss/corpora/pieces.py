"""A rewritten text that knows what became of each part: pieces `(old, new)` whose parts, joined, are the two texts.

Annotation that points into a text (the answer to a question) follows it through any change by its pieces.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

Piece = tuple[str, str]


def old_text(pieces: Iterable[Piece]) -> str:
    return "".join([old for old, _ in pieces])


def new_text(pieces: Iterable[Piece]) -> str:
    return "".join([new for _, new in pieces])


def matched(pattern: re.Pattern[str], new: Sequence[str], text: str) -> list[Piece]:
    """The pieces of a substitution, given what each match becomes; the characters between them stay.

    >>> matched(re.compile("sh"), ["š"], "she")
    [('sh', 'š'), ('e', 'e')]
    """
    pieces: list[Piece] = []
    end = 0
    for match, replacement in zip(pattern.finditer(text), new, strict=True):
        pieces += [(char, char) for char in text[end : match.start()]]
        pieces.append((match[0], replacement))
        end = match.end()
    return pieces + [(char, char) for char in text[end:]]


def chained(first: Sequence[Piece], second: Sequence[Piece]) -> list[Piece]:
    """The pieces of two changes done one after the other: as small as both allow.

    >>> chained([("x", "ks"), ("a", "a")], [("k", "k"), ("s", "š"), ("a", "o")])
    [('x', 'kš'), ('a', 'o')]
    """
    pieces: list[Piece] = []
    old, new, ahead = "", "", 0  # ahead: how far the middle text of `first` has gone beyond that of `second`
    others = iter(second)
    for before, middle in first:
        old, ahead = old + before, ahead + len(middle)
        while ahead > 0:
            wanted, after = next(others)
            new, ahead = new + after, ahead - len(wanted)
        if ahead == 0:
            pieces.append((old, new))
            old, new = "", ""
    rest = new + new_text(others)  # what appears from nothing at the end
    return [*pieces, (old, rest)] if old or rest else pieces


def moved(pieces: Sequence[Piece], spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans `(start, stop)` of the old text in the new one, widened to whole pieces.

    >>> moved([("sh", "š"), ("e", "e")], [(1, 3), (2, 3)])
    [(0, 2), (1, 2)]
    """
    old = [0, *accumulate(len(piece[0]) for piece in pieces)]
    new = [0, *accumulate(len(piece[1]) for piece in pieces)]
    found = []
    for start, stop in spans:
        first, last = bisect_right(old, start) - 1, bisect_right(old, stop - 1)
        found.append((new[first], new[last]))
    return found
