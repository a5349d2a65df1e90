"""Is system B better than system A? Paired tests over the same examples.

`paired_t_test` is for scores that are means over examples (accuracy, answer F1); `permutation_test` and
`paired_bootstrap` are for any score of summed counts (entity F1, LAS). The difference is always B − A and p is
two-sided. Random numbers are raw integers of the generator, whose sequence NumPy guarantees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from isogloss.core.errors import UsageError
from isogloss.core.seeds import derive_seed
from isogloss.metrics.counts import C, total

Floats = NDArray[np.float64]
BLOCK_SIZE = 1 << 22  # random integers generated at a time


@dataclass(frozen=True)
class Comparison:
    """B − A with its p, the number of examples, and the interval and statistic if the test has them (NaN otherwise)."""

    difference: float
    p: float
    n: int
    low: float = float("nan")
    high: float = float("nan")
    statistic: float = float("nan")


def paired_t_test(a: ArrayLike, b: ArrayLike, confidence: float = 0.95) -> Comparison:
    """Student's paired t-test on per-example scores, `(examples,)` or `(seeds, examples)`: seeds are averaged first.

    Identical scores give p = 1.

    >>> paired_t_test([0, 0, 1, 1], [[1, 0, 1, 1], [1, 1, 1, 1]]).difference
    0.375
    """
    first, second = _over_seeds(a), _over_seeds(b)
    n = _same_examples(first, second)
    if n < 2:
        raise UsageError(f"a t-test needs at least 2 examples, got {n}")
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
    """How often is the difference as large after A and B are swapped at random in half of the examples?

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
        exchanged = (coins & 1).astype(np.float64) @ (second - first)
        swapped += _differences(first.sum(0) + exchanged, second.sum(0) - exchanged, kind, score)
    # counts may be fractions: equal up to rounding counts as equal
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
    """Percentile interval of the difference over examples sampled with replacement (the same for A and B).

    p is twice the share of samples on the other side of zero, including the observed sample.

    >>> from isogloss.metrics.tagging import TagCounts
    >>> a, b = [TagCounts(0, 1)] * 10, [TagCounts(1, 1)] * 10
    >>> result = paired_bootstrap(a, b, lambda counts: counts.accuracy)
    >>> result.low, result.high
    (1.0, 1.0)
    """
    first, second, kind, observed = _prepare(a, b, score)
    differences: list[float] = []
    for integers in _draws(seed, "bootstrap", iterations, len(a)):
        samples = (integers % len(a)).astype(np.intp)
        times = np.stack([np.bincount(sample, minlength=len(a)) for sample in samples]).astype(np.float64)
        differences += _differences(times @ first, times @ second, kind, score)
    low, high = np.quantile(differences, [(1 - confidence) / 2, (1 + confidence) / 2])
    opposite = min(np.less_equal(differences, 0).sum(), np.greater_equal(differences, 0).sum())
    p = min(1.0, 2 * float(1 + opposite) / (1 + iterations))
    return Comparison(observed, p, len(a), float(low), float(high))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for multiple tests (Holm 1979).

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
        raise UsageError("the score of some examples is undefined (nothing to count): remove empty examples")
    return difference


def _draws(seed: int, name: str, iterations: int, n: int) -> Iterator[NDArray[np.uint64]]:
    """Random integers, one row per iteration and one column per example, in blocks of rows."""
    generator = np.random.PCG64(derive_seed(seed, name))
    step = max(1, BLOCK_SIZE // n)
    for start in range(0, iterations, step):
        rows = min(step, iterations - start)
        yield generator.random_raw(rows * n).reshape(rows, n)
