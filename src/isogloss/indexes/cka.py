"""Linear CKA, centred kernel alignment.

What it measures: whether the same pairs of sentences are similar in X and in Y; directions of large variance
             dominate.
Formula:     ‖XᵀY‖²_F / (‖XᵀX‖_F ‖YᵀY‖_F), columns of X and Y centred.
Invariant:   rotation, permutation of neurons, isotropic scaling and translation of either side; not to
             general linear maps, so a few outlier neurons can dominate the value.
Cost:        O(n·d²) once for the moments, O(d²) for the value; streams.
Bias:        grows towards 1 when there are few sentences for many neurons; `debiased=True` removes it.
Reference:   Kornblith, Norouzi, Lee & Hinton (2019), Similarity of neural network representations revisited.
"""

from __future__ import annotations

from typing import Literal

from torch import Tensor

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.indexes.index import Gradient, Index, Sample, bounded
from isogloss.indexes.moments import Moments, moments
from isogloss.indexes.vectors import Vectors


def cka(X: Vectors, Y: Vectors, kernel: Literal["linear", "rbf"] = "linear", debiased: bool = False) -> float:
    """Centred kernel alignment with a linear or Gaussian kernel; `debiased` is for the linear one.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> round(cka(X, 3 * X[:, ::-1] + 7), 6)  # invariant to permutation, scaling and translation
    1.0
    """
    from isogloss.indexes import debiased_cka, rbf_cka

    check_name(kernel, ["linear", "rbf"], "kernel")
    if kernel == "rbf" and debiased:
        raise UsageError("debiased=True requires kernel='linear', got kernel='rbf'")
    if kernel == "rbf":
        return rbf_cka.sample(X, Y).value
    return debiased_cka.sample(X, Y).value if debiased else value(moments(X, Y))


def value(m: Moments) -> float:
    return bounded(m.xy.square().sum() / _norms(m))


def gradient(m: Moments) -> Gradient:
    similarity = value(m)
    xx, yy = (-similarity * scatter / scatter.square().sum() for scatter in (m.xx, m.yy))
    return Gradient(xx, yy, 2 * m.xy / _norms(m))


def kernel_alignment(xy: Tensor, xx: Tensor, yy: Tensor) -> Sample:
    """Σᵢⱼ K̄ᵢⱼL̄ᵢⱼ normalised by the same sums for (K, K) and (L, L), from one row sum per sentence each.

    The derivative of a sum by a sentence's weight is twice its row sum (centring contributes nothing: its derivative is
    orthogonal to centred kernels).
    """
    norms = _defined((xx.sum() * yy.sum()).clamp_min(0).sqrt())
    similarity = xy.sum() / norms
    influence = 2 * xy / norms - similarity * (xx / xx.sum() + yy / yy.sum())
    return Sample(bounded(similarity, -1), influence)


def _norms(m: Moments) -> Tensor:
    return _defined(m.xx.square().sum().sqrt() * m.yy.square().sum().sqrt())


def _defined(norms: Tensor) -> Tensor:
    if not norms > 0:
        raise UsageError("CKA is not defined for vectors that are all the same")
    return norms


INDEX = Index(
    name="cka",
    summary="linear CKA: do the same sentences lie close to each other in both sets?",
    cost="O(n·d²) streamed, O(d²) memory",
    reference="Kornblith et al. 2019",
    of_moments=value,
    gradient=gradient,
)
