from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.metrics.alignment import LinkCounts, link_counts
from isogloss.metrics.counts import total

LINKS = st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12)


def test_by_hand() -> None:
    """Four sure links and two possible ones; of five found, three are sure, one is possible, one is wrong."""
    sure, possible = [(0, 0), (1, 1), (2, 2), (3, 3)], [(2, 3), (3, 2)]
    counts = link_counts(sure, possible, [(0, 0), (1, 1), (2, 2), (2, 3), (4, 4)])
    assert counts == LinkCounts(predicted=5, sure=4, predicted_sure=3, predicted_possible=4)
    assert (counts.precision, counts.recall) == (4 / 5, 3 / 4)
    assert counts.aer == pytest.approx(1 - (3 + 4) / (5 + 4))


def test_a_corpus_is_the_sum_of_its_pairs_not_their_mean() -> None:
    pairs = [link_counts([(0, 0)], [], [(0, 0)]), link_counts([(0, 0), (1, 1), (2, 2)], [], [(0, 1)])]
    assert total(pairs).aer == pytest.approx(1 - 2 / 6)


def test_repeated_and_doubly_marked_links_count_once() -> None:
    assert link_counts([(0, 0), (0, 0)], [(0, 0)], [(0, 0), (0, 0)]) == LinkCounts(1, 1, 1, 1)


def test_without_links_there_is_no_score() -> None:
    nothing = link_counts([], [], [])
    assert all(math.isnan(value) for value in (nothing.precision, nothing.recall, nothing.aer))
    assert link_counts([(0, 0)], [], []).aer == 1


@given(LINKS, LINKS, LINKS)
def test_bounds_and_the_meaning_of_zero(sure: frozenset, possible: frozenset, found: frozenset) -> None:
    counts = link_counts(sure, possible, found)
    if sure or found:
        assert 0 <= counts.aer <= 1
        assert (counts.aer == 0) == (sure <= found <= sure | possible)


@given(LINKS, LINKS)
def test_with_sure_links_only_it_is_one_minus_f1(sure: frozenset, found: frozenset) -> None:
    counts = link_counts(sure, (), found)
    if counts.predicted_sure:
        f1 = 2 * counts.precision * counts.recall / (counts.precision + counts.recall)
        assert counts.aer == pytest.approx(1 - f1)
