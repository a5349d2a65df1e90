"""Is system B better than system A for other seeds and other test examples? Crossed random effects.

Every seed of a system predicts every example, so that the scores form a table whose rows and columns are both
samples. A test over examples alone mistakes the variance of a few seeds for an effect; a test over seeds alone does not
generalise to other examples. Here the variance of the difference is the sum of both: over examples, of the differences
averaged over seeds (examples are paired), and over seeds, of the systems' mean scores (seeds are not paired: seed 0 of
one system is unrelated to seed 0 of another). Both parts contain the residual, so that the sum is on average slightly
too large, never too small: it is the min F′ of Clark (1973), with Satterthwaite's degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from isogloss.core.errors import UsageError
from isogloss.metrics.counts import C
from isogloss.metrics.significance import Comparison, Floats

ROUNDING_ERROR = 1e-12  # smaller standard errors and differences count as 0


def crossed_test(a: ArrayLike, b: ArrayLike, confidence: float = 0.95) -> Comparison:
    """B − A of scores `(seeds, examples)`, with an interval and a p that generalise to other seeds and examples.

    With one seed on either side, the test is over examples only.

    >>> result = crossed_test([[0, 0, 1, 1], [0, 1, 1, 1]], [[1, 0, 1, 1], [1, 1, 1, 1]])
    >>> result.difference, result.low < 0 < result.high
    (0.25, True)
    """
    first, second = _table(a), _table(b)
    n = first.shape[1]
    if n != second.shape[1]:
        raise UsageError(f"paired scores need the same examples, got {n} and {second.shape[1]}")
    if n < 2:
        raise UsageError(f"a test over examples needs at least 2 examples, got {n}")
    differences = second.mean(axis=0) - first.mean(axis=0)
    mean, parts = float(differences.mean()), [(float(differences.var(ddof=1)) / n, n - 1)]
    if min(len(first), len(second)) > 1:
        parts += [(float(side.mean(axis=1).var(ddof=1)) / len(side), len(side) - 1) for side in (first, second)]
    return _comparison(mean, parts, n, confidence)


def influences(counts: Sequence[C], score: Callable[[C], float]) -> list[float]:
    """The jackknife influence of each example on a score of summed counts; their mean is the score of all examples.

    For a score that is a mean over examples, they are the scores of the examples.

    >>> from isogloss.metrics.tagging import TagCounts
    >>> [round(value, 9) for value in influences([TagCounts(1, 4), TagCounts(4, 4)], lambda counts: counts.accuracy)]
    [0.25, 1.0]
    """
    table = np.array([list(vars(each).values()) for each in counts], dtype=np.float64)
    kind, sums = type(counts[0]), table.sum(axis=0)
    without = np.array([score(kind(*row)) for row in (sums - table).tolist()])
    if not np.isfinite(without).all():
        raise UsageError("the score is undefined without one of the examples (nothing left to count): add examples")
    parts: list[float] = (score(kind(*sums.tolist())) + (len(table) - 1) * (without.mean() - without)).tolist()
    return parts


def _table(scores: ArrayLike) -> Floats:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or not len(table) or not np.isfinite(table).all():
        raise UsageError("scores must be finite numbers of shape (seeds, examples)")
    return table


def _comparison(mean: float, parts: Sequence[tuple[float, int]], n: int, confidence: float) -> Comparison:
    """The difference and its standard error; `parts` are variances with their degrees of freedom."""
    variance = sum(part for part, _ in parts)
    error = variance**0.5
    if error <= ROUNDING_ERROR:  # all seeds and examples differ by the same amount, or not at all
        return Comparison(mean, 0.0 if abs(mean) > ROUNDING_ERROR else 1.0, n, mean, mean)
    freedom = variance**2 / sum(part**2 / free for part, free in parts)
    margin = float(stdtrit(freedom, (1 + confidence) / 2)) * error
    p = float(2 * stdtr(freedom, -abs(mean / error)))
    return Comparison(mean, p, n, mean - margin, mean + margin, mean / error)
