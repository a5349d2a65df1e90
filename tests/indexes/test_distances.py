from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from isogloss.core.errors import UsageError
from isogloss.indexes.distances import derangement, distances, sample, top_dimension_share


def data(n: int = 300, d: int = 20, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d))
    return X, X + noise * random.normal(size=(n, d))


@pytest.mark.parametrize("metric", ["l2", "cosine"])
def test_separation_is_the_area_under_the_curve(metric) -> None:
    found = distances(*data(), metric=metric)
    labels = np.repeat([0, 1], [300, 600])
    assert found.separation == pytest.approx(roc_auc_score(labels, np.concatenate([found.related, found.unrelated])))
    assert found.related_counts.sum() == 300
    assert found.unrelated_counts.sum() == 600
    assert 0 < found.overlap < 1
    assert found.d_prime > 0


def test_separation_is_the_formula_of_the_documentation() -> None:
    """P(‖xᵢ − yᵢ‖ < ‖xⱼ − yₖ‖), j ≠ k, over all pairs; lengths differ, so that a comparison word by word gives more."""
    page = (Path(__file__).parents[2] / "docs" / "concepts.md").read_text(encoding="utf-8")
    assert "| `separation` | P(‖xᵢ − yᵢ‖ < ‖xⱼ − yₖ‖), j ≠ k; ties count ½ |" in page
    random = np.random.default_rng(1)
    X, Y = data(400, 20, noise=0.9)
    lengths = np.exp(random.normal(size=(400, 1)))
    X, Y = X * lengths, Y * lengths
    table = np.linalg.norm(X[:, None] - Y, axis=2)
    related, unrelated = table.diagonal(), table[~np.eye(400, dtype=bool)]
    documented = np.mean([(unrelated > r).mean() + (unrelated == r).mean() / 2 for r in related])
    word_by_word = np.mean([(np.delete(row, i) > row[i]).mean() for i, row in enumerate(table)])
    assert word_by_word - documented > 0.1
    assert np.mean([sample(X, Y, seed).value for seed in range(20)]) == pytest.approx(documented, abs=0.01)


def test_distances_are_those_of_the_pairs() -> None:
    X, Y = data(20)
    partner = derangement(20, 0)
    found = distances(X, Y)
    np.testing.assert_allclose(found.related, np.linalg.norm(X - Y, axis=1))
    np.testing.assert_allclose(found.unrelated[:20], np.linalg.norm(X - Y[partner], axis=1))
    np.testing.assert_allclose(found.unrelated[20:], np.linalg.norm(X[partner] - Y, axis=1))
    cosine = [1 - x @ y / np.linalg.norm(x) / np.linalg.norm(y) for x, y in zip(X, Y)]
    np.testing.assert_allclose(distances(X, Y, metric="cosine").related, cosine)


def test_nothing_in_common_and_everything() -> None:
    X, _ = data()
    far = distances(X, X + 1e-6)
    assert (far.overlap, far.separation) == (0, 1)
    unrelated = distances(X, np.random.default_rng(9).normal(size=X.shape))
    assert unrelated.separation == pytest.approx(0.5, abs=0.06)
    assert unrelated.overlap > 0.8
    assert abs(unrelated.d_prime) < 0.3
    collapsed = distances(np.ones((5, 2)), np.ones((5, 2)))
    assert (collapsed.separation, collapsed.d_prime, collapsed.overlap) == (0.5, 0, 1)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 50), st.integers(0, 1000))
def test_derangement_moves_every_row(n: int, seed: int) -> None:
    partner = derangement(n, seed)
    assert sorted(partner) == list(range(n))
    assert not (partner == np.arange(n)).any()


def test_top_dimensions() -> None:
    X, _ = data(50, 120)
    Y = X + np.r_[np.full(10, 3.0), np.ones(110)]
    assert top_dimension_share(X, Y) == pytest.approx({10: 90 / 200, 100: 180 / 200})
    assert top_dimension_share(X, X) == {10: 0, 100: 0}


def test_standard_error_covers_fresh_samples() -> None:
    from isogloss.indexes.bootstrap import standard_error

    random, values, errors = np.random.default_rng(3), [], []
    for _ in range(150):
        X = random.normal(size=(80, 5))
        one = sample(X, X + 1.2 * random.normal(size=(80, 5)))
        values.append(one.value)
        errors.append(standard_error(one.influence))
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.25)


def test_zero_vector_has_no_angle() -> None:
    X, Y = data()
    X[4] = 0
    with pytest.raises(UsageError, match="a zero vector in sentence 4"):
        distances(X, Y, metric="cosine")
