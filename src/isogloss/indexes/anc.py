"""ANC: average neuron-wise correlation.

What it measures: whether neuron i behaves the same in both languages; neurons are compared individually.
Formula:     mean over neurons i of |Pearson correlation of X's and Y's column i|; `signed` drops the bars.
Invariant:   (positive) scaling and translation of either side, even neuron by neuron; a permutation only
             if it is the same on both sides. Not invariant to rotations.
Cost:        O(n·d); no extra cost where the moments are computed for other indexes.
Constant neurons have no correlation: `neuron_correlations` gives NaN for them and the average
             excludes them (0 would make ANC(X, X) less than 1). It is an error if every neuron is constant.
Reference:   Del & Fishel (2022), Cross-lingual similarity of multilingual representations revisited.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from isogloss.core.errors import UsageError
from isogloss.indexes.index import Gradient, Index
from isogloss.indexes.moments import Moments, moments
from isogloss.indexes.vectors import Vectors

SMALLEST_SCATTER = 1e-290  # of a neuron that varies, beside neurons of ordinary size: below it digits are lost


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
    values: np.ndarray = correlations(moments(X, Y)).cpu().numpy()
    return values


def correlations(m: Moments) -> Tensor:
    if len(m.xx) != len(m.yy):
        counts = f"{len(m.xx)} and {len(m.yy)}"
        raise UsageError(f"neurons are compared individually: expected X and Y of equal width, got {counts} features")
    x, y = m.xx.diagonal(), m.yy.diagonal()
    # two square roots: the product of two tiny variances would underflow
    ratio = m.xy.diagonal() / x.sqrt() / y.sqrt()
    return torch.where(
        (x > SMALLEST_SCATTER) & (y > SMALLEST_SCATTER), ratio.clamp(-1, 1), torch.full_like(ratio, torch.nan)
    )


def value(m: Moments, signed: bool = False) -> float:
    varying = _varying(correlations(m))
    return float((varying if signed else varying.abs()).mean())


def gradient(m: Moments, signed: bool = False) -> Gradient:
    neuron_correlation = correlations(m)
    share = 1 / len(_varying(neuron_correlation))
    sign = torch.ones_like(neuron_correlation) if signed else neuron_correlation.sign()
    x, y = m.xx.diagonal(), m.yy.diagonal()
    by_xx, by_yy = (-share * sign * neuron_correlation / (2 * scatter) for scatter in (x, y))
    return Gradient(*(part.nan_to_num(0, 0, 0) for part in (by_xx, by_yy, share * sign / x.sqrt() / y.sqrt())))


def note(m: Moments) -> str:
    constant = int(correlations(m).isnan().sum())
    return f"{constant} of {len(m.xx)} neurons are constant and excluded" if constant else ""


def _varying(neuron_correlation: Tensor) -> Tensor:
    varying = neuron_correlation[~neuron_correlation.isnan()]
    if not len(varying):
        raise UsageError("ANC is not defined: every neuron is constant in X or in Y")
    return varying


INDEX = Index(
    name="anc",
    summary="ANC: does each neuron behave the same in both languages?",
    invariances_per_side=frozenset({"isotropic scaling", "translation"}),
    joint_invariances=frozenset({"isotropic scaling", "permutation", "translation"}),
    cost="O(n·d) streamed, O(d) memory; free where the moments are computed",
    reference="Del & Fishel 2022",
    of_moments=value,
    gradient=gradient,
    note=note,
)

SIGNED = replace(
    INDEX,
    name="signed_anc",
    summary="ANC without the absolute value: negative correlations lower the mean",
    bounds=(-1, 1),
    reference="Del & Fishel 2022 (the released script)",
    of_moments=lambda m: value(m, signed=True),
    gradient=lambda m: gradient(m, signed=True),
)
