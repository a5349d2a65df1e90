"""The shape of curves over layers, against plain formulas and simulated noise."""

from __future__ import annotations

import numpy as np
import pytest

from isogloss.core.errors import UsageError
from isogloss.indexes.curve_shape import curve_shape


@pytest.mark.parametrize(
    ("curve", "peak", "rise", "fall"),
    [
        ([0.1, 0.5, 0.8, 0.6], 2, 0.7, 0.2),
        ([0.1, 0.2, 0.3], 2, 0.2, 0),
        ([0.3, 0.2, 0.1], 0, 0, 0.2),
        ([0.5, 0.5, 0.5], 0, 0, 0),
        ([0.1, 0.6, 0.2, 0.6, 0.1], 1, 0.5, 0.5),
    ],
)
def test_peak_rise_and_fall(curve: list[float], peak: int, rise: float, fall: float) -> None:
    shape = curve_shape(curve)
    assert (shape.peak, shape.p) == (peak, None)
    assert (shape.rise, shape.fall, shape.effect) == pytest.approx((rise, fall, min(rise, fall)))


def test_p_follows_the_noise() -> None:
    curve = np.array([0.3, 0.5, 0.7, 0.72, 0.6, 0.4])
    noise = np.random.default_rng(0).normal(size=(6, 2000))
    low_noise = curve_shape(curve, curve[:, None] + 0.005 * noise)
    high_noise = curve_shape(curve, curve[:, None] + 0.5 * noise)
    assert low_noise.p == 1 / 2001
    by_hand = [max(column) - max(column[0], column[-1]) >= 0.32 for column in 0.5 * noise.T]
    assert high_noise.p == pytest.approx((1 + sum(by_hand)) / 2001)
    assert high_noise.p > 0.25
    assert curve_shape(np.sort(curve), curve[:, None] + 0.005 * noise).p == 1  # the peak is at the end
    assert (low_noise.peak, low_noise.peak_low, low_noise.peak_high) == (3, 3, 3)
    assert (high_noise.peak_low, high_noise.peak_high) == (0, 5)


def test_flat_noisy_curves_are_rarely_significant() -> None:
    random, significant = np.random.default_rng(1), 0
    for _ in range(200):
        curve = 0.5 + 0.02 * random.normal(size=13)
        shape = curve_shape(curve, curve[:, None] + 0.02 * random.normal(size=(13, 200)))
        assert shape.p is not None
        significant += shape.p < 0.05
    assert significant < 20  # 5 % of 200 expected


@pytest.mark.parametrize("curve", [[0.1, 0.2], [0.1, np.nan, 0.3], [[0.1, 0.2, 0.3]]])
def test_no_curve(curve) -> None:
    with pytest.raises(UsageError, match="at least 3 layers"):
        curve_shape(curve)
    with pytest.raises(UsageError, match="replicates of shape"):
        curve_shape([0.1, 0.2, 0.1], [[0.1, 0.2]])
