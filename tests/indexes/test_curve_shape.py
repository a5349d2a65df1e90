from __future__ import annotations

import numpy as np
import pytest

import isogloss as ig
from isogloss.core.errors import UsageError


@pytest.mark.parametrize(
    ("curve", "rises", "falls", "peak"),
    [
        ([0.1, 0.5, 0.8, 0.6], True, True, 2),
        ([0.1, 0.2, 0.3], True, False, 2),
        ([0.3, 0.2, 0.1], False, True, 0),
        ([0.5, 0.5, 0.5], False, False, 0),
        ([0.1, 0.6, 0.2, 0.6, 0.1], True, True, 1),
    ],
)
def test_curves(curve: list[float], rises: bool, falls: bool, peak: int) -> None:
    shape = ig.first_align_then_predict(curve)
    assert (shape.rises, shape.falls, shape.peak, shape.confidence) == (rises, falls, peak, None)
    assert shape.aligns_then_predicts == (rises and falls)


def test_confidence_follows_the_noise() -> None:
    curve = np.array([0.3, 0.5, 0.7, 0.72, 0.6, 0.4])
    noise = np.random.default_rng(0).normal(size=(6, 2000))
    sure = ig.first_align_then_predict(curve, curve[:, None] + 0.005 * noise)
    unsure = ig.first_align_then_predict(curve, curve[:, None] + 0.5 * noise)
    assert sure.confidence == pytest.approx(1, abs=0.001)
    assert unsure.confidence < 0.75
    assert ig.first_align_then_predict(np.sort(curve), curve[:, None] + 0.005 * noise).confidence < 0.1
    assert (sure.peak, sure.peak_low, sure.peak_high) == (3, 3, 3)
    assert unsure.peak_low == 0
    assert unsure.peak_high == 5


def test_flat_noisy_curves_are_rarely_called_sure() -> None:
    random, sure = np.random.default_rng(1), 0
    for _ in range(200):
        curve = 0.5 + 0.02 * random.normal(size=13)
        shape = ig.first_align_then_predict(curve, curve[:, None] + 0.02 * random.normal(size=(13, 200)))
        sure += shape.confidence > 0.95
    assert sure < 20  # 5 % of 200 expected


def test_margin() -> None:
    assert not ig.first_align_then_predict([0.5, 0.52, 0.4], margin=0.05).rises


@pytest.mark.parametrize("curve", [[0.1, 0.2], [0.1, np.nan, 0.3], [[0.1, 0.2, 0.3]]])
def test_no_curve(curve) -> None:
    with pytest.raises(UsageError, match="at least 3 layers"):
        ig.first_align_then_predict(curve)
    with pytest.raises(UsageError, match="replicates of shape"):
        ig.first_align_then_predict([0.1, 0.2, 0.1], [[0.1, 0.2]])
