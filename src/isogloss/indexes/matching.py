"""Sentence matching: how often the nearest sentence of the other language is the translation.

What it measures: whether translations are nearest neighbours by cosine among all n sentences.
Formula:     share of i with cos(xᵢ, yᵢ) > cos(xᵢ, yⱼ) for every j ≠ i (forward, X to Y), the same from Y to X
             (backward), or the mean of the two (both). A tie counts as a miss: a model that gives all
             sentences the same vector matches none.
             `centre` first subtracts each language's mean; `csls` replaces the cosine by
             2·cos(x, y) − r(x) − r(y), r the mean cosine to the 10 nearest of the other language.
Invariant:   isotropic scaling of either side; a rotation (or permutation) that is the same on both sides;
             with `centre` also translation.
Cost:        one float32 product of n²·d, in blocks: O(n·d + block·n) memory. Decisions that float32 cannot
             make are made again in float64, so the block size does not matter. CSLS: two float64 products.
Reference:   Del & Fishel (2022); CSLS: Conneau et al. (2018), Word translation without parallel data.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from isogloss.core.registry import check_name
from isogloss.indexes.index import Index, Sample
from isogloss.indexes.vectors import InvalidVectors, Vectors, as_tensor, check_parallel, check_shape, spans, take

NEIGHBOURS = 10  # of CSLS
ROWS = 1024  # of the similarity matrix, at a time

Direction = Literal["both", "forward", "backward"]


def matching_accuracy(
    X: Vectors, Y: Vectors, direction: Direction = "both", centre: bool = False, csls: bool = False
) -> float:
    """Share of sentences whose nearest neighbour in the other language is their translation.

    >>> import numpy as np
    >>> X = np.eye(4)
    >>> matching_accuracy(X, X), matching_accuracy(X, X[[1, 0, 2, 3]])
    (1.0, 0.5)
    """
    return sample(X, Y, direction, centre, csls).value


def matches(X: Vectors, Y: Vectors, centre: bool = False, csls: bool = False) -> tuple[Tensor, Tensor]:
    """For each sentence whether X finds its translation in Y, and whether Y finds it in X."""
    check_parallel(X, Y)
    dtype = torch.float64 if csls else torch.float32
    x, y = _Directions(X, "X", centre, dtype), _Directions(Y, "Y", centre, dtype)
    if csls:
        return _csls(x.unit, y.unit)
    own, row_best, column_best = _best_others(x.unit, y.unit)
    # below this, rounding of float32 may have decided
    doubt = torch.finfo(torch.float32).eps * x.unit.shape[1] ** 0.5
    forward, backward = own > row_best, own > column_best
    for hits, best, one, other in ((forward, row_best, x, y), (backward, column_best, y, x)):
        doubtful = ((own - best).abs() <= doubt).nonzero()[:, 0]
        for rows in doubtful.split(ROWS):
            hits[rows] = _exact(one, other, rows)
    return forward, backward


class _Directions:
    """Vectors of unit length in working precision; exact rows on demand."""

    def __init__(self, vectors: Vectors, name: str, centre: bool, dtype: torch.dtype):
        self.vectors, self.name = vectors, name
        self.n = check_shape(vectors, name)[0]
        self.mean: Tensor | None = None
        if centre:
            self.mean = torch.stack([take(vectors, rows, name).sum(0) for rows in spans(self.n)]).sum(0) / self.n
        self.unit = torch.cat([self._working(rows, dtype) for rows in spans(self.n)])

    def exact(self, rows: slice | Tensor) -> Tensor:
        wanted = rows if isinstance(rows, slice) else rows.cpu().numpy()
        values = take(self.vectors, wanted, self.name)
        values = values if self.mean is None else values - self.mean
        lengths = values.square().sum(1, keepdim=True).sqrt()
        if not bool(lengths.all()):
            first = int((lengths[:, 0] == 0).nonzero()[0])
            row = int((wanted.start + first) if isinstance(wanted, slice) else wanted[first])
            raise InvalidVectors(self.name, row, "a zero vector", "a direction for every sentence")
        return values / lengths

    def _working(self, rows: slice, dtype: torch.dtype) -> Tensor:
        """Unit rows as exact as `dtype` holds them; float32 vectors of ordinary size need no detour."""
        raw = as_tensor(self.vectors[rows], self.name)
        if raw.dtype == dtype == torch.float32 and self.mean is None:
            lengths = torch.linalg.vector_norm(raw, dim=1, keepdim=True)
            if bool(((lengths > 1e-12) & (lengths < 1e12)).all()):
                unit: Tensor = raw / lengths
                return unit
        return self.exact(rows).to(dtype)


def _best_others(x: Tensor, y: Tensor, penalty: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Similarity to the translation, and the highest to any other sentence: per row and per column."""
    n = len(x)
    own, row_best = x.new_empty(n), x.new_empty(n)
    column_best = x.new_full((n,), -torch.inf)
    buffer = x.new_empty(min(ROWS, n), n)
    for rows in spans(n, ROWS):
        block = torch.mm(x[rows], y.T, out=buffer[: rows.stop - rows.start])
        if penalty is not None:
            block.mul_(2).sub_(penalty[0][rows, None]).sub_(penalty[1])
        diagonal = block.diagonal(rows.start)
        own[rows] = diagonal
        diagonal.fill_(-torch.inf)
        torch.amax(block, dim=1, out=row_best[rows])
        torch.maximum(column_best, block.amax(dim=0), out=column_best)
    return own, row_best, column_best


def _exact(one: _Directions, other: _Directions, rows: Tensor) -> Tensor:
    """Whether each of these sentences finds its translation, in float64; equal up to rounding is a tie."""
    source = one.exact(rows)
    own = (source * other.exact(rows)).sum(1)
    tie = torch.finfo(torch.float64).eps * source.shape[1] ** 0.5
    best = torch.full_like(own, -torch.inf)
    for span in spans(other.n):
        block = source @ other.exact(span).T
        inside = (rows >= span.start) & (rows < span.stop)
        block[inside, rows[inside] - span.start] = -torch.inf
        best = torch.maximum(best, block.amax(1))
    found: Tensor = own > best + tie
    return found


def _csls(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    k = min(NEIGHBOURS, len(x))
    near = [
        torch.cat([(one[rows] @ other.T).topk(k, dim=1).values.mean(1) for rows in spans(len(x), ROWS)])
        for one, other in ((x, y), (y, x))
    ]
    own, row_best, column_best = _best_others(x, y, (near[0], near[1]))
    tie = 4 * torch.finfo(torch.float64).eps * x.shape[1] ** 0.5
    return own > row_best + tie, own > column_best + tie


def sample(X: Vectors, Y: Vectors, direction: Direction = "both", centre: bool = False, csls: bool = False) -> Sample:
    check_name(direction, ["both", "forward", "backward"], "direction")
    forward, backward = (hits.double() for hits in matches(X, Y, centre, csls))
    hits = {"forward": forward, "backward": backward, "both": (forward + backward) / 2}[direction]
    note = f"X to Y {forward.mean():.4f}, Y to X {backward.mean():.4f}"
    return Sample(float(hits.mean()), (hits - hits.mean()) / len(hits), note)


def index(direction: Direction = "both", centre: bool = False, csls: bool = False) -> Index:
    """The index in one direction or with the options, for `compare`."""
    options = [direction] * (direction != "both") + ["centre"] * centre + ["csls"] * csls
    free: frozenset[Literal["isotropic scaling", "translation"]] = frozenset(
        {"isotropic scaling", "translation"} if centre else {"isotropic scaling"}
    )
    return Index(
        name=f"matching({', '.join(options)})" if options else "matching",
        summary="sentence matching: is the nearest sentence of the other language the translation?",
        bounds=(0, 1),
        symmetric=direction == "both",
        alone=free,
        together=free | {"rotation", "permutation"},
        cost="O(n²·d) time, O(n·d) memory",
        reference="Del & Fishel 2022",
        of_vectors=lambda X, Y: sample(X, Y, direction, centre, csls),
    )


INDEX = index()
