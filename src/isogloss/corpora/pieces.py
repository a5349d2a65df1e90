"""A rewritten text as pieces `(old, new)`: the old parts joined are the text before, the new parts the text after.

Annotation with character offsets (the answer to a question) is moved to the new text with `map_spans`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

Piece = tuple[str, str]


def new_text(pieces: Iterable[Piece]) -> str:
    return "".join([new for _, new in pieces])


def substitution_pieces(pattern: re.Pattern[str], replacements: Sequence[str], text: str) -> list[Piece]:
    """The pieces of a substitution: each match gets its replacement, characters between matches stay.

    >>> substitution_pieces(re.compile("sh"), ["š"], "she")
    [('sh', 'š'), ('e', 'e')]
    """
    pieces: list[Piece] = []
    end = 0
    for match, replacement in zip(pattern.finditer(text), replacements, strict=True):
        pieces += [(char, char) for char in text[end : match.start()]]
        pieces.append((match[0], replacement))
        end = match.end()
    return pieces + [(char, char) for char in text[end:]]


def compose_pieces(first: Sequence[Piece], second: Sequence[Piece]) -> list[Piece]:
    """The pieces of two changes applied one after the other, as small as both allow.

    >>> compose_pieces([("x", "ks"), ("a", "a")], [("k", "k"), ("s", "š"), ("a", "o")])
    [('x', 'kš'), ('a', 'o')]
    """
    pieces: list[Piece] = []
    old, new, ahead = "", "", 0  # ahead: characters of the middle text consumed from `first` but not yet from `second`
    second_pieces = iter(second)
    for before, middle in first:
        old, ahead = old + before, ahead + len(middle)
        while ahead > 0:
            middle_part, after = next(second_pieces)
            new, ahead = new + after, ahead - len(middle_part)
        if ahead == 0:
            pieces.append((old, new))
            old, new = "", ""
    trailing = new + new_text(second_pieces)  # insertions at the end
    return [*pieces, (old, trailing)] if old or trailing else pieces


def map_spans(pieces: Sequence[Piece], spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans `(start, stop)` of the old text in the new text, widened to whole pieces.

    >>> map_spans([("sh", "š"), ("e", "e")], [(1, 3), (2, 3)])
    [(0, 2), (1, 2)]
    """
    old_starts = [0, *accumulate(len(piece[0]) for piece in pieces)]
    new_starts = [0, *accumulate(len(piece[1]) for piece in pieces)]
    places = [(bisect_right(old_starts, start) - 1, bisect_right(old_starts, stop - 1)) for start, stop in spans]
    return [(new_starts[first], new_starts[last]) for first, last in places]
