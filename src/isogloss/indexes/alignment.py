"""Normalisation of kernel products, shared by the kernel versions of CKA."""

from __future__ import annotations

from torch import Tensor

from isogloss.core.errors import UsageError
from isogloss.indexes.index import Sample


def aligned(xy: Tensor, xx: Tensor, yy: Tensor) -> Sample:
    """Normalise Σᵢⱼ K̄ᵢⱼL̄ᵢⱼ by the same sums for (K, K) and (L, L).

    Each argument holds one row sum per sentence; the derivative of the whole sum by a sentence's weight is
    twice its row sum (centring contributes nothing: its derivative is orthogonal to centred kernels).
    """
    norms = (xx.sum() * yy.sum()).clamp_min(0).sqrt()
    if not norms > 0:
        raise UsageError("CKA is not defined for vectors that are all the same")
    value = xy.sum() / norms
    influence = 2 * xy / norms - value * (xx / xx.sum() + yy / yy.sum())
    return Sample(float(value.clamp(-1, 1)), influence)
