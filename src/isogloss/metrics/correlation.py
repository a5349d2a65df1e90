"""Spearman's rank correlation with a confidence interval, for a few languages or for many words.

The interval comes from Fisher's z, whose standard error is √((1 + r²/2)/(n−3)) (Bonett & Wright 2000). `draws`
selects a percentile bootstrap over pairs instead, which assumes no distribution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtr

from isogloss.core.errors import UsageError
from isogloss.core.seeds import derive_seed

Floats = NDArray[np.float64]
MIN_PAIRS = 4  # the standard error of Fisher's z has n−3 in the denominator


@dataclass(frozen=True)
class Correlation:
    """A coefficient, its interval, the two-sided p of no correlation, and the number of pairs."""

    value: float
    low: float
    high: float
    p: float
    n: int


def spearman(x: ArrayLike, y: ArrayLike, *, confidence: float = 0.95, draws: int = 0, seed: int = 0) -> Correlation:
    """Correlation of ranks; ties get the mean of their ranks.

    >>> round(spearman([1, 2, 3, 4], [1, 4, 9, 16]).value, 3)
    1.0
    """
    a, b = _pairs(x, y)
    r = _coefficient(a, b)
    low, high = _bootstrap(a, b, confidence, draws, seed) if draws else _fisher(r, len(a), confidence)
    return Correlation(r, low, high, _p_value(r, len(a)), len(a))


def ranks(x: Floats) -> Floats:
    """Ranks from 1; ties get the mean of their ranks.

    >>> ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    result: Floats = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return result


def _pairs(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape or not np.isfinite([a, b]).all():
        raise UsageError(
            f"a correlation needs two series of finite numbers of equal length, got {a.shape} and {b.shape}"
        )
    if len(a) < MIN_PAIRS:
        raise UsageError(f"a correlation with an interval needs at least {MIN_PAIRS} pairs, got {len(a)}")
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        raise UsageError("a correlation with a constant series is undefined")
    return a, b


def _coefficient(x: Floats, y: Floats) -> float:
    x, y = ranks(x), ranks(y)
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1, 1))


def _p_value(r: float, n: int) -> float:
    """Two-sided p of the hypothesis of no correlation, by Student's t."""
    with np.errstate(divide="ignore"):
        statistic = abs(r) * np.sqrt(np.divide(n - 2, (1 - r) * (1 + r)))
    return float(2 * stdtr(n - 2, -statistic))


def _fisher(r: float, n: int, confidence: float) -> tuple[float, float]:
    margin = ndtri((1 + confidence) / 2) * np.sqrt((1 + r * r / 2) / (n - 3))
    with np.errstate(divide="ignore"):
        z = np.arctanh(r)
    return float(np.tanh(z - margin)), float(np.tanh(z + margin))


def _bootstrap(x: Floats, y: Floats, confidence: float, draws: int, seed: int) -> tuple[float, float]:
    """Quantiles over pairs sampled with replacement; samples with a constant series have no coefficient."""
    integers = np.random.PCG64(derive_seed(seed, "correlation")).random_raw(draws * len(x))
    values = []
    for sample in (integers % len(x)).reshape(draws, len(x)):
        if np.ptp(x[sample]) and np.ptp(y[sample]):
            values.append(_coefficient(x[sample], y[sample]))
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
