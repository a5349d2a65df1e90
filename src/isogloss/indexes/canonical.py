"""Canonical correlations from moments: the part that CCA, SVCCA and PWCCA share.

Each side is reduced to its leading directions (all of its numerical rank, or fewer) and whitened there by
its eigendecomposition; the singular values of the whitened cross scatter are the canonical correlations.
Two subspaces of kx and ky dimensions among n−1 must meet in kx + ky − (n−1) of them, whatever the data:
there every correlation is 1 and means nothing, so that case is an error unless a ridge is added.
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
    correlations: Tensor  # ρ, falling
    q: Tensor  # (ky, p)
    ridge: float


def canonical(m: Moments, kept: tuple[int, int] | None = None, ridge: float = 0.0) -> Canonical:
    """The canonical correlations among the `kept` leading directions of each side (default: all there are).

    `ridge` adds that share of the mean variance of a side to the variance of each of its directions.
    """
    if ridge < 0:
        raise UsageError(f"expected a regularisation of 0 or more, got {ridge}")
    if kept is None:
        kept = (len(m.xx), len(m.yy)) if ridge else (m.x.rank, m.y.rank)
    key = ("canonical", kept, ridge)
    if key not in m.memo:
        _check_enough(m.n, kept, ridge)
        x, y = _whitening(m.x, kept[0], ridge), _whitening(m.y, kept[1], ridge)
        u, correlations, q = torch.linalg.svd(x.T @ m.xy @ y, full_matrices=False)
        m.memo[key] = Canonical(x, y, u, correlations.clamp(0, 1), q.T, ridge)
    found: Canonical = m.memo[key]
    return found


def canonical_gradient(c: Canonical, by_cross: Tensor, by_x: Tensor | None = None) -> Gradient:
    """From derivatives by the whitened cross scatter (and by whitened xx) to those by the scatter matrices.

    A change E of whitened xx changes the whitened cross scatter M to (I − E/2)·M, to first order.
    """
    cross = (c.u * c.correlations) @ c.q.T
    x = -_symmetric(by_cross @ cross.T) / 2
    x = x if by_x is None else x + _symmetric(by_x)
    y = -_symmetric(cross.T @ by_cross) / 2
    xx, yy = c.whiten_x @ x @ c.whiten_x.T, c.whiten_y @ y @ c.whiten_y.T
    if c.ridge:  # the ridge itself grows with the trace
        for scatter in (xx, yy):
            scatter.diagonal().add_(c.ridge / len(scatter) * scatter.trace())
    return Gradient(xx, yy, c.whiten_x @ by_cross @ c.whiten_y.T)


def damped_inverse(gaps: Tensor, variances: Tensor) -> Tensor:
    """1/gap where the gap is certain, and less where sampling noise of that variance blurs it; 0 for a tie.

    Directions turn towards each other at the rate 1/gap, to first order. Where another sample could close or
    reverse the gap they only trade places, and the plain derivative would exaggerate without limit.
    """
    return gaps / (gaps.square() + variances).clamp_min(torch.finfo(gaps.dtype).tiny)


def _whitening(view: View, kept: int, ridge: float) -> Tensor:
    values, directions = view.spectrum
    return directions[:, :kept] / (values[:kept] + ridge * values.sum() / len(values)).sqrt()


def _check_enough(n: float, kept: tuple[int, int], ridge: float) -> None:
    if min(kept) < 1:
        raise UsageError("canonical correlations are not defined for vectors that are all the same")
    if not ridge and sum(kept) > n - 1:
        raise UsageError(
            f"{n:g} samples are too few for canonical correlations between {kept[0]} and {kept[1]} directions: "
            f"some are 1 whatever the data, unless there are at least {sum(kept) + 1}; use more samples, "
            "svcca with a smaller keep=, regularisation=, or cka or anc"
        )


def _symmetric(matrix: Tensor) -> Tensor:
    return (matrix + matrix.T) / 2
