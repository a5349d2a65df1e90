"""Uncertainty over sentences: the Bayesian bootstrap, to first order.

The Bayesian bootstrap (Rubin 1981) gives every sentence a random weight, exponential with mean 1, and looks at
how the index varies. Resampling with replacement is no alternative: repeated sentences push CCA and CKA up.
Recomputing an index for every draw of weights is costly, and for CCA it also measures half as many effective
sentences; instead each index has a derivative by the weight of each sentence, its influence cᵢ, so that a
replicate is the estimate + Σ wᵢcᵢ and the standard error over infinitely many replicates is √(Σcᵢ²), the
infinitesimal jackknife (Jaeckel 1972; Efron 1982). Weights depend on the seed and on a sentence's place alone:
replicates of different layers, languages and indexes belong together, so that differences and curves have
intervals too. Measured against the spread over fresh samples, standard errors are right for CKA, ANC,
Procrustes and matching, up to 1.3 times too large for separation and up to 1.6 times for CCA-type indexes
(`tests/indexes/test_bootstrap.py`). An interval tells how far another sample of as many sentences would fall from
this one; it does not remove what bias an index has for few sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from torch import Tensor

from isogloss.core.seeds import derive_seed
from isogloss.indexes.index import Gradient
from isogloss.indexes.moments import Moments
from isogloss.indexes.vectors import Vectors, spans, take


def influence(x: Vectors, y: Vectors, m: Moments, gradient: Gradient, names: tuple[str, str] = ("X", "Y")) -> Tensor:
    """The derivative of an index by the weight of each sentence, from its derivative by the scatter matrices.

    A weight dw adds dw·(x−x̄)(x−x̄)ᵀ to the scatter (the mean moves too, which the scatter does not feel).
    """
    n = int(x.shape[0])
    found = m.xx.new_empty(n)
    for rows in spans(n):
        a = take(x, rows, names[0], m.xx.device) - m.x.mean
        b = take(y, rows, names[1], m.xx.device) - m.y.mean
        found[rows] = (_times(a, gradient.xx) * a).sum(1)
        found[rows] += ((_times(a, gradient.xy) + _times(b, gradient.yy)) * b).sum(1)
    return found


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


def interval(value: float, error: float, bounds: tuple[float, float], confidence: float) -> tuple[float, float]:
    """The interval of normal form, kept within the bounds of the index.

    >>> [round(end, 3) for end in interval(0.9, 0.1, (0, 1), 0.95)]
    [0.704, 1]
    """
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * error
    return max(bounds[0], value - reach), min(bounds[1], value + reach)


def replicates(values: Sequence[float], influences: Tensor, count: int, seed: int = 0) -> np.ndarray:
    """`count` bootstrap replicates of each index, (indexes, count); not kept within bounds."""
    derivatives = (influences - influences.mean(1, keepdim=True)).cpu().numpy()
    generator = np.random.default_rng(derive_seed(seed, "bootstrap"))
    drawn: np.ndarray = np.empty((len(values), count))
    for r in range(count):
        weights = generator.standard_exponential(size=(derivatives.shape[1],))
        drawn[:, r] = values + derivatives @ (weights / weights.mean())
    return drawn
