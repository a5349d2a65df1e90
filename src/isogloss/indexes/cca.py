"""Mean CCA: the average canonical correlation.

What it measures: how much of each side is a linear function of the other, with equal weight for every direction.
Formula:     mean of the p = min(rank X, rank Y) singular values of (XᵀX)^−½ XᵀY (YᵀY)^−½, centred.
Invariant:   any invertible linear map and any translation of either side.
Cost:        O(n·d²) for the moments, O(d³) for two eigendecompositions (one per language) and one SVD.
Few samples: an error if p_x + p_y ≥ n (see `canonical`), strongly biased upwards well before it;
             `regularisation=r` adds r times the mean variance to every direction (then X, X gives less than 1).
             Directions of less than d·10·2⁻⁵² of the largest variance count as absent.
Reference:   Hotelling (1936), Relations between two sets of variates; Raghu et al. (2017).
"""

from __future__ import annotations

from isogloss.indexes.canonical import canonical, canonical_gradient
from isogloss.indexes.index import MAPS, Gradient, Index
from isogloss.indexes.moments import Moments, moments
from isogloss.indexes.vectors import Vectors


def cca(X: Vectors, Y: Vectors, regularisation: float = 0.0) -> float:
    """The mean canonical correlation.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> round(cca(X, X @ np.array([[1.0, 5.0], [0.0, 2.0]])), 6)  # invariant to invertible maps
    1.0
    """
    return value(moments(X, Y), regularisation)


def value(m: Moments, regularisation: float = 0.0) -> float:
    return float(canonical(m, ridge=regularisation).correlations.mean())


def gradient(m: Moments, regularisation: float = 0.0) -> Gradient:
    c = canonical(m, ridge=regularisation)
    return canonical_gradient(c, c.u @ c.q.T / len(c.correlations))


def index(regularisation: float = 0.0) -> Index:
    """The index with a ridge, for `compare` with few sentences."""
    return Index(
        name=f"cca(regularisation={regularisation:g})" if regularisation else "cca",
        summary="mean CCA: how much of each side is a linear function of the other?",
        invariances_per_side=frozenset(MAPS),
        joint_invariances=frozenset(MAPS),
        cost="O(n·d²) streamed, O(d³) for the decompositions, O(d²) memory",
        reference="Hotelling 1936",
        of_moments=lambda m: value(m, regularisation),
        gradient=lambda m: gradient(m, regularisation),
    )


INDEX = index()
