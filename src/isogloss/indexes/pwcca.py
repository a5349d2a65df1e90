"""PWCCA: canonical correlations weighted by how much of X each canonical direction accounts for.

What it measures: as CCA, with more weight for directions that explain X (the source).
Formula:     Σₖ αₖ ρₖ / Σₖ αₖ with αₖ = Σⱼ |⟨hₖ, xⱼ⟩|, hₖ the k-th canonical variate of X and xⱼ its neurons.
Invariant:   any invertible linear map of Y; of X only isotropic scaling; translation of either side. The
             weights are sums over the neurons of X, so even a rotation of X changes them. Not symmetric.
Cost:        O(n·d²) for the moments, O(d³) for two eigendecompositions (one per language) and one SVD.
Few samples: as CCA: an error if p_x + p_y ≥ n; `regularisation=r` as there.
Reference:   Morcos, Raghu & Bengio (2018), Insights on representational similarity in neural networks with
             canonical correlation. (Their code adds the mean to the variates; this is the published formula.)
"""

from __future__ import annotations

import torch
from torch import Tensor

from isogloss.indexes.canonical import Canonical, canonical, canonical_gradient, damped_inverse
from isogloss.indexes.index import Gradient, Index
from isogloss.indexes.moments import Moments, moments
from isogloss.indexes.vectors import Vectors


def pwcca(X: Vectors, Y: Vectors, regularisation: float = 0.0) -> float:
    """Projection-weighted canonical correlation; the weights come from X.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> round(pwcca(X, X @ np.array([[1.0, 5.0], [0.0, 2.0]])), 6)
    1.0
    """
    return value(moments(X, Y), regularisation)


def value(m: Moments, regularisation: float = 0.0) -> float:
    c = canonical(m, ridge=regularisation)
    weights = (c.u.T @ _root(m, c)).abs().sum(1)  # of each variate of X with every neuron of X
    return float(weights @ c.correlations / weights.sum())


def gradient(m: Moments, regularisation: float = 0.0) -> Gradient:
    c = canonical(m, ridge=regularisation)
    return canonical_gradient(c, *_by_whitened(m, c))


def _by_whitened(m: Moments, c: Canonical) -> tuple[Tensor, Tensor]:
    """Derivatives by the whitened cross scatter and by whitened xx: through the weights and through U."""
    rho, root = c.correlations, _root(m, c)
    loadings = c.u.T @ root
    weights = loadings.abs().sum(1)
    similarity = weights @ rho / weights.sum()
    by_loadings = loadings.sign_() * ((rho - similarity) / weights.sum())[:, None]
    by_u = root @ by_loadings.T
    turn = c.u.T @ by_u
    noise = (2 * rho * (1 - rho.square())).square() / m.n  # sampling variance of each ρ², by normal theory
    inverse = damped_inverse(rho.square() - rho.square()[:, None], noise + noise[:, None])
    by_cross = c.u @ (inverse * (turn - turn.T) * rho + torch.diag(weights / weights.sum())) @ c.q.T
    if len(c.u) > len(rho):  # directions of X beyond the number of correlations
        outside = by_u - c.u @ turn
        by_cross += outside / rho.clamp_min(torch.finfo(rho.dtype).eps) @ c.q.T
    return by_cross, c.u @ by_loadings @ root.T / 2


def _root(m: Moments, c: Canonical) -> Tensor:
    """Scatter of whitened X with the neurons of X."""
    ridge = c.ridge * m.xx.trace() / len(m.xx)
    return c.whiten_x.T @ m.xx + ridge * c.whiten_x.T


def index(regularisation: float = 0.0) -> Index:
    """The index with a ridge, for `compare` where sentences are few."""
    return Index(
        name=f"pwcca(regularisation={regularisation:g})" if regularisation else "pwcca",
        summary="PWCCA: CCA weighted by how much of the source each direction accounts for",
        symmetric=False,
        invariances_per_side=frozenset({"isotropic scaling", "permutation", "translation"}),
        joint_invariances=frozenset({"isotropic scaling", "permutation", "translation"}),
        cost="O(n·d²) streamed, O(d³) for the decompositions, O(d²) memory",
        reference="Morcos et al. 2018",
        of_moments=lambda m: value(m, regularisation),
        gradient=lambda m: gradient(m, regularisation),
    )


INDEX = index()
