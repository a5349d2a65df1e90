"""Orthogonal Procrustes: similarity after the best rotation of one set onto the other.

What it measures: 1 − half the squared distance between X and Y, both centred and scaled to unit norm, after
             the best rotation (or reflection).
Formula:     ‖XᵀY‖_* / (‖X‖_F ‖Y‖_F), ‖·‖_* the sum of singular values.
Invariant:   rotation, permutation, isotropic scaling and translation of either side.
Cost:        O(n·d²) for the moments, O(d³) for one SVD.
Reference:   Schönemann (1966); Ding, Denain & Steinhardt (2021), Grounding representation similarity.
"""

from __future__ import annotations

import torch

from isogloss.core.errors import UsageError
from isogloss.indexes.index import Gradient, Index, bounded
from isogloss.indexes.moments import Moments, moments
from isogloss.indexes.vectors import Vectors


def procrustes(X: Vectors, Y: Vectors) -> float:
    """Similarity after the best rotation.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> round(procrustes(X, 5 - X @ np.array([[0.0, 1.0], [-1.0, 0.0]])), 6)
    1.0
    """
    return value(moments(X, Y))


def value(m: Moments) -> float:
    return bounded(torch.linalg.svdvals(m.xy).sum() / _norms(m))


def gradient(m: Moments) -> Gradient:
    u, sizes, v = torch.linalg.svd(m.xy, full_matrices=False)
    u = u * (sizes > sizes[0] * len(sizes) * torch.finfo(sizes.dtype).eps)  # absent directions have no derivative
    similarity = sizes.sum() / _norms(m)
    xx, yy = (-similarity / (2 * s.trace()) * torch.ones_like(s.diagonal()) for s in (m.xx, m.yy))
    return Gradient(xx, yy, u @ v / _norms(m))


def _norms(m: Moments) -> torch.Tensor:
    norms = m.xx.trace().sqrt() * m.yy.trace().sqrt()
    if not norms:
        raise UsageError("Procrustes similarity is not defined for vectors that are all the same")
    return norms


INDEX = Index(
    name="procrustes",
    summary="orthogonal Procrustes: how similar are both sets after the best rotation?",
    cost="O(n·d²) streamed, O(d³) for the decomposition, O(d²) memory",
    reference="Schönemann 1966",
    of_moments=value,
    gradient=gradient,
)
