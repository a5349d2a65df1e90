from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import isogloss as ig
from isogloss.core.errors import UsageError
from isogloss.indexes.battery import compare


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 40), st.integers(1, 6), st.sampled_from([1e-150, 1e-3, 1.0, 1e100]), st.integers(0, 99))
def test_per_neuron_correlations_at_any_scale(n: int, d: int, scale: float, seed: int) -> None:
    X, Y = np.random.default_rng(seed).normal(size=(2, n, d))
    expected = [np.corrcoef(x, y)[0, 1] for x, y in zip(X.T, Y.T)]
    np.testing.assert_allclose(ig.neuron_correlations(X * scale, Y), expected, atol=1e-8)


def test_constant_neurons_are_told_and_left_out() -> None:
    X, Y = np.random.default_rng(0).normal(size=(2, 50, 4))
    X[:, 1] = 5.5
    Y[:, 1] = 5.5  # the same constant is no correlation of 1
    found = ig.neuron_correlations(X, Y)
    assert np.isnan(found).tolist() == [False, True, False, False]
    assert ig.anc(X, Y) == pytest.approx(np.nanmean(np.abs(found)))
    row = compare({"a": X, "b": Y}, [("a", "b")], ["anc"])[0]
    assert row.note == "1 of 4 neurons are constant and excluded"
    assert np.isfinite(row.error)


def test_widths_must_agree() -> None:
    with pytest.raises(UsageError, match="expected X and Y of equal width, got"):
        ig.anc(np.eye(4)[:, :2], np.eye(4)[:, :3])
