"""Pieces of a rewritten text: chained changes and moved spans, against brute force."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from isogloss.corpora.pieces import compose_pieces, map_spans, new_text, substitution_pieces

NEW = st.text("xyz", max_size=2)


@st.composite
def two_changes(draw: st.DrawFn) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """A change, and a change of what came out of it, cut anywhere."""
    first = [(draw(st.text("abc", max_size=2)), draw(NEW)) for _ in range(draw(st.integers(0, 6)))]
    middle = new_text(first)
    cuts = sorted({0, len(middle), *draw(st.lists(st.integers(0, len(middle))))})
    second = [(middle[a:b], draw(NEW)) for a, b in pairwise(cuts)]
    return first, second


@given(two_changes())
def test_chained_changes_join_to_both_texts(changes: tuple[list[tuple[str, str]], list[tuple[str, str]]]) -> None:
    first, second = changes
    both = compose_pieces(first, second)
    assert "".join(old for old, _ in both) == "".join(old for old, _ in first)
    assert new_text(both) == new_text(second)


def test_chained_pieces_are_as_small_as_they_can_be() -> None:
    first = [("a", "a"), ("b", "bb"), ("c", "")]
    second = [("a", "1"), ("b", "2"), ("b", "3")]
    assert compose_pieces(first, second) == [("a", "1"), ("b", "23"), ("c", "")]


def test_what_appears_at_the_end_is_kept() -> None:
    assert compose_pieces([("a", "a")], [("a", "1"), ("", "2")]) == [("a", "1"), ("", "2")]


@given(st.text("ab ", max_size=8), st.data())
def test_spans_move_with_their_pieces(text: str, data: st.DataObject) -> None:
    """Every whole piece inside a span is inside the moved span, and nothing else but the pieces it cuts."""
    pieces = substitution_pieces(
        re.compile("ab|b"), ["XY" if m[0] == "ab" else "" for m in re.finditer("ab|b", text)], text
    )
    assert "".join(old for old, _ in pieces) == text
    if not text:
        return
    start = data.draw(st.integers(0, len(text) - 1))
    stop = data.draw(st.integers(start + 1, len(text)))
    ((low, high),) = map_spans(pieces, [(start, stop)])
    place, expected = 0, ""
    for old, new in pieces:
        if place < stop and place + len(old) > start:
            expected += new
        place += len(old)
    assert new_text(pieces)[low:high] == expected
