from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.core.errors import UnknownName
from isogloss.text.alignment.symmetrise import SYMMETRISERS, symmetrise

GDFA = "grow-diag-final-and"
SIZE = 6
LINKS = st.frozensets(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=16)


def as_described(e2f: frozenset, f2e: frozenset) -> list[tuple[int, int]]:
    """The textbook's procedure, line by line, over tables of truth values."""
    neighboring = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))
    one, other = np.zeros((SIZE, SIZE), bool), np.zeros((SIZE, SIZE), bool)
    for table, links in ((one, e2f), (other, f2e)):
        for link in links:
            table[link] = True
    alignment = one & other
    added = True
    while added:
        added = False
        for e in range(SIZE):
            for f in range(SIZE):
                if alignment[e, f]:
                    for down, right in neighboring:
                        e_new, f_new = e + down, f + right
                        if not (0 <= e_new < SIZE and 0 <= f_new < SIZE):
                            continue
                        free = not alignment[e_new].any() or not alignment[:, f_new].any()
                        if free and (one | other)[e_new, f_new]:
                            alignment[e_new, f_new] = added = True
    for a in (one, other):
        for e_new in range(SIZE):
            for f_new in range(SIZE):
                if not alignment[e_new].any() and not alignment[:, f_new].any() and a[e_new, f_new]:
                    alignment[e_new, f_new] = True
    return [(int(e), int(f)) for e, f in np.argwhere(alignment)]


@settings(max_examples=150)
@given(LINKS, LINKS)
def test_grow_diag_final_and_is_the_textbooks(forward: frozenset, reverse: frozenset) -> None:
    assert symmetrise(forward, reverse, GDFA) == as_described(forward, reverse)


@given(LINKS, LINKS)
def test_each_is_between_intersection_and_union(forward: frozenset, reverse: frozenset) -> None:
    least, most = forward & reverse, forward | reverse
    for method in SYMMETRISERS:
        assert least <= set(symmetrise(forward, reverse, method)) <= most
    assert set(symmetrise(forward, reverse, "intersection")) == least
    assert set(symmetrise(forward, reverse, "union")) == most


@given(LINKS, LINKS)
def test_grow_diag_final_and_leaves_no_pair_of_free_words(forward: frozenset, reverse: frozenset) -> None:
    links = symmetrise(forward, reverse, GDFA)
    sources, targets = {s for s, _ in links}, {t for _, t in links}
    assert all(s in sources or t in targets for s, t in forward | reverse)


@given(LINKS)
def test_agreeing_directions_stay_as_they_are(links: frozenset) -> None:
    for method in SYMMETRISERS:
        assert symmetrise(links, links, method) == sorted(links)


def test_the_cases_by_hand() -> None:
    """(1, 1) is common; (1, 2) touches it and reaches a free word; (4, 4) touches nothing but both words are free;
    (4, 0) comes after it, when word 4 is taken."""
    forward, reverse = [(1, 1), (1, 2), (4, 4)], [(1, 1), (4, 0)]
    assert symmetrise(forward, reverse, GDFA) == [(1, 1), (1, 2), (4, 4)]
    assert symmetrise(reverse, forward, GDFA) == [(1, 1), (1, 2), (4, 0)]


def test_unknown_names_are_told() -> None:
    with pytest.raises(UnknownName, match="did you mean 'grow-diag-final-and'"):
        symmetrise([], [], "grow-diag-final")
