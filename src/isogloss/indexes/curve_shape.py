"""The shape of a similarity curve over layers: where its peak is, and how far it rises to it and falls after it.

Effect:      the height of the peak above the higher end of the curve: the smaller of `rise` and `fall`. It is 0 if
             the peak is at the first or the last layer.
p:           from bootstrap replicates of the whole curve (all layers measured with the same seed). A flat noisy
             curve nearly always has an inner maximum, so p is the share of noise replicates (replicate − curve) whose
             maximum lies as far above both ends as the measured peak. The interval of the peak covers the peak
             layers of the replicates.
Cost:        O(layers · replicates).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isogloss.core.errors import UsageError

MIN_LAYERS = 3  # of a curve with an inner layer
Curve = Sequence[float] | np.ndarray  # one value per layer


@dataclass(frozen=True)
class Shape:
    """The shape of a curve; `p` (sentence noise) and the interval of the peak are None without replicates.

    `peak` and its interval are positions in the curve, counted from 0.
    """

    peak: int
    rise: float
    fall: float
    p: float | None = None
    peak_low: int | None = None
    peak_high: int | None = None

    @property
    def effect(self) -> float:
        return min(self.rise, self.fall)


def curve_shape(
    curve: Curve, replicates: Sequence[Sequence[float]] | np.ndarray | None = None, confidence: float = 0.95
) -> Shape:
    """The shape of `curve`; `replicates`: bootstrap replicates of shape (layers, replicates).

    >>> curve_shape([0.25, 0.5, 0.75, 0.5])
    Shape(peak=2, rise=0.5, fall=0.25, p=None, peak_low=None, peak_high=None)
    """
    values = np.asarray(curve, dtype=float)
    if values.ndim != 1 or len(values) < MIN_LAYERS or not np.isfinite(values).all():
        raise UsageError(f"expected a finite value for each of at least {MIN_LAYERS} layers, got {values.tolist()}")
    peak = int(values.argmax())
    rise, fall = (float(values[peak] - values[end]) for end in (0, -1))
    if replicates is None:
        return Shape(peak, rise, fall)
    replicate_curves = np.asarray(replicates, dtype=float)
    if replicate_curves.ndim != 2 or len(replicate_curves) != len(values) or not replicate_curves.size:
        raise UsageError(f"expected replicates of shape ({len(values)}, number), got {replicate_curves.shape}")
    noise = replicate_curves - values[:, None]
    by_chance = noise.max(axis=0) - np.maximum(noise[0], noise[-1])
    p = (1 + int((by_chance >= min(rise, fall)).sum())) / (1 + replicate_curves.shape[1])
    peaks = np.sort(replicate_curves.argmax(axis=0))
    outside = (1 - confidence) / 2
    low, high = (int(np.quantile(peaks, q, method="nearest")) for q in (outside, 1 - outside))
    return Shape(peak, rise, fall, p, low, high)
