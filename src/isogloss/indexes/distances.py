"""Distances of related and unrelated word pairs.

What it measures: whether translations (xᵢ, yᵢ) are closer to each other than unrelated words (xᵢ, yⱼ): the
             histograms of both, their overlap, how well a threshold separates them, and the share of the
             distance in a few dimensions.
Formula:     L2 or cosine distance. Unrelated pairs come from a seeded permutation without fixed points, used in
             both directions: two unrelated pairs per related pair. `separation` = P(‖xᵢ−yᵢ‖ < ‖xⱼ−yₖ‖, j≠k)
             + ½P(equal), the area under the ROC curve: one threshold for all words, not one for each word i;
             `overlap` = Σ over bins of the smaller of the two shares; `d_prime` = difference of means over the
             root of the mean variance.
Invariant:   the L2 separation: rotation, permutation, isotropic scaling and translation that are the same on
             both sides; no invariance to maps of one side.
Cost:        O(n·d) time, O(n) memory.
Reference:   Efimov, Boytsov, Arslanova & Braslavski (2023), The impact of cross-lingual adjustment of contextual
             word representations on zero-shot transfer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.core.seeds import Chance
from isogloss.indexes.index import Index, Sample
from isogloss.indexes.vectors import InvalidVectors, Vectors, check_parallel, check_shape, row_norms, spans, take

Metric = Literal["l2", "cosine"]


@dataclass(frozen=True, eq=False)
class Distances:
    """Distances of `n` related and `2n` unrelated pairs, and their histograms over the same bins."""

    related: np.ndarray
    unrelated: np.ndarray
    edges: np.ndarray
    related_counts: np.ndarray
    unrelated_counts: np.ndarray

    @property
    def overlap(self) -> float:
        """0 for histograms without a common bin, 1 for identical histograms."""
        shares = [counts / counts.sum() for counts in (self.related_counts, self.unrelated_counts)]
        return float(np.minimum(*shares).sum())

    @property
    def separation(self) -> float:
        return float(_placements(self.related, self.unrelated).mean())

    @property
    def d_prime(self) -> float:
        """Difference of the means in (pooled) standard deviations; infinite without any spread."""
        spread = np.sqrt((self.related.var() + self.unrelated.var()) / 2)
        gap = self.unrelated.mean() - self.related.mean()
        return float(gap / spread) if spread else float(np.copysign(np.inf, gap)) if gap else 0.0


def distances(X: Vectors, Y: Vectors, metric: Metric = "l2", bins: int = 50, seed: int = 0) -> Distances:
    """Distances of the related pairs (row i of X and of Y) and of unrelated pairs of the same words.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 8))
    >>> distances(X, X + 0.1).separation
    1.0
    """
    check_name(metric, ["l2", "cosine"], "metric")
    check_parallel(X, Y)
    related, unrelated = (part.cpu().numpy() for part in _pair_distances(X, Y, metric, seed))
    edges = np.histogram_bin_edges(np.concatenate([related, unrelated]), bins)
    counts = [np.histogram(part, edges)[0] for part in (related, unrelated)]
    return Distances(related, unrelated, edges, counts[0], counts[1])


def top_dimension_share(X: Vectors, Y: Vectors, top: Sequence[int] = (10, 100)) -> dict[int, float]:
    """Share of the summed squared distance of related pairs that the `k` largest dimensions carry.

    >>> top_dimension_share(np.zeros((2, 3)), np.array([[3.0, 1, 0], [3, 1, 0]]), top=[1, 2])
    {1: 0.9, 2: 1.0}
    """
    n = check_parallel(X, Y)
    squared = torch.stack([(take(X, s, "X") - take(Y, s, "Y")).square().sum(0) for s in spans(n)]).sum(0)
    largest = squared.sort(descending=True).values
    total = largest.sum()
    return {k: float(largest[:k].sum() / total) if total else 0.0 for k in top}


def sample(X: Vectors, Y: Vectors, seed: int = 0) -> Sample:
    """The separation; a sentence's influence is that of its related pair and of its two unrelated ones."""
    n = check_parallel(X, Y)
    tensors = _pair_distances(X, Y, "l2", seed)
    related, unrelated = (part.cpu().numpy() for part in tensors)
    above = _placements(related, unrelated)
    below = 1 - _placements(unrelated, related)
    value = above.mean()
    influence = (above - value) / n + (below.reshape(2, n).mean(0) - value) / n
    return Sample(float(value), torch.from_numpy(influence).to(tensors[0].device))


def derangement(n: int, seed: int) -> np.ndarray:
    """A random permutation of n ≥ 2 rows without fixed points: one cycle.

    >>> derangement(4, seed=0)
    array([3, 2, 0, 1])
    """
    order = np.array(Chance(seed, "unrelated pairs").shuffled(range(n)))
    partner = np.empty(n, dtype=np.int64)
    partner[order] = np.roll(order, 1)
    return partner


def _pair_distances(X: Vectors, Y: Vectors, metric: Metric, seed: int) -> tuple[Tensor, Tensor]:
    n = check_shape(X, "X")[0]
    partner = derangement(n, seed)
    related, forth, back = [], [], []
    for rows in spans(n):
        x, y = take(X, rows, "X"), take(Y, rows, "Y")
        related.append(_distance(x, y, metric, rows))
        forth.append(_distance(x, take(Y, partner[rows], "Y"), metric, rows))
        back.append(_distance(take(X, partner[rows], "X"), y, metric, rows))
    return torch.cat(related), torch.cat(forth + back)


def _distance(x: Tensor, y: Tensor, metric: Metric, rows: slice) -> Tensor:
    if metric == "l2":
        lengths = row_norms(x - y)[:, 0]
        if not bool(lengths.isfinite().all()):
            raise UsageError("the vectors are too large for distances in float64: scale X and Y by the same number")
        return lengths
    norms = row_norms(x), row_norms(y)
    zero = ((norms[0] == 0) | (norms[1] == 0))[:, 0]
    if bool(zero.any()):
        first = rows.start + int(zero.nonzero()[0])
        raise InvalidVectors("X or Y", first, "a zero vector", "a direction for every word")
    return 1 - (x / norms[0] * (y / norms[1])).sum(1)


def _placements(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """For each of `low` the share of `high` above it, ties count half."""
    ordered = np.sort(high)
    twice_below = np.searchsorted(ordered, low, side="left") + np.searchsorted(ordered, low, side="right")
    placements: np.ndarray = (len(high) - twice_below / 2) / len(high)
    return placements


INDEX = Index(
    name="separation",
    summary="L2 distance: are translations closer than unrelated words? (area under the ROC curve)",
    invariances_per_side=frozenset(),
    cost="O(n·d) time, O(n) memory",
    reference="Efimov et al. 2023",
    of_vectors=sample,
)
