"""SVCCA: mean CCA between the principal directions of each side.

What it measures: agreement of the directions that carry most variance; the rest is treated as noise.
Formula:     reduce X and Y to their first kx, ky principal directions, then mean canonical correlation.
             `keep`: a float, the share of variance that the fewest possible directions must reach, or an
             int, the number of directions (never more than the rank).
Invariant:   rotation, permutation, isotropic scaling and translation of either side; not to general linear
             maps, which change what the principal directions are.
Cost:        O(n·d²) for the moments, O(d³) for one eigendecomposition per language.
Few samples: an error where kx + ky ≥ n (see `canonical`); keep fewer directions then.
Reference:   Raghu, Gilmer, Yosinski & Sohl-Dickstein (2017), SVCCA.
"""

from __future__ import annotations

import torch
from torch import Tensor

from isogloss.core.errors import UsageError
from isogloss.indexes.canonical import canonical, canonical_gradient
from isogloss.indexes.index import Gradient, Index
from isogloss.indexes.moments import Moments, View, moments
from isogloss.indexes.vectors import Vectors

KEEP = 0.99


def svcca(X: Vectors, Y: Vectors, keep: float | int = KEEP) -> float:
    """Mean canonical correlation of the leading principal directions.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 4)) * [9, 8, 0.1, 0.1]
    >>> Y = X + [0, 0, 1, 1] * np.random.default_rng(1).normal(size=(50, 4))
    >>> svcca(X, Y, keep=2) > 0.99  # the noise is in directions of little variance
    True
    """
    return value(moments(X, Y), keep)


def value(m: Moments, keep: float | int = KEEP) -> float:
    return float(canonical(m, _kept(m, keep)).correlations.mean())


def gradient(m: Moments, keep: float | int = KEEP) -> Gradient:
    kept = _kept(m, keep)
    c = canonical(m, kept)
    within = canonical_gradient(c, c.u @ c.q.T / len(c.correlations))
    x = within.xx + _turning(m.x, kept[0], m.xy @ within.xy.T)
    y = within.yy + _turning(m.y, kept[1], m.xy.T @ within.xy)
    return Gradient(x, y, within.xy)


def _turning(view: View, kept: int, pull: Tensor) -> Tensor:
    """The share of the derivative by the scatter that comes from the kept directions turning.

    First-order perturbation: the kept direction i gains vⱼᵀ·dS·vᵢ / (λᵢ − λⱼ) of the dropped direction j.
    """
    values, directions = view.spectrum
    inside, outside = directions[:, :kept], directions[:, kept:]
    gaps = (values[:kept] - values[kept:, None]).clamp_min(values[0] * torch.finfo(values.dtype).eps)
    turned = outside @ ((outside.T @ pull @ inside) / gaps) @ inside.T
    return (turned + turned.T) / 2


def _kept(m: Moments, keep: float | int) -> tuple[int, int]:
    return directions_kept(m.x, keep), directions_kept(m.y, keep)


def directions_kept(view: View, keep: float | int) -> int:
    """How many principal directions `keep` asks for."""
    if isinstance(keep, int) and not isinstance(keep, bool) and keep >= 1:
        return min(keep, view.rank)
    if not (isinstance(keep, float) and 0 < keep <= 1):
        raise UsageError(f"expected keep= as a share of variance in (0, 1] or a number of directions, got {keep!r}")
    shares = view.spectrum[0].cumsum(0)
    # relative slack: a share that is reached but for rounding is reached
    enough = int((shares < shares[-1] * keep * (1 - 1e-12)).sum()) + 1
    return min(enough, view.rank)


def index(keep: float | int = KEEP) -> Index:
    """The index with another `keep`, for `compare`."""
    return Index(
        name="svcca" if keep == KEEP else f"svcca(keep={keep})",
        summary="SVCCA: mean CCA between the principal directions of each side",
        bounds=(0, 1),
        symmetric=True,
        alone=frozenset({"rotation", "isotropic scaling", "permutation", "translation"}),
        together=frozenset({"rotation", "isotropic scaling", "permutation", "translation"}),
        cost="O(n·d²) streamed, O(d³) for the decompositions, O(d²) memory",
        reference="Raghu et al. 2017",
        of_moments=lambda m: value(m, keep),
        gradient=lambda m: gradient(m, keep),
        note=lambda m: "kept {} and {} directions".format(*_kept(m, keep)),
    )


INDEX = index()
