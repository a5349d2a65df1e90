"""CKA with a Gaussian (RBF) kernel.

What it measures: as linear CKA, but dominated by near neighbours.
Formula:     Σ K̄∘L̄ / √(ΣK̄∘K̄ · ΣL̄∘L̄), Kᵢⱼ = exp(−‖xᵢ−xⱼ‖² / (2σ²)), doubly centred; σ² = the median of all
             squared distances of that side (the diagonal included, as in the authors' code), times `width`².
Invariant:   rotation, permutation, isotropic scaling and translation of either side.
Cost:        O(n²·d) time, exact, in blocks: O(block·n + n·d) memory. Four passes (two find the median).
Intervals:   the bandwidth is treated as fixed (its variation is about a tenth of the error).
Reference:   Kornblith et al. (2019); the code released with Muller et al. (2021) uses it on ~200 sentences.
"""

from __future__ import annotations

import torch
from torch import Tensor

from isogloss.core.errors import UsageError
from isogloss.indexes.cka import kernel_alignment
from isogloss.indexes.index import Index, Sample
from isogloss.indexes.vectors import Vectors, check_parallel, rescaled, spans, take

BLOCK_ROWS = 256  # of the kernel matrix per block
HISTOGRAM_BINS = 1 << 16


def sample(X: Vectors, Y: Vectors, width: float = 1.0) -> Sample:
    n = check_parallel(X, Y)
    X, Y = rescaled(X, "X"), rescaled(Y, "Y")
    kernels = [_Kernel(take(vectors, slice(0, n), name), width) for vectors, name in ((X, "X"), (Y, "Y"))]
    means = [torch.cat([kernel.rows(rows).mean(1) for rows in spans(n, BLOCK_ROWS)]) for kernel in kernels]
    sums = means[0].new_zeros(3, n)
    for rows in spans(n, BLOCK_ROWS):
        k, l = (kernel.rows(rows) - mean[rows, None] - mean + mean.mean() for kernel, mean in zip(kernels, means))
        sums[:, rows] = torch.stack([(k * l).sum(1), (k * k).sum(1), (l * l).sum(1)])
    return kernel_alignment(*sums)


class _Kernel:
    """Rows of a Gaussian kernel matrix, computed on demand."""

    def __init__(self, vectors: Tensor, width: float):
        self.vectors = vectors - vectors.mean(0)  # distances do not change; large offsets would lose precision
        self.norms = self.vectors.square().sum(1)
        self.scale = 2 * width**2 * self._median()

    def rows(self, rows: slice) -> Tensor:
        return torch.exp(self._distances(rows) / -self.scale)

    def _distances(self, rows: slice) -> Tensor:
        """Squared distances of some rows to all; exactly zero to themselves."""
        squared = self.norms[rows, None] + self.norms - 2 * self.vectors[rows] @ self.vectors.T
        squared.diagonal(rows.start).zero_()
        return squared.clamp_min_(0)

    def _median(self) -> float:
        """The median of all n² squared distances: found by a histogram, then exactly within its bin."""
        n = len(self.vectors)
        scale = HISTOGRAM_BINS / (float(self.norms.max()) * 4.0 + 1e-300)
        counts = torch.zeros(HISTOGRAM_BINS + 1, dtype=torch.long, device=self.norms.device)
        for rows in spans(n, BLOCK_ROWS):
            counts += torch.bincount((self._distances(rows) * scale).long().flatten(), minlength=HISTOGRAM_BINS + 1)
        below = counts.cumsum(0)
        middle = [(n * n - 1) // 2, n * n // 2]  # the two middle places, equal for odd n²
        bins = [int(torch.searchsorted(below, place, right=True)) for place in middle]
        inside = []
        for rows in spans(n, BLOCK_ROWS):
            distances = self._distances(rows).flatten()
            place = (distances * scale).long()
            inside.append(distances[(place >= bins[0]) & (place <= bins[1])])
        candidates = torch.cat(inside).sort().values
        skipped = int(below[bins[0]] - counts[bins[0]])
        median = float(sum(candidates[place - skipped] for place in middle)) / 2
        if not median > 0:
            raise UsageError("RBF CKA is not defined: at least half of the vectors are identical")
        return median


INDEX = Index(
    name="rbf_cka",
    summary="CKA with a Gaussian kernel: do both sets have the same near neighbours?",
    cost="O(n²·d) time, O(n·d) memory",
    reference="Kornblith et al. 2019",
    of_vectors=sample,
)
