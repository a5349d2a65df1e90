"""Debiased linear CKA: CKA without the pairs of a sentence with itself.

What it measures: as linear CKA; the expected value for unrelated vectors is 0 for any number of sentences.
Formula:     HSIC₁(X,Y) / √(HSIC₁(X,X)·HSIC₁(Y,Y)), HSIC₁ the unbiased estimator: Σ over i≠j of K̃ᵢⱼL̃ᵢⱼ with
             K̃ᵢⱼ = Kᵢⱼ + (aᵢ+aⱼ)/(n−2) − Σa/((n−1)(n−2)), K = XXᵀ centred, aᵢ = ‖xᵢ−x̄‖² (L and b: the same for Y).
             Row sums of K̃∘L̃ need no n×n matrix: they are quadratic forms in the scatter matrices.
Invariant:   as linear CKA. At least 4 sentences.
Cost:        O(n·d²) in three passes over blocks, O(d² + n) memory.
Reference:   Song, Smola, Gretton, Bedo & Borgwardt (2012), Feature selection via dependence maximization;
             Nguyen, Raghu & Kornblith (2021), Do wide and deep networks learn the same things?
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from isogloss.indexes.cka import kernel_alignment
from isogloss.indexes.index import Index, Sample
from isogloss.indexes.moments import moments
from isogloss.indexes.vectors import Vectors, check_parallel, rescaled, spans, take


def sample(X: Vectors, Y: Vectors) -> Sample:
    n = check_parallel(X, Y, minimum=4)
    X, Y = rescaled(X, "X"), rescaled(Y, "Y")
    m = moments(X, Y)

    def centred() -> Iterator[tuple[slice, Tensor, Tensor]]:
        for rows in spans(n):
            yield rows, take(X, rows, "X") - m.x.mean, take(Y, rows, "Y") - m.y.mean

    norms = m.xx.new_zeros(n, 2)  # a and b
    pull_x, pull_y = m.xx.new_zeros(len(m.xx), 2), m.yy.new_zeros(len(m.yy), 2)
    for rows, x, y in centred():
        norms[rows] = torch.stack([x.square().sum(1), y.square().sum(1)], dim=1)
        pull_x += x.T @ norms[rows]  # columns: Σ aⱼxⱼ, Σ bⱼxⱼ
        pull_y += y.T @ norms[rows]
    products = m.xx.new_zeros(3, n)
    for rows, x, y in centred():
        sides = ((x, y, m.xy, 0, 1), (x, x, m.xx, 0, 0), (y, y, m.yy, 1, 1))
        for out, (left, right, scatter, i, j) in zip(products, sides):
            pull = (pull_x if left is x else pull_y)[:, j], (pull_x if right is x else pull_y)[:, i]
            out[rows] = (left @ scatter * right).sum(1) + (left @ pull[0] + right @ pull[1]) / (n - 2)
    a, b = norms.T
    xy, xx, yy = products
    return kernel_alignment(_rows(xy, a, b), _rows(xx, a, a), _rows(yy, b, b))


def _rows(products: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Row sums of K̃∘L̃ over j≠i, from xᵢᵀ·XᵀY·yᵢ + (xᵢ·Σbⱼxⱼ + yᵢ·Σaⱼyⱼ)/(n−2); the remaining terms are norms."""
    n, products_of_norms = len(a), a * b
    diagonal = products_of_norms * (n / (n - 2))  # j = i in the three products
    off_diagonal = (products_of_norms.sum() - products_of_norms) / (n - 2) ** 2
    constant = a / (n - 2) - a.sum() / ((n - 1) * (n - 2))
    return products - diagonal + off_diagonal + constant * ((b.sum() - b) / (n - 2) - b)


INDEX = Index(
    name="debiased_cka",
    summary="linear CKA without its bias for few sentences: unrelated vectors give 0",
    bounds=(-1, 1),
    cost="O(n·d²) in three passes, O(d² + n) memory",
    reference="Song et al. 2012; Nguyen et al. 2021",
    of_vectors=sample,
)
