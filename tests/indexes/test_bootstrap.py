"""Intervals against the truth: recomputed replicates, and the spread over fresh samples."""

from __future__ import annotations

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
