from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from isogloss.core.errors import UsageError
from isogloss.metrics.correlation import Correlation, ranks, spearman

values = st.one_of(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), st.integers(0, 3).map(float))
series = st.integers(4, 30).flatmap(lambda n: arrays.arrays(np.float64, (2, n), elements=values))
varied = series.filter(lambda xy: bool(np.ptp(xy, axis=1).all()))


def rises(n: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(n)
    x = generator.normal(size=n)
    return x, x + generator.normal(size=n)


@given(varied)
def test_spearman_against_scipy(xy: np.ndarray) -> None:
    ours, reference = spearman(*xy), scipy.stats.spearmanr(*xy)
    assert (ours.value, ours.p) == pytest.approx((reference.statistic, reference.pvalue), abs=1e-7)
    assert -1 <= ours.low <= ours.value + 1e-12
    assert ours.value - 1e-12 <= ours.high <= 1


@given(arrays.arrays(np.float64, st.integers(1, 30), elements=st.integers(0, 5).map(float)))
def test_ranks_against_scipy(x: np.ndarray) -> None:
    assert ranks(x).tolist() == scipy.stats.rankdata(x).tolist()


def test_spearman_interval_by_hand() -> None:
    """Σd² = 22, so r = 1 - 6·22/990 = .866667; z = 1.319529; se = √((1 + r²/2)/7) = .443292.

    z ± 1.959964·se = .450692 and 2.188365, whose hyperbolic tangents are .422468 and .975179.
    """
    result = spearman(range(10), [2, 1, 0, 3, 4, 5, 8, 7, 9, 6])
    assert (result.value, result.low, result.high) == pytest.approx((0.866667, 0.422468, 0.975179), abs=1e-6)


def test_the_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    generator = np.random.default_rng(0)
    truth, covered = 0.6, 0
    rank_truth = 6 / np.pi * np.arcsin(truth / 2)
    for _ in range(400):
        x, y = generator.multivariate_normal([0, 0], [[1, truth], [truth, 1]], size=30).T
        result = spearman(x, y)
        covered += result.low <= rank_truth <= result.high
    assert 0.92 <= covered / 400 <= 0.98


def test_bootstrap_intervals() -> None:
    x, y = rises(200)
    plain, drawn = spearman(x, y), spearman(x, y, draws=2000)
    assert (drawn.value, drawn.p, drawn.n) == (plain.value, plain.p, 200)
    assert (drawn.low, drawn.high) == pytest.approx((plain.low, plain.high), abs=0.04)
    assert drawn == spearman(x, y, draws=2000) != spearman(x, y, draws=2000, seed=1)
    wide = spearman(x, y, confidence=0.99)
    assert wide.low < plain.low < plain.high < wide.high


def test_bootstrap_survives_draws_of_a_single_pair() -> None:
    result = spearman([1, 2, 3, 4], [1, 2, 3, 5], draws=500)
    assert result.value == result.low == result.high == 1.0


def test_perfect_correlation() -> None:
    assert spearman([1, 2, 3, 4], [-2, -4, -6, -8]) == Correlation(-1.0, -1.0, -1.0, 0.0, 4)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 2, 3], [1, 2, 3], "at least 4 pairs, got 3"),
        ([1, 2, 3, 4], [1, 2, 3], r"equal length, got \(4,\) and \(3,\)"),
        ([1, 2, 3, np.nan], [1, 2, 3, 4], "finite"),
        ([1, 1, 1, 1], [1, 2, 3, 4], "constant"),
    ],
)
def test_what_has_no_correlation_is_refused(x: list[float], y: list[float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        spearman(x, y)
