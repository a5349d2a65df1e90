"""Uncertainty over sentences: the Bayesian bootstrap, to first order.

The Bayesian bootstrap (Rubin 1981) gives every sentence a random weight, exponential with mean 1, and measures
how the index varies. Resampling with replacement is unsuitable: repeated sentences increase CCA and CKA.
Recomputing an index for every sample of weights is expensive, and halves the effective number of sentences for
CCA. Instead, each index has a derivative with respect to the weight of each sentence, its influence cᵢ. A
replicate is the estimate + Σ wᵢcᵢ, and the standard error over infinitely many replicates is √(Σcᵢ²), the
infinitesimal jackknife (Jaeckel 1972; Efron 1982). Weights depend only on the seed and the position of a sentence:
replicates are joint over layers, languages and indexes, so that differences and curves have intervals too.
The interval is Student's, with as many degrees of freedom as sentences determine the standard error: with
heavy tails a few sentences do, and the standard error is itself uncertain. A share of sentences (matching) has
Wilson's interval. SVCCA chooses directions, which a derivative does not describe: its replicates are recomputed.
`benchmarks/interval_coverage.py` measures the coverage (docs/indexes.md). An interval describes the variation between
samples of this size; it does not remove the bias of an index for few sentences.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np
from scipy.special import stdtrit
from torch import Tensor

from isogloss.core.seeds import derive_seed
from isogloss.indexes.index import Gradient
from isogloss.indexes.moments import Moments
from isogloss.indexes.vectors import Vectors, spans, take


def influence(x: Vectors, y: Vectors, m: Moments, gradient: Gradient, names: tuple[str, str] = ("X", "Y")) -> Tensor:
    """Derivative of an index with respect to each sentence's weight, from that with respect to the scatter matrices.

    A weight dw adds dw·(x−x̄)(x−x̄)ᵀ to the scatter (the change of the mean has no first-order effect on the scatter).
    """
    n = int(x.shape[0])
    influences = m.xx.new_empty(n)
    for rows in spans(n):
        a = take(x, rows, names[0], m.xx.device) - m.x.mean
        b = take(y, rows, names[1], m.xx.device) - m.y.mean
        influences[rows] = (_times(a, gradient.xx) * a).sum(1)
        influences[rows] += ((_times(a, gradient.xy) + _times(b, gradient.yy)) * b).sum(1)
    return influences


def _times(block: Tensor, matrix: Tensor) -> Tensor:
    return block * matrix if matrix.ndim == 1 else block @ matrix


def standard_error(influence: Tensor) -> float:
    """The standard error of an index whose sentences have these influences.

    >>> from torch import tensor
    >>> round(standard_error(tensor([1.0, -1.0, 1.0, -1.0]) / 4), 4)  # of a mean of ±1: √(4/3) / √4
    0.5774
    """
    n = len(influence)
    return float((influence.square().sum() * n / (n - 1)).sqrt())


def effective_sentences(influence: Tensor) -> float:
    """The number of sentences that determine the standard error, (Σc²)² / Σc⁴, at most n − 1.

    A third of n for normal influences, few where a handful of sentences carry most of the variance.

    >>> from torch import tensor
    >>> effective_sentences(tensor([1.0, -1.0] * 50)), round(effective_sentences(tensor([0.1, -0.1] * 50 + [10.0])), 1)
    (99.0, 1.0)
    """
    squares = influence.square()
    fourth = float(squares.square().sum())
    return min(len(influence) - 1.0, float(squares.sum().square()) / fourth) if fourth else len(influence) - 1.0


def interval(
    value: float, error: float, freedom: float, bounds: tuple[float, float], confidence: float
) -> tuple[float, float]:
    """Student's interval with `freedom` degrees of freedom, clipped to the bounds of the index.

    >>> [round(end, 3) for end in interval(0.9, 0.1, 1000, (0, 1), 0.95)]
    [0.704, 1]
    """
    reach = float(stdtrit(freedom, (1 + confidence) / 2)) * error
    return max(bounds[0], value - reach), min(bounds[1], value + reach)


def proportion_interval(share: float, n: int, confidence: float) -> tuple[float, float]:
    """Wilson's interval (1927) for a share of n sentences, which is not empty for a share of 0 or 1.

    >>> [round(end, 3) for end in proportion_interval(1.0, 100, 0.95)]
    [0.963, 1.0]
    """
    z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2 / n
    middle = (share + z2 / 2) / (1 + z2)
    reach = math.sqrt(z2 * (share * (1 - share) + z2 / 4)) / (1 + z2)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def sentence_weights(n: int, count: int, seed: int) -> Iterator[np.ndarray]:
    """`count` sets of exponential weights of n sentences, with mean 1."""
    generator = np.random.default_rng(derive_seed(seed, "bootstrap"))
    for _ in range(count):
        weights = generator.standard_exponential(size=(n,))
        yield weights / weights.mean()


def replicates(values: Sequence[float], influences: Tensor, count: int, seed: int = 0) -> np.ndarray:
    """`count` bootstrap replicates of each index, (indexes, count); not clipped to the bounds."""
    derivatives = (influences - influences.mean(1, keepdim=True)).cpu().numpy()
    changes = [derivatives @ weights for weights in sentence_weights(derivatives.shape[1], count, seed)]
    replicate_values: np.ndarray = np.asarray(values)[:, None] + np.stack(changes, axis=1)
    return replicate_values
