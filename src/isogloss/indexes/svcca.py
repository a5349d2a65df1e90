"""SVCCA: mean CCA between the principal directions of each side.

What it measures: agreement of the directions of largest variance; the remaining directions are treated as noise.
Formula:     reduce X and Y to their first kx, ky principal directions, then mean canonical correlation.
             `keep`: a float, the share of variance that the fewest possible directions must reach, or an
             int, the number of directions (never more than the rank).
Invariant:   rotation, permutation, isotropic scaling and translation of either side; not to general linear
             maps, which change what the principal directions are.
Cost:        O(n·d²) for the moments, O(d³) for one eigendecomposition per language.
Few samples: an error where kx + ky ≥ n (see `canonical`); keep fewer directions then.
Intervals:   another sample may choose other directions, which a derivative does not describe: with up to 100
             directions the value is recomputed for each replicate.
Reference:   Raghu, Gilmer, Yosinski & Sohl-Dickstein (2017), SVCCA.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import torch
from torch import Tensor

from isogloss.core.errors import UsageError
from isogloss.indexes.canonical import canonical, canonical_gradient, damped_inverse
from isogloss.indexes.index import Gradient, Index
from isogloss.indexes.moments import Moments, View, moments
from isogloss.indexes.vectors import Vectors, spans, take

DEFAULT_VARIANCE_SHARE = 0.99
MAX_RECOMPUTED_DIRECTIONS = 100  # above, recomputing takes minutes per layer


def svcca(X: Vectors, Y: Vectors, keep: float | int = DEFAULT_VARIANCE_SHARE) -> float:
    """Mean canonical correlation of the leading principal directions.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 4)) * [9, 8, 0.1, 0.1]
    >>> Y = X + [0, 0, 1, 1] * np.random.default_rng(1).normal(size=(50, 4))
    >>> svcca(X, Y, keep=2) > 0.99  # the noise is in directions of little variance
    True
    """
    return value(moments(X, Y), keep)


def value(m: Moments, keep: float | int = DEFAULT_VARIANCE_SHARE) -> float:
    return _mean(m, _directions_per_side(m, keep))


def _mean(m: Moments, directions: tuple[int, int]) -> float:
    return float(canonical(m, directions).correlations.mean())


def gradient(m: Moments, keep: float | int = DEFAULT_VARIANCE_SHARE) -> Gradient:
    directions = _directions_per_side(m, keep)
    c = canonical(m, directions)
    within = canonical_gradient(c, c.u @ c.q.T / len(c.correlations))
    x = within.xx + _rotation_term(m.x, directions[0], m.xy @ within.xy.T)
    y = within.yy + _rotation_term(m.y, directions[1], m.xy.T @ within.xy)
    if isinstance(keep, float):
        spare_directions = int(m.n) - 1 - sum(directions)
        x = x + _dimension_term(m.x, directions[0], spare_directions, lambda kx: _mean(m, (kx, directions[1])))
        y = y + _dimension_term(m.y, directions[1], spare_directions, lambda ky: _mean(m, (directions[0], ky)))
    return Gradient(x, y, within.xy)


def recompute(m: Moments, x: Vectors, y: Vectors, weights: Iterable[Tensor], keep: float | int) -> np.ndarray:
    """The value for each set of sentence weights, with the directions chosen again.

    Computed in the leading directions of each side, more than twice as many as are kept: others could not come to be
    chosen. Nothing is returned where more than MAX_RECOMPUTED_DIRECTIONS are kept; one of them matters little then.
    """
    kept = _directions_per_side(m, keep)
    if max(kept) > MAX_RECOMPUTED_DIRECTIONS:
        return np.empty(0)
    source, target = _Leading(m.x, x, 2 * kept[0] + 10), _Leading(m.y, y, 2 * kept[1] + 10)
    return np.array([value(_weighted_moments(source, target, w), keep) for w in weights])


class _Leading:
    """The coordinates of every sentence in the leading principal directions, and its variance in the others."""

    def __init__(self, view: View, vectors: Vectors, count: int):
        basis = view.spectrum[1][:, :count]
        centred = (take(vectors, rows, "", basis.device) - view.mean for rows in spans(int(vectors.shape[0])))
        parts = [(block @ basis, block.square().sum(1)) for block in centred]
        self.coordinates = torch.cat([coordinates for coordinates, _ in parts])
        self.rest = torch.cat([squares for _, squares in parts]) - self.coordinates.square().sum(1)

    def view(self, weights: Tensor) -> tuple[View, Tensor]:
        """The weighted moments, and the centred coordinates."""
        mean = weights @ self.coordinates / weights.sum()
        centred = self.coordinates - mean
        scatter = (centred * weights[:, None]).T @ centred
        return View(float(weights.sum()), mean, scatter, float(weights @ self.rest)), centred


def _weighted_moments(x: _Leading, y: _Leading, weights: Tensor) -> Moments:
    (x_view, x_centred), (y_view, y_centred) = x.view(weights), y.view(weights)
    return Moments(x_view, y_view, (x_centred * weights[:, None]).T @ y_centred)


def _rotation_term(view: View, count: int, pull: Tensor) -> Tensor:
    """The part of the derivative by the scatter that comes from the rotation of the kept directions.

    First-order perturbation: the kept direction i gains vⱼᵀ·dS·vᵢ / (λᵢ − λⱼ) of the dropped direction j.
    """
    values, directions = view.spectrum
    inside, outside = directions[:, :count], directions[:, count:]
    noise = 2 * values.square() / view.n  # sampling variance of each eigenvalue, by normal theory
    inverse = damped_inverse(values[:count] - values[count:, None], noise[:count] + noise[count:, None])
    turned = outside @ ((outside.T @ pull @ inside) * inverse) @ inside.T
    return (turned + turned.T) / 2


def _dimension_term(view: View, count: int, spare_directions: int, similarity: Callable[[int], float]) -> Tensor:
    """The part that comes from a change of the number of directions, treated as continuous.

    With the share of variance of the first k directions s, another sample needs −ds·Σλ/λₖ more of them.
    """
    values, directions = view.spectrum
    step = max(1, count // 20)
    fewer, more = max(1, count - step), min(view.rank, count + step, count + spare_directions)
    if fewer == more:
        return torch.zeros_like(view.scatter)
    slope = (similarity(more) - similarity(fewer)) / (more - fewer)
    inside = directions[:, :count]
    change = inside @ inside.T
    change.diagonal().sub_(values[:count].sum() / values.sum())
    return change * (-slope / values[count - 1])


def _directions_per_side(m: Moments, keep: float | int) -> tuple[int, int]:
    return principal_directions(m.x, keep), principal_directions(m.y, keep)


def principal_directions(view: View, keep: float | int) -> int:
    """The number of principal directions that `keep` selects."""
    if isinstance(keep, int) and not isinstance(keep, bool) and keep >= 1:
        return min(keep, view.rank)
    if not (isinstance(keep, float) and 0 < keep <= 1):
        raise UsageError(f"expected keep= as a share of variance in (0, 1] or a number of directions, got {keep!r}")
    shares = view.spectrum[0].cumsum(0)
    # tolerance for rounding of the cumulated shares
    enough = int((shares < (shares[-1] + view.rest) * keep * (1 - 1e-12)).sum()) + 1
    return min(enough, view.rank)


def index(keep: float | int = DEFAULT_VARIANCE_SHARE) -> Index:
    """The index with this `keep`, for `compare`."""
    return Index(
        name="svcca" if keep == DEFAULT_VARIANCE_SHARE else f"svcca(keep={keep})",
        summary="SVCCA: mean CCA between the principal directions of each side",
        cost="O(n·d²) streamed, O(d³) for the decompositions, O(d²) memory",
        reference="Raghu et al. 2017",
        of_moments=lambda m: value(m, keep),
        gradient=lambda m: gradient(m, keep),
        recompute=lambda m, x, y, weights: recompute(m, x, y, weights, keep),
        note=lambda m: "kept {} and {} directions".format(*_directions_per_side(m, keep)),
    )


INDEX = index()
