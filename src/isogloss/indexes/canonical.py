"""Canonical correlations from moments, shared by CCA, SVCCA and PWCCA.

Each side is reduced to its leading directions (all of its numerical rank, or fewer) and whitened there by
its eigendecomposition; the singular values of the whitened cross scatter are the canonical correlations.
Subspaces of kx and ky dimensions in n−1 dimensions always share kx + ky − (n−1) of them, where every
correlation is 1 for any data. That case is an error unless a ridge is added.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from isogloss.core.errors import UsageError
from isogloss.indexes.index import Gradient
from isogloss.indexes.moments import Moments, View


@dataclass(frozen=True, eq=False)
class Canonical:
    """The singular value decomposition U·diag(ρ)·Qᵀ of the whitened cross scatter."""

    whiten_x: Tensor  # (dx, kx): its columns give directions of unit scatter
    whiten_y: Tensor
    u: Tensor  # (kx, p)
    correlations: Tensor  # ρ, in descending order
    q: Tensor  # (ky, p)
    ridge: float


def canonical(m: Moments, directions: tuple[int, int] | None = None, ridge: float = 0.0) -> Canonical:
    """Canonical correlations between the leading `directions` of each side (default: the whole rank).

    `ridge` adds that share of the mean variance of a side to the variance of each of its directions.
    """
    if ridge < 0:
        raise UsageError(f"expected a regularisation of 0 or more, got {ridge}")
    if directions is None:
        directions = (len(m.xx), len(m.yy)) if ridge else (m.x.rank, m.y.rank)
    key = ("canonical", directions, ridge)
    if key not in m.memo:
        _check_sample_size(m.n, directions, ridge)
        x, y = _whitening(m.x, directions[0], ridge), _whitening(m.y, directions[1], ridge)
        u, correlations, q = torch.linalg.svd(x.T @ m.xy @ y, full_matrices=False)
        m.memo[key] = Canonical(x, y, u, correlations.clamp(0, 1), q.T, ridge)
    decomposition = m.memo[key]
    assert isinstance(decomposition, Canonical)
    return decomposition


def canonical_gradient(c: Canonical, by_cross: Tensor, by_x: Tensor | None = None) -> Gradient:
    """Derivatives by the scatter matrices, from those by the whitened cross scatter (and by whitened xx).

    A change E of whitened xx changes the whitened cross scatter M to (I − E/2)·M, to first order.
    """
    cross = (c.u * c.correlations) @ c.q.T
    x = -_symmetric(by_cross @ cross.T) / 2
    x = x if by_x is None else x + _symmetric(by_x)
    y = -_symmetric(cross.T @ by_cross) / 2
    xx, yy = c.whiten_x @ x @ c.whiten_x.T, c.whiten_y @ y @ c.whiten_y.T
    if c.ridge:  # the ridge is proportional to the trace
        for scatter in (xx, yy):
            scatter.diagonal().add_(c.ridge / len(scatter) * scatter.trace())
    return Gradient(xx, yy, c.whiten_x @ by_cross @ c.whiten_y.T)


def damped_inverse(gaps: Tensor, variances: Tensor) -> Tensor:
    """1/gap where the gap is large compared with sampling noise of that variance; damped otherwise; 0 for a tie.

    Directions rotate towards each other at the rate 1/gap, to first order. Where another sample could close or
    reverse the gap they only swap, and the undamped derivative would grow without limit.
    """
    return gaps / (gaps.square() + variances).clamp_min(torch.finfo(gaps.dtype).tiny)


def _whitening(view: View, count: int, ridge: float) -> Tensor:
    values, directions = view.spectrum
    return directions[:, :count] / (values[:count] + ridge * values.sum() / len(values)).sqrt()


def _check_sample_size(n: float, directions: tuple[int, int], ridge: float) -> None:
    if min(directions) < 1:
        raise UsageError("canonical correlations are not defined for vectors that are all the same")
    if not ridge and sum(directions) > n - 1:
        raise UsageError(
            f"{n:g} samples are too few for canonical correlations between {directions[0]} and {directions[1]} "
            f"directions: some are 1 for any data, unless there are at least {sum(directions) + 1} samples; use more "
            "samples, svcca with a smaller keep=, regularisation=, or cka or anc"
        )


def _symmetric(matrix: Tensor) -> Tensor:
    return (matrix + matrix.T) / 2
