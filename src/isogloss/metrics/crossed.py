"""Is system B better than system A, whatever the seeds and whatever the test examples?

Every seed of a system answers every example, so that scores form a table, and both its rows and its columns are
samples. A test over examples takes the luck of a few seeds for an effect; one over seeds says nothing of other
examples. Here the variance of the difference is the sum of both: over examples, of the differences averaged over
seeds (examples are paired), and over seeds, of the systems' mean scores (seeds are not: seed 0 of one system has
nothing in common with seed 0 of another). The residual is part of either, so that the sum is on
average a little too large, never too small: it is the min F′ of Clark (1973), with Satterthwaite's degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from isogloss.core.errors import UsageError
from isogloss.metrics.counts import C
from isogloss.metrics.significance import Comparison, Floats

ROUNDING = 1e-12  # standard errors below are those of scores that do not differ


def crossed_test(a: ArrayLike, b: ArrayLike, confidence: float = 0.95) -> Comparison:
    """B − A of scores `(seeds, examples)`: its interval and p hold for other seeds and other examples at once.

    With one seed on either side nothing is known of others, and the test is that over examples alone.

    >>> found = crossed_test([[0, 0, 1, 1], [0, 1, 1, 1]], [[1, 0, 1, 1], [1, 1, 1, 1]])
    >>> found.difference, found.low < 0 < found.high
    (0.25, True)
    """
    first, second = _table(a), _table(b)
    n = first.shape[1]
    if n != second.shape[1]:
        raise UsageError(f"paired scores need the same examples, got {n} and {second.shape[1]}")
    if n < 2:
        raise UsageError(f"a test over examples needs at least 2 of them, got {n}")
    differences = second.mean(axis=0) - first.mean(axis=0)
    mean, parts = float(differences.mean()), [(float(differences.var(ddof=1)) / n, n - 1)]
    if min(len(first), len(second)) > 1:
        parts += [(float(side.mean(axis=1).var(ddof=1)) / len(side), len(side) - 1) for side in (first, second)]
    return _compared(mean, parts, n, confidence)


def influences(counts: Sequence[C], score: Callable[[C], float]) -> list[float]:
    """Each example's part in a score of summed counts, by the jackknife; their mean is the score of all.

    Of a score that is a mean over examples, such as accuracy where all are equally long, they are the examples' own.

    >>> from isogloss.metrics.tagging import TagCounts
    >>> [round(one, 9) for one in influences([TagCounts(1, 4), TagCounts(4, 4)], lambda counts: counts.accuracy)]
    [0.25, 1.0]
    """
    table = np.array([list(vars(each).values()) for each in counts], dtype=np.float64)
    kind, whole = type(counts[0]), table.sum(axis=0)
    without = np.array([score(kind(*row)) for row in (whole - table).tolist()])
    if not np.isfinite(without).all():
        raise UsageError("without one of the examples there is no score (nothing is left to count): more are needed")
    parts: list[float] = (score(kind(*whole.tolist())) + (len(table) - 1) * (without.mean() - without)).tolist()
    return parts


def _table(scores: ArrayLike) -> Floats:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or not len(table) or not np.isfinite(table).all():
        raise UsageError("scores must be finite numbers of shape (seeds, examples)")
    return table


def _compared(mean: float, parts: Sequence[tuple[float, int]], n: int, confidence: float) -> Comparison:
    """The difference against its standard error; `parts` are variances with their degrees of freedom."""
    variance = sum(part for part, _ in parts)
    error = variance**0.5
    if error <= ROUNDING:  # all seeds and examples differ by the same amount, or by none
        return Comparison(mean, 0.0 if abs(mean) > ROUNDING else 1.0, n, mean, mean)
    freedom = variance**2 / sum(part**2 / free for part, free in parts)
    margin = float(stdtrit(freedom, (1 + confidence) / 2)) * error
    p = float(2 * stdtr(freedom, -abs(mean / error)))
    return Comparison(mean, p, n, mean - margin, mean + margin, mean / error)
