from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.core.errors import UsageError
from isogloss.indexes.moments import Accumulator, moments


def blocks(X: np.ndarray, cuts: list[int]) -> list[torch.Tensor]:
    return [torch.tensor(part) for part in np.split(X, sorted(cuts)) if len(part)]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 60), st.lists(st.integers(0, 60), max_size=5), st.sampled_from([0.0, 1e6, -1e8]), st.integers(0, 99)
)
def test_streamed_in_any_blocks_equals_batch(n: int, cuts: list[int], offset: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    X, Y = random.normal(size=(n, 4)) + offset, random.normal(size=(n, 3))
    accumulator = Accumulator([("x", "y")])
    for x, y in zip(blocks(X, cuts), blocks(Y, cuts)):
        accumulator.add({"x": x, "y": y})
    views = accumulator.views()
    np.testing.assert_allclose(views["x"].mean, X.mean(0), rtol=1e-12)
    # centring by a mean of size 1e8 costs the reference digits, so it gets centred inputs
    X = X - X[0]
    np.testing.assert_allclose(views["x"].scatter, np.cov(X.T) * (n - 1), atol=1e-10)
    np.testing.assert_allclose(views["y"].scatter, np.cov(Y.T) * (n - 1), atol=1e-10)
    np.testing.assert_allclose(accumulator.cross["x", "y"], (X - X.mean(0)).T @ (Y - Y.mean(0)), atol=1e-10)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=12, max_size=12).filter(lambda w: sum(w) > 1 and w[0]))
def test_whole_weights_repeat_sentences(weights: list[int]) -> None:
    X, Y = np.random.default_rng(0).normal(size=(2, 12, 3))
    weighted = moments(X, Y, torch.tensor(weights, dtype=torch.float64), block=5)
    repeated = moments(np.repeat(X, weights, 0), np.repeat(Y, weights, 0))
    assert weighted.n == repeated.n
    for one, other in ((weighted.xx, repeated.xx), (weighted.yy, repeated.yy), (weighted.xy, repeated.xy)):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_constant_neuron_has_exactly_no_scatter() -> None:
    X = np.random.default_rng(0).normal(size=(1000, 3))
    X[:, 1] = 0.1
    for block in (7, 1000):
        scatter = moments(X, X, block=block).xx
        assert not scatter[1].any()


def test_rank_counts_directions_above_rounding() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(100, 3)) @ random.normal(size=(3, 8)) + 1e3
    assert moments(X, X).x.rank == 3
    X[:, 0] += 1e-3 * random.normal(size=100)
    assert moments(X, X).x.rank == 4


def test_one_pass_serves_many_pairs() -> None:
    views = {name: torch.tensor(V) for name, V in zip("abc", np.random.default_rng(0).normal(size=(3, 20, 4)))}
    accumulator = Accumulator([("a", "b"), ("a", "c"), ("b", "c"), ("a", "b")])
    accumulator.add(views)
    assert accumulator.names == ["a", "b", "c"]
    for one, other in accumulator.pairs:
        np.testing.assert_allclose(accumulator.cross[one, other], moments(views[one], views[other]).xy, atol=1e-12)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.ones((3, 2)), np.ones((4, 2)), "must be parallel, got 3 and 4"),
        (np.ones(3), np.ones(3), "got 1 dimensions"),
        (np.ones((0, 2)), np.ones((0, 2)), "at least one sample"),
        (np.ones((3, 2), dtype=complex), np.ones((3, 2)), "expected real numbers, got values of type complex128"),
        (np.array([["a"], ["b"]]), np.ones((2, 1)), "expected real numbers"),
        (torch.ones(3, 2, dtype=torch.complex64), np.ones((3, 2)), "expected real numbers"),
        (np.full((3, 2), 1e308), np.ones((3, 2)), "overflow when summed"),
    ],
)
def test_what_is_no_pair_of_sets(x, y, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        moments(x, y)
