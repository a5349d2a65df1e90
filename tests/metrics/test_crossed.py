"""The test over seeds and examples at once: against SciPy, by its own limits, and by simulation under the null."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from isogloss.core.errors import UsageError
from isogloss.metrics.crossed import crossed_test, influences
from isogloss.metrics.significance import paired_t_test
from isogloss.metrics.spans import F1Counts
from isogloss.metrics.tagging import TagCounts


def tables(random: np.random.Generator, seeds: int, examples: int, shift: float = 0.0, **spread: float):  # type: ignore[no-untyped-def]
    """Scores of two systems: what an example is for both, what it is for each, luck of each seed, and the rest."""
    both = random.normal(0, 1, examples)
    return [
        both
        + shift * system
        + random.normal(0, spread["example"], examples)
        + random.normal(0, spread["seed"], (seeds, 1))
        + random.normal(0, spread["rest"], (seeds, examples))
        for system in (0, 1)
    ]


@given(st.integers(0, 2**32), st.integers(2, 6), st.integers(2, 6), st.integers(2, 40))
@settings(max_examples=60, deadline=None)
def test_is_min_f_of_the_two_tests_of_scipy(seed: int, seeds_a: int, seeds_b: int, examples: int) -> None:
    random = np.random.default_rng(seed)
    a, b = random.normal(0, 1, (seeds_a, examples)), random.normal(0.3, 2, (seeds_b, examples))
    over_seeds = stats.ttest_ind(b.mean(1), a.mean(1), equal_var=False)
    over_examples = stats.ttest_rel(b.mean(0), a.mean(0))
    f1, f2 = over_seeds.statistic**2, over_examples.statistic**2
    min_f = f1 * f2 / (f1 + f2)
    freedom = (f1 + f2) ** 2 / (f1**2 / over_examples.df + f2**2 / over_seeds.df)
    found = crossed_test(a, b)
    assert found.difference == pytest.approx(b.mean() - a.mean())
    assert found.statistic**2 == pytest.approx(min_f)
    assert found.p == pytest.approx(stats.f.sf(min_f, 1, freedom), rel=1e-6)
    low, high = stats.t.interval(0.95, freedom, found.difference, abs(found.difference / min_f**0.5))
    assert (found.low, found.high) == pytest.approx((low, high))


def test_one_seed_is_the_test_over_examples() -> None:
    random = np.random.default_rng(0)
    a, b = random.normal(0, 1, (1, 30)), random.normal(0.5, 1, (1, 30))
    found, known = crossed_test(a, b), paired_t_test(a, b)
    assert (found.p, found.low, found.high) == pytest.approx((known.p, known.low, known.high))
    assert crossed_test(a, np.repeat(b, 3, axis=0)).p == pytest.approx(known.p)


WORLDS = [
    {"example": 1.0, "seed": 0.0, "rest": 1.0},  # seeds do not matter
    {"example": 1.0, "seed": 0.2, "rest": 1.0},  # as in fine-tuning: a few points
    {"example": 0.1, "seed": 1.0, "rest": 0.5},  # seeds are all that matters
    {"example": 0.0, "seed": 0.0, "rest": 1.0},
]


@pytest.mark.parametrize("spread", WORLDS)
@pytest.mark.parametrize("seeds", [3, 5])
def test_false_alarms_are_no_more_than_promised(spread: dict[str, float], seeds: int) -> None:
    random, rounds = np.random.default_rng(1), 1500
    p = np.array([crossed_test(*tables(random, seeds, 80, **spread)).p for _ in range(rounds)])
    for level in (0.05, 0.01):
        assert (p < level).mean() < level + 3 * (level * (1 - level) / rounds) ** 0.5


def test_neither_test_alone_keeps_the_promise() -> None:
    random, spread, rounds = np.random.default_rng(2), {"example": 1.0, "seed": 0.2, "rest": 0.3}, 400
    worlds = [tables(random, 3, 80, **spread) for _ in range(rounds)]
    examples = np.mean([paired_t_test(a, b).p < 0.05 for a, b in worlds])
    seeds = np.mean([stats.ttest_ind(a.mean(1), b.mean(1)).pvalue < 0.05 for a, b in worlds])
    both = np.mean([crossed_test(a, b).p < 0.05 for a, b in worlds])
    assert both < 0.08 < min(examples, seeds)


def test_intervals_hold_the_truth_and_real_differences_are_found() -> None:
    random, spread, rounds = np.random.default_rng(3), {"example": 1.0, "seed": 0.1, "rest": 0.5}, 400
    found = [crossed_test(*tables(random, 5, 200, 0.5, **spread)) for _ in range(rounds)]
    assert 0.93 < np.mean([one.low < 0.5 < one.high for one in found]) <= 1
    assert np.mean([one.p < 0.05 for one in found]) > 0.9


def test_scores_that_do_not_vary() -> None:
    same = np.full((3, 4), 0.5)
    assert crossed_test(same, same).p == 1
    assert crossed_test(same, same).low == crossed_test(same, same).high == 0
    assert crossed_test(same, same + 0.25).p == 0


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ([[1, 2, 3]], [[1, 2]], "the same examples, got 3 and 2"),
        ([[1]], [[2]], "at least 2 examples, got 1"),
        ([1, 2], [1, 2], "shape"),
        ([[1, np.nan]], [[1, 2]], "finite"),
        (np.zeros((0, 3)), [[1, 2, 3]], "shape"),
    ],
)
def test_what_cannot_be_compared(a, b, words) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError, match=words):
        crossed_test(a, b)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=30))
@settings(max_examples=60, deadline=None)
def test_influences_of_accuracy(pairs: list[tuple[int, int]]) -> None:
    counts = [TagCounts(min(pair), max(1, *pair)) for pair in pairs]
    right, words = (np.array([getattr(one, name) for one in counts]) for name in ("correct", "total"))
    found, score = influences(counts, lambda one: one.accuracy), right.sum() / words.sum()
    assert np.mean(found) == pytest.approx(score)
    others = [np.delete(right, i).sum() / np.delete(words, i).sum() for i in range(len(counts))]
    jackknife = (len(counts) - 1) / len(counts) * ((others - np.mean(others)) ** 2).sum()
    assert np.var(found, ddof=1) / len(found) == pytest.approx(jackknife, abs=1e-12)


def test_influences_of_f1_tell_its_spread() -> None:
    """The standard error that they give is that of many samples."""
    random = np.random.default_rng(4)

    def sample() -> list[F1Counts]:
        gold = random.integers(0, 4, 150)
        correct = random.binomial(gold, 0.6)
        return [F1Counts(int(g), int(c + e), int(c)) for g, c, e in zip(gold, correct, random.integers(0, 2, 150))]

    samples = [sample() for _ in range(200)]
    spread = np.std([F1Counts(*np.sum([list(vars(one).values()) for one in each], axis=0)).f1 for each in samples])
    told = np.mean([np.std(influences(each, lambda one: one.f1), ddof=1) / 150**0.5 for each in samples])
    assert told == pytest.approx(spread, rel=0.15)


def test_influences_need_something_left_to_count() -> None:
    with pytest.raises(UsageError, match="nothing left to count"):
        influences([TagCounts(1, 2), TagCounts(0, 0)], lambda one: one.accuracy)
