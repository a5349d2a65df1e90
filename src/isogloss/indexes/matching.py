"""Sentence matching: how often the nearest sentence of the other language is the translation.

What it measures: whether translations are nearest neighbours by cosine among all n sentences.
Formula:     share of i with cos(xᵢ, yᵢ) > cos(xᵢ, yⱼ) for every j ≠ i (forward, X to Y), the same from Y to X
             (backward), or the mean of the two (both). A tie counts as a miss: a model that gives all
             sentences the same vector matches none.
             `centre` first subtracts each language's mean; `csls` replaces the cosine by
             2·cos(x, y) − r(x) − r(y), r the mean cosine to the 10 nearest of the other language.
Invariant:   isotropic scaling of either side; a rotation (or permutation) that is the same on both sides;
             with `centre` also translation.
Cost:        one float32 product of n²·d, in blocks: O(n·d + block·n) memory. Decisions within the rounding
             error of float32 are repeated in float64, so the block size does not change the result.
             CSLS: two float64 products.
Reference:   Del & Fishel (2022); CSLS: Conneau et al. (2018), Word translation without parallel data.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from isogloss.core.registry import check_name
from isogloss.indexes.index import Index, Map, Sample
from isogloss.indexes.vectors import (
    BLOCK_ROWS,
    InvalidVectors,
    Vectors,
    as_tensor,
    check_parallel,
    check_shape,
    spans,
    take,
)

CSLS_NEIGHBOURS = 10
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
    """For each sentence, whether its translation is the nearest neighbour: from X to Y, and from Y to X."""
    check_parallel(X, Y)
    dtype = torch.float64 if csls else torch.float32
    x, y = _UnitVectors(X, "X", centre, dtype), _UnitVectors(Y, "Y", centre, dtype)
    if csls:
        return _csls(x.unit, y.unit)
    translation_similarity, row_best, column_best = _similarities(x.unit, y.unit)
    # below this margin, float32 rounding may decide
    rounding_margin = torch.finfo(torch.float32).eps * x.unit.shape[1] ** 0.5
    forward, backward = translation_similarity > row_best, translation_similarity > column_best
    for hits, best, query, candidates in ((forward, row_best, x, y), (backward, column_best, y, x)):
        undecided = ((translation_similarity - best).abs() <= rounding_margin).nonzero()[:, 0]
        for rows in undecided.split(BLOCK_ROWS):
            hits[rows] = _decide_exactly(query, candidates, rows)
    return forward, backward


class _UnitVectors:
    """Vectors of unit length in working precision; exact rows on demand."""

    def __init__(self, vectors: Vectors, name: str, centre: bool, dtype: torch.dtype):
        self.vectors, self.name = vectors, name
        self.n = check_shape(vectors, name)[0]
        self.mean: Tensor | None = None
        if centre:
            self.mean = torch.stack([take(vectors, rows, name).sum(0) for rows in spans(self.n)]).sum(0) / self.n
        self.unit = torch.cat([self._working(rows, dtype) for rows in spans(self.n)])

    def exact(self, rows: slice | Tensor) -> Tensor:
        row_index = rows if isinstance(rows, slice) else rows.cpu().numpy()
        values = take(self.vectors, row_index, self.name)
        values = values if self.mean is None else values - self.mean
        lengths = values.square().sum(1, keepdim=True).sqrt()
        if not bool(lengths.all()):
            first = int((lengths[:, 0] == 0).nonzero()[0])
            row = int((row_index.start + first) if isinstance(row_index, slice) else row_index[first])
            raise InvalidVectors(self.name, row, "a zero vector", "a direction for every sentence")
        return values / lengths

    def _working(self, rows: slice, dtype: torch.dtype) -> Tensor:
        """Unit rows in `dtype`; float32 vectors of ordinary size are not converted to float64."""
        raw = as_tensor(self.vectors[rows], self.name)
        if raw.dtype == dtype == torch.float32 and self.mean is None:
            lengths = torch.linalg.vector_norm(raw, dim=1, keepdim=True)
            if bool(((lengths > 1e-12) & (lengths < 1e12)).all()):
                unit: Tensor = raw / lengths
                return unit
        return self.exact(rows).to(dtype)


def _similarities(x: Tensor, y: Tensor, penalty: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Similarity to the translation, and the highest to any other sentence: per row and per column."""
    n = len(x)
    translation_similarity, row_best = x.new_empty(n), x.new_empty(n)
    column_best = x.new_full((n,), -torch.inf)
    buffer = x.new_empty(min(BLOCK_ROWS, n), n)
    for rows in spans(n, BLOCK_ROWS):
        block = torch.mm(x[rows], y.T, out=buffer[: rows.stop - rows.start])
        if penalty is not None:
            block.mul_(2).sub_(penalty[0][rows, None]).sub_(penalty[1])
        diagonal = block.diagonal(rows.start)
        translation_similarity[rows] = diagonal
        diagonal.fill_(-torch.inf)
        torch.amax(block, dim=1, out=row_best[rows])
        torch.maximum(column_best, block.amax(dim=0), out=column_best)
    return translation_similarity, row_best, column_best


def _decide_exactly(query: _UnitVectors, candidates: _UnitVectors, rows: Tensor) -> Tensor:
    """Whether the translation of each sentence is its nearest neighbour, in float64; a tie is a miss."""
    source = query.exact(rows)
    translation_similarity = (source * candidates.exact(rows)).sum(1)
    tie = torch.finfo(torch.float64).eps * source.shape[1] ** 0.5
    best = torch.full_like(translation_similarity, -torch.inf)
    for span in spans(candidates.n):
        block = source @ candidates.exact(span).T
        inside = (rows >= span.start) & (rows < span.stop)
        block[inside, rows[inside] - span.start] = -torch.inf
        best = torch.maximum(best, block.amax(1))
    hits: Tensor = translation_similarity > best + tie
    return hits


def _csls(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    k = min(CSLS_NEIGHBOURS, len(x))
    neighbourhood_similarity = [
        torch.cat([(query[rows] @ candidates.T).topk(k, dim=1).values.mean(1) for rows in spans(len(x), BLOCK_ROWS)])
        for query, candidates in ((x, y), (y, x))
    ]
    penalty = (neighbourhood_similarity[0], neighbourhood_similarity[1])
    translation_similarity, row_best, column_best = _similarities(x, y, penalty)
    tie = 4 * torch.finfo(torch.float64).eps * x.shape[1] ** 0.5
    return translation_similarity > row_best + tie, translation_similarity > column_best + tie


def sample(X: Vectors, Y: Vectors, direction: Direction = "both", centre: bool = False, csls: bool = False) -> Sample:
    check_name(direction, ["both", "forward", "backward"], "direction")
    forward, backward = (hits.double() for hits in matches(X, Y, centre, csls))
    hits = {"forward": forward, "backward": backward, "both": (forward + backward) / 2}[direction]
    note = f"X to Y {forward.mean():.4f}, Y to X {backward.mean():.4f}"
    return Sample(float(hits.mean()), (hits - hits.mean()) / len(hits), note)


def index(direction: Direction = "both", centre: bool = False, csls: bool = False) -> Index:
    """The index with these options, for `compare`."""
    options = [direction] * (direction != "both") + ["centre"] * centre + ["csls"] * csls
    per_side: frozenset[Map] = frozenset({"isotropic scaling", "translation"} if centre else {"isotropic scaling"})
    return Index(
        name=f"matching({', '.join(options)})" if options else "matching",
        summary="sentence matching: is the nearest sentence of the other language the translation?",
        symmetric=direction == "both",
        invariances_per_side=per_side,
        joint_invariances=per_side | {"rotation", "permutation"},
        cost="O(n²·d) time, O(n·d) memory",
        reference="Del & Fishel 2022",
        of_vectors=lambda X, Y: sample(X, Y, direction, centre, csls),
    )


INDEX = index()
