"""The first-align-then-predict test: does a curve over layers rise to an inner maximum and fall afterwards?

Verdict:     `rises` if the peak stands above the first layer, `falls` if the last layer lies below the peak;
             a curve with its peak at the first layer does not rise, one with its peak at the last does not fall.
Confidence:  from bootstrap replicates of the whole curve (all layers measured with the same seed). A flat noisy
             curve nearly always has an inner maximum. Confidence = 1 − p, where p is the share of noise replicates
             (replicate − curve) whose maximum lies as far above both ends as the measured peak, minus `margin`.
             The interval of the peak covers the peak layers of the replicates. Without replicates there is a
             verdict and no confidence.
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
    """The shape of a curve over layers; `confidence` and the peak's interval are None without replicates."""

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
    """The shape of `curve` (one value per layer).

    `replicates`: bootstrap replicates of shape (layers, replicates), from which the confidence is computed.

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
    replicate_curves = np.asarray(replicates, dtype=float)
    if replicate_curves.ndim != 2 or len(replicate_curves) != len(values) or not replicate_curves.size:
        raise UsageError(f"expected replicates of shape ({len(values)}, number), got {replicate_curves.shape}")
    noise = replicate_curves - values[:, None]
    by_chance = noise.max(axis=0) - np.maximum(noise[0], noise[-1])
    as_high_by_chance = int((by_chance >= values[peak] - max(values[0], values[-1]) - margin).sum())
    peaks = np.sort(replicate_curves.argmax(axis=0))
    outside = (1 - confidence) / 2
    low, high = (int(np.quantile(peaks, q, method="nearest")) for q in (outside, 1 - outside))
    return Shape(rises, falls, peak, 1 - (1 + as_high_by_chance) / (1 + replicate_curves.shape[1]), low, high)
