"""Is system B really better than system A? Paired tests over the same examples.

`paired_t_test` is for scores that are means over examples (accuracy, answer F1); `permutation_test` and
`paired_bootstrap` are for any score of summed counts (entity F1, LAS). The difference is always B − A and p is
two-sided. Draws are taken from raw generator words, whose sequence NumPy promises to keep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from isogloss.core.errors import UsageError
from isogloss.core.seeds import derive_seed
from isogloss.metrics.counts import Counts, total

C = TypeVar("C", bound=Counts)
Floats = NDArray[np.float64]
BLOCK = 1 << 22  # draws made at a time


@dataclass(frozen=True)
class Comparison:
    """B − A with its interval (where the test gives one), the probability of a difference as large by chance, n."""

    difference: float
    p: float
    n: int
    low: float = float("nan")
    high: float = float("nan")
    statistic: float = float("nan")


def paired_t_test(a: ArrayLike, b: ArrayLike, confidence: float = 0.95) -> Comparison:
    """Student's paired t-test on per-example scores, `(examples,)` or `(seeds, examples)`: seeds are averaged first.

    Scores that differ nowhere give p = 1.

    >>> paired_t_test([0, 0, 1, 1], [[1, 0, 1, 1], [1, 1, 1, 1]]).difference
    0.375
    """
    first, second = _over_seeds(a), _over_seeds(b)
    n = _same_examples(first, second)
    if n < 2:
        raise UsageError("a t-test needs at least 2 examples")
    differences = second - first
    mean = float(differences.mean())
    error = float(differences.std(ddof=1)) / n**0.5
    with np.errstate(divide="ignore"):
        statistic = float(np.divide(mean, error)) if mean else 0.0
    margin = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
    p = float(2 * stdtr(n - 1, -abs(statistic)))
    return Comparison(mean, p, n, mean - margin, mean + margin, statistic)


def permutation_test(
    a: Sequence[C], b: Sequence[C], score: Callable[[C], float], iterations: int = 1000, seed: int = 0
) -> Comparison:
    """How often does swapping A and B at random in half of the examples make a difference as large?

    `a` and `b` are counts per example; for several seeds, concatenate them. p counts the observed difference as
    one of the permutations, so it is at least 1 / (iterations + 1).

    >>> from isogloss.metrics.spans import F1Counts
    >>> a, b = [F1Counts(2, 2, 1)] * 20, [F1Counts(2, 2, 2)] * 20
    >>> permutation_test(a, b, lambda counts: counts.f1, iterations=999).p
    0.001
    """
    first, second, kind, observed = _prepare(a, b, score)
    swapped: list[float] = []
    for coins in _draws(seed, "permutation", iterations, len(a)):
        moved = (coins & 1).astype(np.float64) @ (second - first)
        swapped += _differences(first.sum(0) + moved, second.sum(0) - moved, kind, score)
    # equal up to rounding counts as equal, as the counts may be fractions
    as_large = np.abs(swapped) >= abs(observed) - 1e-12
    return Comparison(observed, float(1 + as_large.sum()) / (1 + iterations), len(a))


def paired_bootstrap(
    a: Sequence[C],
    b: Sequence[C],
    score: Callable[[C], float],
    iterations: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Comparison:
    """Percentile interval of the difference over examples drawn with replacement (the same for A and B).

    p is twice the share of draws on the other side of zero, the observed sample counted among them.

    >>> from isogloss.metrics.tagging import TagCounts
    >>> a, b = [TagCounts(0, 1)] * 10, [TagCounts(1, 1)] * 10
    >>> result = paired_bootstrap(a, b, lambda counts: counts.accuracy)
    >>> result.low, result.high
    (1.0, 1.0)
    """
    first, second, kind, observed = _prepare(a, b, score)
    drawn: list[float] = []
    for words in _draws(seed, "bootstrap", iterations, len(a)):
        chosen = (words % len(a)).astype(np.intp)
        times = np.stack([np.bincount(row, minlength=len(a)) for row in chosen]).astype(np.float64)
        drawn += _differences(times @ first, times @ second, kind, score)
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    against = min(np.less_equal(drawn, 0).sum(), np.greater_equal(drawn, 0).sum())
    p = min(1.0, 2 * float(1 + against) / (1 + iterations))
    return Comparison(observed, p, len(a), float(low), float(high))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for having made several tests (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    steps = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(value) for value in adjusted]


def _over_seeds(scores: ArrayLike) -> Floats:
    array = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    if array.ndim != 2 or not len(array) or not np.isfinite(array).all():
        raise UsageError("scores must be finite numbers of shape (examples,) or (seeds, examples)")
    mean: Floats = array.mean(axis=0)
    return mean


def _same_examples(a: Sized, b: Sized) -> int:
    if len(a) != len(b):
        raise UsageError(f"paired scores need the same examples, got {len(a)} and {len(b)}")
    return len(a)


def _prepare(a: Sequence[C], b: Sequence[C], score: Callable[[C], float]) -> tuple[Floats, Floats, type[C], float]:
    """The counts as matrices (examples, fields), their class, and the observed difference."""
    _same_examples(a, b)
    observed = _difference(total(a), total(b), score)
    first, second = (np.array([list(vars(each).values()) for each in side], dtype=np.float64) for side in (a, b))
    return first, second, type(a[0]), observed


def _differences(first: Floats, second: Floats, kind: type[C], score: Callable[[C], float]) -> list[float]:
    return [_difference(kind(*a), kind(*b), score) for a, b in zip(first.tolist(), second.tolist(), strict=True)]


def _difference(a: C, b: C, score: Callable[[C], float]) -> float:
    difference = score(b) - score(a)
    if not np.isfinite(difference):
        raise UsageError("some of the examples give no score (nothing to count in them): leave out the empty ones")
    return difference


def _draws(seed: int, name: str, iterations: int, n: int) -> Iterator[NDArray[np.uint64]]:
    """Random words, one row per iteration and one column per example, a block of rows at a time."""
    generator = np.random.PCG64(derive_seed(seed, name))
    step = max(1, BLOCK // n)
    for start in range(0, iterations, step):
        rows = min(step, iterations - start)
        yield generator.random_raw(rows * n).reshape(rows, n)
