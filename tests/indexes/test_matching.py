from __future__ import annotations

import numpy as np
import pytest
import textbook
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import isogloss as ig
from isogloss.core.errors import UnknownName, UsageError
from isogloss.indexes import matching


def data(n: int = 80, d: int = 8, noise: float = 1.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, X + noise * random.normal(size=(n, d))


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 70), st.integers(1, 9), st.floats(0, 3), st.integers(0, 99))
def test_equals_the_full_matrix(n: int, d: int, noise: float, seed: int) -> None:
    X, Y = data(n, d + 1, noise, seed)
    assert ig.matching_accuracy(X, Y) == pytest.approx(textbook.matching(X, Y), abs=1e-12)


def test_directions() -> None:
    X, Y = data()
    forward, backward = (ig.matching_accuracy(X, Y, direction=d) for d in ("forward", "backward"))
    assert forward != backward
    assert ig.matching_accuracy(X, Y) == pytest.approx((forward + backward) / 2)
    assert ig.matching_accuracy(Y, X, direction="forward") == backward
    with pytest.raises(UnknownName, match="did you mean 'forward'"):
        ig.matching_accuracy(X, Y, direction="forwards")


def test_ties_are_misses() -> None:
    X, Y = data(6, 4, noise=0.01)
    Y[3] = Y[2]
    X[3] = X[2]
    assert ig.matching_accuracy(X, Y) == pytest.approx(4 / 6)
    assert ig.matching_accuracy(np.ones((5, 3)), np.ones((5, 3))) == 0


def test_duplicates_tie_wherever_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same vector at the edge of a block and inside it may get another last bit from the product."""
    X, _ = data(1000, 50)
    X[777] = X[3]
    for rows in (1, 64, 1000):
        monkeypatch.setattr(matching, "BLOCK_ROWS", rows)
        assert ig.matching_accuracy(X, X) == pytest.approx(998 / 1000)


def test_directions_that_float32_cannot_tell_apart() -> None:
    """All cosines within 1e-9 of 1: the decision is made in float64."""
    X, Y = data(60, 20, noise=0.1)
    assert ig.matching_accuracy(X + 1e5, Y + 1e5) == pytest.approx(textbook.matching(X + 1e5, Y + 1e5), abs=1e-12)
    assert ig.matching_accuracy(X + 1e5, Y + 1e5) > 0.5


def test_centring_undoes_a_language_offset() -> None:
    X, Y = data(noise=0.2)
    offset = Y + 30 * np.random.default_rng(1).normal(size=8)
    assert ig.matching_accuracy(X, offset) < 0.3
    centred = ig.matching_accuracy(X - X.mean(0), Y - Y.mean(0))
    assert ig.matching_accuracy(X, offset, centre=True) == pytest.approx(centred)


def test_csls_equals_its_definition() -> None:
    X, Y = data(90, 5, noise=0.6)
    Y[:10] = Y[:10] * 0.1 + Y.mean(0) + 1  # hubs
    units = [Z / np.linalg.norm(Z, axis=1)[:, None] for Z in (X, Y)]
    cosine = units[0] @ units[1].T
    near_x, near_y = np.sort(cosine, 1)[:, -10:].mean(1), np.sort(cosine, 0)[-10:].mean(0)
    similarity = 2 * cosine - near_x[:, None] - near_y
    hits = [similarity.argmax(axis) == np.arange(90) for axis in (1, 0)]
    found = matching.matches(X, Y, csls=True)
    for one, other in zip(found, hits):
        np.testing.assert_array_equal(one.numpy(), other)
    assert ig.matching_accuracy(X, Y, csls=True) != ig.matching_accuracy(X, Y)


def test_influence_is_that_of_a_mean() -> None:
    X, Y = data()
    forward, backward = matching.matches(X, Y)
    hits = (forward.double() + backward.double()) / 2
    torch.testing.assert_close(matching.sample(X, Y).influence, (hits - hits.mean()) / 80)


@pytest.mark.parametrize("scale", [1e-25, 1.0, 1e25])
def test_float32_of_any_size(scale: float) -> None:
    """Squares of such numbers leave the range of float32."""
    X, Y = (Z.astype(np.float32) for Z in data())
    found = ig.matching_accuracy(X * np.float32(scale), Y)
    assert found == pytest.approx(textbook.matching(X.astype(float), Y.astype(float)))


def test_zero_vector_has_no_direction() -> None:
    X, Y = data()
    Y[7] = 0
    for dtype in (np.float32, np.float64):
        with pytest.raises(UsageError, match=r"Y: expected a direction .* got a zero vector in sentence 7"):
            ig.matching_accuracy(X.astype(dtype), Y.astype(dtype))
