"""The first-align-then-predict test: does a curve over layers rise to an inner maximum and fall afterwards?

What it says: `rises` if the peak stands above the first layer, `falls` if the last layer lies below the peak;
             a peak at the first layer cannot have risen, one at the last cannot have fallen.
Confidence:  from bootstrap replicates of the whole curve (all layers measured with the same seed). A flat noisy
             curve has an inner maximum nearly always, so the question is whether noise alone makes one as clear:
             confidence = 1 − p, p the share of replicates of the noise (replicate − curve) whose maximum stands
             as high above both ends as the measured peak does, less `margin`. The interval of the peak holds
             the layers where replicates have theirs. A curve without replicates gives the verdict alone.
Cost:        O(layers · replicates).
Reference:   Muller, Elazar, Sagot & Seddah (2021), First align, then predict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isogloss.core.errors import UsageError


@dataclass(frozen=True)
class Shape:
    """How a curve runs over the layers; `confidence` and the peak's interval are None without replicates."""

    rises: bool
    falls: bool
    peak: int
    confidence: float | None = None
    peak_low: int | None = None
    peak_high: int | None = None

    @property
    def aligns_then_predicts(self) -> bool:
        return self.rises and self.falls


def first_align_then_predict(
    curve: Sequence[float] | np.ndarray,
    replicates: Sequence[Sequence[float]] | np.ndarray | None = None,
    margin: float = 0.0,
    confidence: float = 0.95,
) -> Shape:
    """The shape of `curve` (one value per layer), with `replicates` as (layers, replicates) for its certainty.

    >>> first_align_then_predict([0.2, 0.6, 0.7, 0.5])
    Shape(rises=True, falls=True, peak=2, confidence=None, peak_low=None, peak_high=None)
    >>> first_align_then_predict([0.2, 0.4, 0.6]).falls
    False
    """
    values = np.asarray(curve, dtype=float)
    if values.ndim != 1 or len(values) < 3 or not np.isfinite(values).all():
        raise UsageError(f"expected a finite value for each of at least 3 layers, got {values.tolist()}")
    peak = int(values.argmax())
    rises, falls = (bool(values[peak] - values[end] > margin) for end in (0, -1))
    if replicates is None:
        return Shape(rises, falls, peak)
    drawn = np.asarray(replicates, dtype=float)
    if drawn.ndim != 2 or len(drawn) != len(values) or not drawn.size:
        raise UsageError(f"expected replicates of shape ({len(values)}, number), got {drawn.shape}")
    noise = drawn - values[:, None]
    by_chance = noise.max(axis=0) - np.maximum(noise[0], noise[-1])
    as_clear = int((by_chance >= values[peak] - max(values[0], values[-1]) - margin).sum())
    peaks = np.sort(drawn.argmax(axis=0))
    outside = (1 - confidence) / 2
    low, high = (int(np.quantile(peaks, q, method="nearest")) for q in (outside, 1 - outside))
    return Shape(rises, falls, peak, 1 - (1 + as_clear) / (1 + drawn.shape[1]), low, high)
