"""From rows of kernel products to an alignment: what the kernel versions of CKA share."""

from __future__ import annotations

from torch import Tensor

from isogloss.core.errors import UsageError
from isogloss.indexes.index import Sample


def aligned(xy: Tensor, xx: Tensor, yy: Tensor) -> Sample:
    """Normalise Σᵢⱼ K̄ᵢⱼL̄ᵢⱼ by the same of K with itself and of L with itself.

    Each argument holds one row sum per sentence; the derivative of the whole sum by a sentence's weight is
    twice its row sum (centring adds nothing: centred kernels are orthogonal to what it changes).
    """
    norms = (xx.sum() * yy.sum()).clamp_min(0).sqrt()
    if not norms > 0:
        raise UsageError("CKA is not defined for vectors that are all the same")
    value = xy.sum() / norms
    influence = 2 * xy / norms - value * (xx / xx.sum() + yy / yy.sum())
    return Sample(float(value.clamp(-1, 1)), influence)
