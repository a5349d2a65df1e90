from __future__ import annotations

from itertools import product
from operator import attrgetter

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from isogloss.core.errors import UsageError
from isogloss.metrics.counts import total
from isogloss.metrics.significance import holm, paired_bootstrap, paired_t_test, permutation_test
from isogloss.metrics.spans import F1Counts
from isogloss.metrics.tagging import TagCounts

f1 = attrgetter("f1")
accuracy = attrgetter("accuracy")


def systems(n: int, seed: int = 0, gain: float = 0.0) -> tuple[list[F1Counts], list[F1Counts]]:
    """Counts of two systems on n sentences; the second finds `gain` more of the entities."""
    generator = np.random.default_rng(seed)
    gold = generator.integers(1, 5, size=n)
    found = [generator.binomial(gold, 0.6 + extra) for extra in (0.0, gain)]
    a, b = ([F1Counts(int(g), int(g), int(c)) for g, c in zip(gold, side, strict=True)] for side in found)
    return a, b


scores = st.floats(0, 1).map(lambda x: round(x, 3))
paired = st.integers(2, 40).flatmap(lambda n: arrays.arrays(np.float64, (2, n), elements=scores))


@given(paired)
def test_t_test_against_scipy(ab: np.ndarray) -> None:
    a, b = ab
    ours = paired_t_test(a, b)
    spread = np.ptp(b - a)
    if spread < 1e-9:
        assert ours.difference == pytest.approx(np.mean(b - a))
        return
    reference = scipy.stats.ttest_rel(b, a)
    low, high = reference.confidence_interval(0.95)
    assert (ours.statistic, ours.p) == pytest.approx((reference.statistic, reference.pvalue), rel=1e-9, abs=1e-12)
    assert (ours.low, ours.high, ours.n) == pytest.approx((low, high, len(a)), abs=1e-9)


def test_t_test_averages_seeds_first() -> None:
    generator = np.random.default_rng(0)
    a, b = generator.random((5, 50)), generator.random((3, 50))
    assert paired_t_test(a, b) == paired_t_test(a.mean(axis=0), b.mean(axis=0))


def test_t_test_by_hand() -> None:
    """Differences 1, 2, 3, 4: mean 2.5, s = √(5/3), t = 2.5 / (s/2) = 3.872983, margin 3.182446·s/2 = 2.054260."""
    result = paired_t_test([0, 0, 0, 0], [1, 2, 3, 4])
    assert result.statistic == pytest.approx(3.872983, abs=1e-6)
    assert (result.low, result.high) == pytest.approx((0.445740, 4.554260), abs=1e-6)


def test_t_test_without_any_spread() -> None:
    same = paired_t_test([0.25, 0.5], [0.25, 0.5])
    assert (same.difference, same.p) == (0.0, 1.0)
    assert paired_t_test([0, 0], [1, 1]).p == 0.0


def test_permutations_against_all_of_them() -> None:
    """With 10 examples all 1024 swaps can be tried; many random ones come close to their share."""
    a, b = systems(10, seed=3, gain=0.3)
    observed = abs(f1(total(b)) - f1(total(a)))
    as_large = 0
    for swaps in product([False, True], repeat=10):
        x = total([q if swap else p for p, q, swap in zip(a, b, swaps, strict=True)])
        y = total([p if swap else q for p, q, swap in zip(a, b, swaps, strict=True)])
        as_large += abs(f1(y) - f1(x)) >= observed - 1e-12
    exact = as_large / 1024
    assert 0.01 < exact < 0.9
    assert permutation_test(a, b, f1, iterations=20_000).p == pytest.approx(exact, abs=0.012)


def test_permutations_against_scipy_where_the_score_is_a_mean() -> None:
    generator = np.random.default_rng(1)
    right = generator.random((2, 60)) < [[0.5], [0.7]]
    a, b = ([TagCounts(int(x), 1) for x in side] for side in right)
    reference = scipy.stats.permutation_test(
        (right[1] * 1.0, right[0] * 1.0),
        lambda y, x, axis: np.mean(y, axis=axis) - np.mean(x, axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        vectorized=True,
        rng=0,
    )
    ours = permutation_test(a, b, accuracy, iterations=20_000)
    assert ours.difference == pytest.approx(reference.statistic)
    assert ours.p == pytest.approx(reference.pvalue, abs=0.012)


def test_p_is_uniform_where_there_is_no_difference_and_small_where_there_is() -> None:
    values = [permutation_test(*systems(40, seed), f1, iterations=200).p for seed in range(200)]
    assert 0.01 <= np.mean(np.array(values) <= 0.05) <= 0.1
    assert 0.4 <= np.mean(values) <= 0.62
    assert permutation_test(*systems(300, gain=0.15), f1).p == pytest.approx(1 / 1001)
    assert permutation_test(*systems(300)[:1] * 2, f1).p == 1.0


def test_draws_do_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = systems(50, gain=0.05)
    whole = permutation_test(a, b, f1), paired_bootstrap(a, b, f1)
    monkeypatch.setattr("isogloss.metrics.significance.BLOCK_SIZE", 120)
    assert (permutation_test(a, b, f1), paired_bootstrap(a, b, f1)) == whole
    assert permutation_test(a, b, f1, seed=1) != whole[0]


def test_draws_stay_the_same_for_ever() -> None:
    """Recorded once: another p here means that published ones can no longer be reproduced."""
    a = [F1Counts(2, 2, 1), F1Counts(3, 2, 1), F1Counts(1, 2, 1), F1Counts(4, 4, 3)] * 5
    b = [F1Counts(2, 2, 2), F1Counts(3, 2, 2), F1Counts(1, 2, 0), F1Counts(4, 5, 3)] * 5
    assert permutation_test(a, b, f1).p == pytest.approx(363 / 1001)
    assert paired_bootstrap(a, b, f1).p == pytest.approx(326 / 1001)


def test_bootstrap_against_scipy() -> None:
    a, b = systems(200, gain=0.1)
    ours = paired_bootstrap(a, b, f1, iterations=4000)
    gold = np.array([c.gold for c in a])
    found_a, found_b = (np.array([c.correct for c in side]) for side in (a, b))

    def difference(gold: np.ndarray, x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        return (y.sum(axis) - x.sum(axis)) / gold.sum(axis)

    reference = scipy.stats.bootstrap(
        (gold, found_a, found_b), difference, paired=True, method="percentile", n_resamples=4000, rng=0
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((reference.low, reference.high), abs=0.008)
    assert ours.difference == pytest.approx(difference(gold, found_a, found_b, 0))
    assert ours.p < 0.05


def test_bootstrap_intervals_cover_no_difference_about_as_often_as_they_say() -> None:
    results = [paired_bootstrap(*systems(60, seed), f1, iterations=200) for seed in range(150)]
    assert 0.88 <= np.mean([result.low <= 0 <= result.high for result in results]) <= 0.99
    assert all(result.low <= result.high for result in results)
    same = paired_bootstrap(*systems(30)[:1] * 2, f1)
    assert (same.low, same.high, same.p) == (0.0, 0.0, 1.0)


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_against_its_definition(p_values: list[float]) -> None:
    """The adjusted p is the largest (m - rank)·p among those no larger than it, at most 1."""
    adjusted = holm(p_values)
    ordered = sorted(p_values)
    m = len(ordered)
    for p, value in zip(p_values, adjusted, strict=True):
        last = max(i for i, other in enumerate(ordered) if other <= p)
        expected = min(1.0, max((m - i) * ordered[i] for i in range(last + 1)))
        assert value == pytest.approx(expected)


@settings(max_examples=20)
@given(st.lists(st.sampled_from([0.001, 0.02, 0.3]), min_size=1, max_size=5))
def test_holm_lies_between_no_correction_and_bonferronis(p_values: list[float]) -> None:
    for p, value in zip(p_values, holm(p_values), strict=True):
        assert p <= value <= min(1.0, len(p_values) * p) + 1e-12


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(UsageError, match="same examples, got 2 and 3"):
        paired_t_test([1, 2], [1, 2, 3])
    with pytest.raises(UsageError, match="at least 2"):
        paired_t_test([1], [2])
    with pytest.raises(UsageError, match="finite"):
        paired_t_test([1, np.nan], [1, 2])
    for test in (permutation_test, paired_bootstrap):
        with pytest.raises(UsageError, match="same examples, got 1 and 2"):
            test([TagCounts(1, 1)], [TagCounts(1, 1)] * 2, accuracy)
        with pytest.raises(UsageError, match="empty"):
            test([], [], accuracy)
        with pytest.raises(UsageError, match="score of some examples is undefined"):
            test([TagCounts(0, 0)], [TagCounts(0, 0)], accuracy)
