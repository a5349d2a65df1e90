from __future__ import annotations

import numpy as np
import pytest
import textbook
from hypothesis import given, settings
from hypothesis import strategies as st

import isogloss as ig
from isogloss.core.errors import UsageError


def data(n: int, dx: int, dy: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, dx)) * np.linspace(1, 4, dx)
    return X, X @ random.normal(size=(dx, dy)) + 2 * random.normal(size=(n, dy))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 8), st.integers(1, 8), st.integers(20, 60), st.integers(0, 99))
def test_any_two_widths_equal_the_textbook(dx: int, dy: int, n: int, seed: int) -> None:
    X, Y = data(n, dx, dy, seed)
    assert ig.cca(X, Y) == pytest.approx(textbook.cca(X, Y), abs=1e-8)
    assert ig.pwcca(X, Y) == pytest.approx(textbook.pwcca(X, Y), abs=1e-8)
    assert ig.svcca(X, Y, keep=0.9) == pytest.approx(textbook.svcca(X, Y, keep=0.9), abs=1e-8)


def test_rank_deficiency_adds_no_correlation() -> None:
    """Copies and sums of neurons change nothing; a wrong treatment gives correlations of 0 or 1 for them."""
    X, Y = data(100, 5, 5)
    wide = np.hstack([X, X[:, :2], X.sum(1, keepdims=True)])
    assert ig.cca(wide, Y) == pytest.approx(ig.cca(X, Y), abs=1e-9)
    assert ig.svcca(wide, Y, keep=1.0) == pytest.approx(ig.cca(X, Y), abs=1e-9)
    assert ig.cca(wide.astype(np.float32), Y) == pytest.approx(ig.cca(X, Y), abs=1e-5)


def test_unrelated_vectors_never_reach_a_wrong_one() -> None:
    random = np.random.default_rng(0)
    for n in (9, 16, 20, 21, 60):
        X, Y = random.normal(size=(2, n, 10))
        if n < 21:  # 10 + 10 directions among n − 1
            for index in (ig.cca, ig.pwcca):
                with pytest.raises(UsageError, match="some are 1 for any data, unless there are at least"):
                    index(X, Y)
        else:
            assert ig.cca(X, Y) < 0.9
        assert ig.svcca(X, Y, keep=3) < 0.9


def test_regularisation() -> None:
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(2, 30, 40))
    values = [ig.cca(X, Y, regularisation=r) for r in (1e-3, 0.1, 1, 100)]
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.05
    assert 0 < ig.pwcca(X, Y, regularisation=1.0) < 0.95
    # the definition, directly
    Xc, Yc = X - X.mean(0), Y - Y.mean(0)
    ridged = [Z.T @ Z + 0.1 * np.trace(Z.T @ Z) / 40 * np.eye(40) for Z in (Xc, Yc)]
    roots = [np.linalg.inv(np.linalg.cholesky(S)) for S in ridged]
    expected = np.linalg.svd(roots[0] @ Xc.T @ Yc @ roots[1].T, compute_uv=False).mean()
    assert values[1] == pytest.approx(expected, abs=1e-10)
    with pytest.raises(UsageError, match="0 or more"):
        ig.cca(X, Y, regularisation=-1)


@pytest.mark.parametrize("keep", [0, 0.0, 1.5, -3, True, "all"])
def test_senseless_keep(keep) -> None:
    with pytest.raises(UsageError, match="expected keep="):
        ig.svcca(*data(30, 3, 3), keep=keep)


def test_keep_counts_directions() -> None:
    X, Y = data(200, 6, 6)
    for keep in (1, 3, 6):
        assert ig.svcca(X, Y, keep=keep) == pytest.approx(textbook.svcca(X, Y, keep=keep), abs=1e-9)
    assert ig.svcca(X, Y, keep=50) == ig.svcca(X, Y, keep=1.0)


def test_small_directions_count_in_full() -> None:
    """A neuron a million times smaller still has its canonical correlation."""
    X, Y = data(200, 4, 4)
    assert ig.cca(X * [1, 1, 1, 1e-5], Y) == pytest.approx(ig.cca(X, Y), abs=1e-6)
