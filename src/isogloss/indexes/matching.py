"""Sentence matching: how often the nearest sentence of the other language is the translation.

What it measures: whether translations are nearest neighbours by cosine among all n sentences.
Formula:     share of i with cos(xᵢ, yᵢ) > cos(xᵢ, yⱼ) for every yⱼ that is another sentence than yᵢ (forward, from X to
             Y, the default), the same from Y to X (backward), or the mean of the two (both).
             Cosines that differ by less than 1e-12 tie, and a tie is a miss: a model that gives all sentences the same
             vector matches none. Every copy of a sentence is a correct answer (`repeats`).
             `centre` first subtracts each language's mean; `csls` replaces the cosine by
             2·cos(x, y) − r(x) − r(y), r the mean cosine to the 10 nearest of the other language.
Invariant:   isotropic scaling of either side; a rotation (or permutation) that is the same on both sides;
             with `centre` also translation.
Cost:        one float32 product of n²·d, in blocks: O(n·d + block·n) memory. Decisions within the rounding
             error of float32 are repeated in float64, so block size, device and precision of the product do not change
             the result. CSLS: two float64 products.
Reference:   Del & Fishel (2022); CSLS: Conneau et al. (2018), Word translation without parallel data.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.indexes.index import Index, Map, Sample
from isogloss.indexes.labels import DIRECTIONS, Direction
from isogloss.indexes.repeats import Repeats, repeated_rows, repeated_sentences
from isogloss.indexes.vectors import (
    BLOCK_ROWS,
    InvalidVectors,
    Vectors,
    as_tensor,
    check_parallel,
    check_shape,
    row_norms,
    spans,
    take,
)

CSLS_NEIGHBOURS = 10
TIED_COSINE_DIFFERENCE = 1e-12  # far above the rounding error of float64, far below any difference of two sentences


def matching_accuracy(
    X: Vectors,
    Y: Vectors,
    direction: Direction = "forward",
    centre: bool = False,
    csls: bool = False,
    sentences: tuple[Sequence[str], Sequence[str]] | None = None,
) -> float:
    """Share of sentences whose nearest neighbour in the other language is their translation.

    Args:
        X: Vectors of the source sentences.
        Y: Vectors of their translations.
        direction: "forward" from X to Y, "backward" from Y to X, or "both" for the mean of the two.
        centre: Subtract the mean of each side first.
        csls: Cross-domain similarity local scaling instead of the cosine.
        sentences: The text of each row of X and of Y, by which repeated sentences are recognised: every copy of the
            translation is a correct answer. By default, rows with the same vectors on both sides are copies.

    >>> import numpy as np
    >>> X = np.eye(4)
    >>> matching_accuracy(X, X), matching_accuracy(X, X[[1, 0, 2, 3]])
    (1.0, 0.5)
    """
    repeats = None if sentences is None else repeated_sentences(*sentences)
    return sample(X, Y, direction, centre, csls, repeats).value


def matches(
    X: Vectors, Y: Vectors, centre: bool = False, csls: bool = False, repeats: Repeats | None = None
) -> tuple[Tensor, Tensor]:
    """For each sentence, whether its translation is the nearest neighbour: from X to Y, and from Y to X."""
    n = check_parallel(X, Y)
    widths = check_shape(X, "X")[1], check_shape(Y, "Y")[1]
    if widths[0] != widths[1]:
        raise UsageError(f"cosines need X and Y of equal width, got {widths[0]} and {widths[1]} features")
    repeats = repeats or repeated_rows(X, Y)
    if len(repeats.y) != n:
        raise UsageError(f"expected a sentence for each of the {n} rows, got {len(repeats.y)}")
    exact = csls or torch.get_float32_matmul_precision() != "highest"  # products in float32 may be less precise then
    dtype = torch.float64 if exact else torch.float32
    x, y = _UnitVectors(X, "X", centre, dtype), _UnitVectors(Y, "Y", centre, dtype)
    copies = repeats.to(x.unit.device)
    if csls:
        return _hits(_similarities(x.unit, y.unit, copies, _csls_penalty(x.unit, y.unit)))
    similarities = _similarities(x.unit, y.unit, copies)
    hits = _hits(similarities)
    # below this margin, rounding may decide
    rounding_margin = torch.finfo(dtype).eps * x.unit.shape[1] ** 0.5 + TIED_COSINE_DIFFERENCE
    for side, ids, query, candidates in ((0, copies.y, x, y), (1, copies.x, y, x)):
        translation, other = similarities[side]
        undecided = ((translation - other).abs() <= rounding_margin).nonzero()[:, 0]
        for rows in undecided.split(BLOCK_ROWS):
            hits[side][rows] = _decide_exactly(query, candidates, rows, ids)
    return hits


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
        lengths = row_norms(values)
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


Similarities = tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]
"""For queries from X and from Y: the similarity to the translation, and the highest to another sentence."""


def _similarities(x: Tensor, y: Tensor, copies: Repeats, penalty: tuple[Tensor, Tensor] | None = None) -> Similarities:
    n = len(x)
    forward = x.new_full((n,), -torch.inf), x.new_full((n,), -torch.inf)
    backward = x.new_full((n,), -torch.inf), x.new_full((n,), -torch.inf)
    buffer = x.new_empty(min(BLOCK_ROWS, n), n)
    for rows in spans(n, BLOCK_ROWS):
        block = torch.mm(x[rows], y.T, out=buffer[: rows.stop - rows.start])
        if penalty is not None:
            block.mul_(2).sub_(penalty[0][rows, None]).sub_(penalty[1])
        if copies.count:
            for (translation, other), ids, dim in ((forward, copies.y, 1), (backward, copies.x, 0)):
                correct = ids[rows, None] == ids
                part = rows if dim else slice(0, n)
                for best, excluded in ((translation, ~correct), (other, correct)):
                    best[part] = torch.maximum(best[part], block.masked_fill(excluded, -torch.inf).amax(dim))
            continue
        diagonal = block.diagonal(rows.start)
        forward[0][rows] = backward[0][rows] = diagonal
        diagonal.fill_(-torch.inf)
        torch.amax(block, dim=1, out=forward[1][rows])
        torch.maximum(backward[1], block.amax(dim=0), out=backward[1])
    return forward, backward


def _hits(similarities: Similarities) -> tuple[Tensor, Tensor]:
    """A sentence without any other to choose from is a miss."""
    forward, backward = (
        (translation > other + TIED_COSINE_DIFFERENCE) & (other > -torch.inf) for translation, other in similarities
    )
    return forward, backward


def _decide_exactly(query: _UnitVectors, candidates: _UnitVectors, rows: Tensor, ids: Tensor) -> Tensor:
    """Whether the translation of each sentence is its nearest neighbour, in float64; a tie is a miss."""
    source = query.exact(rows)
    translation = source.new_full((len(rows),), -torch.inf)
    other = translation.clone()
    for span in spans(candidates.n):
        block = source @ candidates.exact(span).T
        correct = ids[rows, None] == ids[span]
        translation = torch.maximum(translation, block.masked_fill(~correct, -torch.inf).amax(1))
        other = torch.maximum(other, block.masked_fill(correct, -torch.inf).amax(1))
    hits: Tensor = translation > other + TIED_COSINE_DIFFERENCE
    return hits


def _csls_penalty(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    k = min(CSLS_NEIGHBOURS, len(x))
    of_x, of_y = (
        torch.cat([(query[rows] @ candidates.T).topk(k, dim=1).values.mean(1) for rows in spans(len(x), BLOCK_ROWS)])
        for query, candidates in ((x, y), (y, x))
    )
    return of_x, of_y


def sample(
    X: Vectors,
    Y: Vectors,
    direction: Direction = "forward",
    centre: bool = False,
    csls: bool = False,
    repeats: Repeats | None = None,
) -> Sample:
    check_name(direction, DIRECTIONS, "direction")
    check_parallel(X, Y)
    repeats = repeats or repeated_rows(X, Y)
    forward, backward = (hits.double() for hits in matches(X, Y, centre, csls, repeats))
    hits = {"forward": forward, "backward": backward, "both": (forward + backward) / 2}[direction]
    note = f"source to target {forward.mean():.4f}, target to source {backward.mean():.4f}"
    note += f"; {repeats.count} repeated sentences" if repeats.count else ""
    return Sample(float(hits.mean()), (hits - hits.mean()) / len(hits), note)


def index(direction: Direction = "forward", centre: bool = False, csls: bool = False) -> Index:
    """The index with these options, for `compare`."""
    check_name(direction, DIRECTIONS, "direction")
    options = [direction] * (direction != "forward") + ["centre"] * centre + ["csls"] * csls
    per_side: frozenset[Map] = frozenset({"isotropic scaling", "translation"} if centre else {"isotropic scaling"})
    return Index(
        name=f"matching({', '.join(options)})" if options else "matching",
        summary="sentence matching: is the nearest sentence of the other language the translation?",
        symmetric=direction == "both",
        invariances_per_side=per_side,
        joint_invariances=per_side | {"rotation", "permutation"},
        cost="O(n²·d) time, O(n·d) memory",
        reference="Del & Fishel 2022",
        proportion=True,
        of_vectors=lambda X, Y: sample(X, Y, direction, centre, csls),
        of_sentences=lambda X, Y, repeats: sample(X, Y, direction, centre, csls, repeats),
    )


INDEX = index()
