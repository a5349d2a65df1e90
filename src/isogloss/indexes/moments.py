"""Streamed second moments, from which CKA, CCA, SVCCA, PWCCA, ANC and Procrustes are computed.

One `View` per language holds its number of sentences, mean and centred scatter Σ(x−x̄)(x−x̄)ᵀ; a pair adds
the cross scatter Σ(x−x̄)(y−ȳ)ᵀ. Blocks are merged by the update of Chan, Golub & LeVeque (1983) in float64
after subtracting the first sentence: a large offset loses no precision, a constant neuron has a scatter of
exactly zero, and memory is independent of the number of sentences, (views + pairs)·d² numbers. Products in
float32 were twice as fast (10,000 × 768, CPU), with errors of 1e-8 in CKA, CCA, PWCCA and ANC instead of 1e-15;
the errors grow where variances differ more, so float32 is not supported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import torch
from torch import Tensor

from isogloss.core.errors import UsageError
from isogloss.indexes.vectors import BLOCK_ROWS, Vectors, check_parallel, rescaled, spans, take

Pair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class View:
    """The moments of one set of vectors; its spectrum is computed once and serves every pair and index."""

    n: float  # sentences, or the sum of their weights
    mean: Tensor
    scatter: Tensor
    rest: float = 0.0  # variance in directions that were left out

    @cached_property
    def spectrum(self) -> tuple[Tensor, Tensor]:
        """Eigenvalues in descending order and their eigenvectors as columns."""
        values, directions = torch.linalg.eigh(self.scatter)
        return values.flip(0).clamp_min(0), directions.flip(1)

    @cached_property
    def rank(self) -> int:
        """Directions whose variance exceeds rounding error: d·10·2⁻⁵² of the largest."""
        values = self.spectrum[0]
        return int((values > values[0] * len(values) * 10 * torch.finfo(values.dtype).eps).sum())


@dataclass(frozen=True, eq=False)
class Moments:
    """The moments of two parallel sets of vectors; `memo` caches factorisations shared by several indexes."""

    x: View
    y: View
    xy: Tensor
    memo: dict[object, object] = field(default_factory=dict, repr=False)

    @property
    def n(self) -> float:
        return self.x.n

    @property
    def xx(self) -> Tensor:
        return self.x.scatter

    @property
    def yy(self) -> Tensor:
        return self.y.scatter


class Accumulator:
    """Moments of several parallel views and of chosen pairs of them, from one pass over blocks."""

    def __init__(self, pairs: Sequence[Pair]):
        self.names = list(dict.fromkeys(name for pair in pairs for name in pair))
        self.pairs = list(dict.fromkeys(pairs))
        self.n = 0.0
        self.mean: dict[str, Tensor] = {}
        self.scatter: dict[str, Tensor] = {}  # only the upper triangle is valid
        self.cross: dict[Pair, Tensor] = {}
        self._shift: dict[str, Tensor] = {}

    def add(self, blocks: Mapping[str, Tensor], weights: Tensor | None = None) -> None:
        """Add the next rows (float64) of every view, with optional weights per row."""
        if not self._shift:
            self._start(blocks)
        rows = {name: blocks[name] - self._shift[name] for name in self.names}
        n = float(weights.sum()) if weights is not None else float(len(rows[self.names[0]]))
        if n == 0:
            return
        means = {name: _mean(block, weights) for name, block in rows.items()}
        centred = {name: block.sub_(means[name]) for name, block in rows.items()}
        left = centred if weights is None else {name: block * weights[:, None] for name, block in centred.items()}
        for name in self.names:
            _add_upper(self.scatter[name], left[name], centred[name])
        for source, target in self.pairs:
            self.cross[source, target].addmm_(left[source].T, centred[target])
        self._move_means(n, means)

    def views(self) -> dict[str, View]:
        """The views; call once, so that pairs share their spectra."""
        if self.n <= 1:
            raise UsageError(f"expected at least 2 samples to compare, got {self.n:g}")
        self.scatter = {k: upper.triu() + upper.triu(1).T for k, upper in self.scatter.items()}
        return {k: View(self.n, self._shift[k] + self.mean[k], self.scatter[k]) for k in self.names}

    def _start(self, blocks: Mapping[str, Tensor]) -> None:
        for name in self.names:
            first = blocks[name][0].clone()
            self._shift[name], self.mean[name] = first, torch.zeros_like(first)
            self.scatter[name] = first.new_zeros(len(first), len(first))
        for source, target in self.pairs:
            self.cross[source, target] = self.mean[source].new_zeros(len(self.mean[source]), len(self.mean[target]))

    def _move_means(self, n: float, means: Mapping[str, Tensor]) -> None:
        """Merge `n` sentences with these means (their centred scatter has been added): Chan et al., Eq. 2.1."""
        steps = {name: means[name] - self.mean[name] for name in self.names}
        factor = self.n * n / (self.n + n)
        for name in self.names:
            self.scatter[name].addr_(steps[name], steps[name], alpha=factor)
            self.mean[name] = self.mean[name] + steps[name] * (n / (self.n + n))
        for source, target in self.pairs:
            self.cross[source, target].addr_(steps[source], steps[target], alpha=factor)
        self.n += n


def moments(x: Vectors, y: Vectors, weights: Tensor | None = None, block: int = BLOCK_ROWS) -> Moments:
    """The moments of two parallel sets; see `rescaled` for sets of very large or small numbers.

    >>> import numpy as np
    >>> moments(np.array([[1.0], [3.0]]), np.array([[0.0], [5.0]])).xy
    tensor([[5.]], dtype=torch.float64)
    """
    n = check_parallel(x, y)
    x, y = rescaled(x, "X"), rescaled(y, "Y")
    accumulator = Accumulator([("X", "Y")])
    for rows in spans(n, block):
        blocks = {"X": take(x, rows, "X"), "Y": take(y, rows, "Y")}
        accumulator.add(blocks, None if weights is None else weights[rows])
    views = accumulator.views()
    return Moments(views["X"], views["Y"], accumulator.cross["X", "Y"])


def _mean(block: Tensor, weights: Tensor | None) -> Tensor:
    return block.mean(0) if weights is None else weights @ block / weights.sum()


def _add_upper(scatter: Tensor, left: Tensor, right: Tensor, strips: int = 3) -> None:
    """Add the upper triangle of leftᵀ·right in strips: two thirds of the full product."""
    edges = [len(scatter) * i // strips for i in range(strips + 1)]
    for low, high in pairwise(edges):
        scatter[low:high, low:].addmm_(left[:, low:high].T, right[:, low:])
