"""ANC: average neuron-wise correlation.

What it measures: whether neuron i does the same in both languages; neurons are compared one by one.
Formula:     mean over neurons i of |Pearson correlation of X's and Y's column i|; `signed` drops the bars.
Invariant:   (positive) scaling and translation of either side, even neuron by neuron; a permutation only
             if it is the same on both sides. Not to rotations: the neurons are the point.
Cost:        O(n·d) for what it needs; from the moments of the other indexes it is free.
Constant neurons have no correlation: `neuron_correlations` gives NaN for them and the average leaves them
             out (0 would make ANC(X, X) less than 1, 1 would be made up); no varying neuron is an error.
Reference:   Del & Fishel (2022), Cross-lingual similarity of multilingual representations revisited.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from isogloss.core.errors import UsageError
from isogloss.indexes.index import Gradient, Index
from isogloss.indexes.moments import Moments, moments
from isogloss.indexes.vectors import Vectors


def anc(X: Vectors, Y: Vectors, signed: bool = False) -> float:
    """Average neuron-wise correlation.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> round(anc(X, 1 - 2 * X), 6), round(anc(X, 1 - 2 * X, signed=True), 6)
    (1.0, -1.0)
    """
    return value(moments(X, Y), signed)


def neuron_correlations(X: Vectors, Y: Vectors) -> np.ndarray:
    """Pearson's correlation of each neuron in X with the same neuron in Y; NaN where either is constant."""
    found: np.ndarray = correlations(moments(X, Y)).cpu().numpy()
    return found


def correlations(m: Moments) -> Tensor:
    if len(m.xx) != len(m.yy):
        raise UsageError(f"neurons are compared one by one, so X and Y must have as many: {len(m.xx)} and {len(m.yy)}")
    x, y = m.xx.diagonal(), m.yy.diagonal()
    # root by root: the product of two tiny variances would vanish
    ratio = m.xy.diagonal() / x.sqrt() / y.sqrt()
    return torch.where((x > 0) & (y > 0), ratio.clamp(-1, 1), torch.full_like(ratio, torch.nan))


def value(m: Moments, signed: bool = False) -> float:
    found = _varying(correlations(m))
    return float((found if signed else found.abs()).mean())


def gradient(m: Moments, signed: bool = False) -> Gradient:
    found = correlations(m)
    share = 1 / len(_varying(found))
    sign = torch.ones_like(found) if signed else found.sign()
    x, y = m.xx.diagonal(), m.yy.diagonal()
    by_xx, by_yy = (-share * sign * found / (2 * scatter) for scatter in (x, y))
    return Gradient(*(part.nan_to_num(0, 0, 0) for part in (by_xx, by_yy, share * sign / x.sqrt() / y.sqrt())))


def note(m: Moments) -> str:
    constant = int(correlations(m).isnan().sum())
    return f"{constant} of {len(m.xx)} neurons are constant and left out" if constant else ""


def _varying(found: Tensor) -> Tensor:
    varying = found[~found.isnan()]
    if not len(varying):
        raise UsageError("ANC is not defined: every neuron is constant in X or in Y")
    return varying


INDEX = Index(
    name="anc",
    summary="ANC: does each neuron do the same in both languages?",
    bounds=(0, 1),
    symmetric=True,
    alone=frozenset({"isotropic scaling", "translation"}),
    together=frozenset({"isotropic scaling", "permutation", "translation"}),
    cost="O(n·d) streamed, O(d) memory; nothing beside the moments of other indexes",
    reference="Del & Fishel 2022",
    of_moments=value,
    gradient=gradient,
    note=note,
)

SIGNED = Index(
    name="signed_anc",
    summary="ANC without the absolute value: neurons that turn round count against",
    bounds=(-1, 1),
    symmetric=True,
    alone=frozenset({"isotropic scaling", "translation"}),
    together=frozenset({"isotropic scaling", "permutation", "translation"}),
    cost="O(n·d) streamed, O(d) memory; nothing beside the moments of other indexes",
    reference="Del & Fishel 2022 (the released script)",
    of_moments=lambda m: value(m, signed=True),
    gradient=lambda m: gradient(m, signed=True),
    note=note,
)
