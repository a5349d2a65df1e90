"""Intervals against the truth: recomputed replicates, and the spread over fresh samples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats
import torch

from isogloss.indexes import INDEXES, svcca
from isogloss.indexes.battery import compare
from isogloss.indexes.bootstrap import (
    effective_sentences,
    influence,
    interval,
    proportion_interval,
    replicates,
    standard_error,
)
from isogloss.indexes.index import Index
from isogloss.indexes.moments import moments


class World:
    """A population of sentence pairs: heavy-tailed meanings seen through two fixed maps, with noise and an offset."""

    def __init__(self, d: int):
        random = np.random.default_rng(0)
        self.scale = np.exp(-3 * np.arange(d) / d)
        self.maps = random.normal(size=(2, d, d)) / np.sqrt(d)
        self.offset = random.normal(size=d)

    def sample(self, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        random, d = np.random.default_rng(seed), len(self.scale)
        meaning = random.standard_t(6, size=(n, d)) * self.scale
        X = meaning @ self.maps[0] + 0.3 * random.normal(size=(n, d)) + self.offset
        Y = meaning @ (0.6 * self.maps[0] + self.maps[1]) + 0.5 * random.normal(size=(n, d)) + self.offset
        return X, Y


@pytest.mark.parametrize(
    ("name", "tolerance"),
    [("cka", 0.15), ("anc", 0.15), ("signed_anc", 0.15), ("procrustes", 0.15), ("cca", 0.3), ("pwcca", 0.3)],
)
def test_standard_error_is_that_of_recomputed_replicates(name: str, tolerance: float) -> None:
    """The Bayesian bootstrap in full: new weights, new moments, new index, 300 times."""
    X, Y = World(6).sample(300, seed=1)
    m, index = moments(X, Y), INDEXES[name]
    error = standard_error(influence(X, Y, m, index.gradient(m)))
    weights = np.random.default_rng(2).exponential(size=(300, 300))
    weights /= weights.mean(axis=1, keepdims=True)
    recomputed = np.std([index.of_moments(moments(X, Y, torch.tensor(w))) for w in weights])
    assert error == pytest.approx(recomputed, rel=tolerance)


def test_replicates_equal_recomputed_ones_to_first_order() -> None:
    X, Y = World(6).sample(2000, seed=1)
    m, index = moments(X, Y), INDEXES["cka"]
    drawn = replicates([index.of_moments(m)], influence(X, Y, m, index.gradient(m))[None], 20, seed=3)[0]
    from isogloss.core.seeds import derive_seed

    generator = np.random.default_rng(derive_seed(3, "bootstrap"))
    recomputed = []
    for _ in range(20):
        weights = generator.standard_exponential(2000)
        recomputed.append(index.of_moments(moments(X, Y, torch.tensor(weights / weights.mean()))))
    assert np.abs(drawn - recomputed).max() < 0.2 * np.std(recomputed)


def test_interval_stays_within_bounds() -> None:
    assert interval(0.99, 0.2, 50, (0, 1), 0.95)[1] == 1
    assert interval(-0.99, 0.2, 50, (-1, 1), 0.95)[0] == -1


def test_few_sentences_that_decide_widen_the_interval() -> None:
    """Student's quantile with as many degrees of freedom as sentences determine the standard error."""
    random = np.random.default_rng(0)
    for influences in (random.normal(size=400), random.standard_t(3, size=400) ** 2, np.eye(1, 400)[0] + 1e-3):
        fourth, second = np.sum(influences**4), np.sum(influences**2)
        expected = min(399, second**2 / fourth)
        found = effective_sentences(torch.tensor(influences))
        assert found == pytest.approx(expected)
        low, high = interval(0.5, 0.01, found, (0, 1), 0.95)
        assert high - low == pytest.approx(2 * 0.01 * scipy.stats.t.ppf(0.975, expected))
    assert effective_sentences(torch.tensor(random.normal(size=4000))) == pytest.approx(4000 / 3, rel=0.15)
    assert effective_sentences(torch.zeros(10)) == 9


@pytest.mark.parametrize(("hits", "n"), [(0, 30), (30, 30), (7, 30), (930, 1000)])
def test_intervals_of_shares_are_those_of_wilson(hits: int, n: int) -> None:
    reference = scipy.stats.binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert proportion_interval(hits / n, n, 0.95) == pytest.approx((reference.low, reference.high))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d"), [(300, 12), (400, 60)])
def test_intervals_cover_what_fresh_samples_give(n: int, d: int) -> None:
    """95 % intervals hold the expected value at this n in about 95 % of samples; CCA-type ones in more."""
    world, samples = World(d), 200
    exact = ["cka", "debiased_cka", "rbf_cka", "anc", "signed_anc", "procrustes", "matching"]
    chosen = [INDEXES[name] for name in [*exact, "separation", "cca", "pwcca", "svcca"]]
    chosen.append(svcca.index(keep=d // 4))
    rows = [compare(dict(zip("xy", world.sample(n, s))), [("x", "y")], chosen, bootstrap=1) for s in range(samples)]
    for i, index in enumerate(chosen):
        values, errors = (np.array([getattr(row[i], part) for row in rows]) for part in ("value", "error"))
        covered = np.mean(np.abs(values - values.mean()) <= 1.96 * errors)
        ratio = errors.mean() / values.std(ddof=1)
        assert covered >= 0.9, f"{index.name}: {covered:.2f} covered, error {ratio:.2f} times the true one"
        assert 0.85 <= ratio <= (1.2 if index.name in exact else 1.6), f"{index.name}: {ratio:.2f} times the true one"


@pytest.mark.parametrize("keep", [4, 0.9])
def test_recomputed_replicates_of_svcca_choose_directions_again(keep: float | int) -> None:
    """Against whole weighted scatter matrices; most of the variance left out is outside the leading directions."""
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(2, 200, 40)) / (1 + np.arange(40))
    Y = X + Y
    weights = [random.exponential(size=200) for _ in range(5)]
    found = svcca.recompute(moments(X, Y), X, Y, [torch.tensor(w) for w in weights], keep)
    for value, w in zip(found, weights, strict=True):
        assert value == pytest.approx(svcca.value(moments(X, Y, torch.tensor(w)), keep), abs=0.003)
    assert np.ptp(found) > 0.02


def covered(index: str | Index, draw: Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]) -> float:
    """The share of 100 samples whose interval contains the expected value."""
    rows = [
        compare(dict(zip("xy", draw(np.random.default_rng(seed)))), [("x", "y")], [index], bootstrap=1)[0]
        for seed in range(100)
    ]
    expected = np.mean([row.value for row in rows])
    return float(np.mean([row.low <= expected <= row.high for row in rows]))


@pytest.mark.slow
def test_intervals_of_svcca_cover_with_a_smooth_spectrum() -> None:
    def draw(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        scale = np.exp(-np.arange(64) / 128)
        meaning = random.normal(size=(1000, 64))
        return tuple((meaning + 0.2 * random.normal(size=(1000, 64))) * scale for _ in "xy")

    assert covered(svcca.index(keep=8), draw) >= 0.9  # .85 with the derivative alone


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cka", "anc", "procrustes", "debiased_cka"])
def test_intervals_cover_with_heavy_tails(name: str) -> None:
    source, difference = np.random.default_rng(0).normal(size=(2, 12, 12)) / 12**0.5

    def draw(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        meaning = random.standard_t(3, size=(300, 12)) * np.exp(-np.arange(12) / 4)
        x = meaning @ source + 0.3 * random.normal(size=(300, 12))
        return x, meaning @ (0.6 * source + difference) + 0.5 * random.normal(size=(300, 12))

    assert covered(name, draw) >= 0.9  # .87 to .92 with the normal quantile
