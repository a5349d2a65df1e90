"""Muon: matrices are moved along the nearest orthogonal matrix to their momentum; everything else by AdamW.

With momentum M ← μM + G and Nesterov's look ahead N = G + μM, a matrix of shape (a, b) changes by

    W ← W − η·(λW + 0.2·√max(a, b) · UVᵀ),   N = UΣVᵀ,

where UVᵀ is found by five steps of a quintic Newton–Schulz iteration, in which singular values end between about 0.7
and 1.2 (Jordan et al., *Muon: an optimizer for hidden layers in neural networks*, 2024). The factor gives the changes
the size that AdamW's have, so that both take the same rate (Liu et al., *Muon is scalable for LLM training*, 2025).

By hand, and not `torch.optim.Muon`, because matrices of one shape go through the iteration together: a network of
twelve layers then needs some sixty kernels a step in the stead of two thousand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

MOMENTUM = 0.95
ITERATIONS = 5
COEFFICIENTS = (3.4445, -4.7750, 2.0315)


class Muon(torch.optim.Optimizer):
    """For matrices only; see the module's docstring."""

    def __init__(self, parameters: Iterable[nn.Parameter], learning_rate: float, weight_decay: float):
        super().__init__(list(parameters), {"lr": learning_rate, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            alike: dict[torch.Size, list[Tensor]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    alike[parameter.shape].append(parameter)
            for matrices in alike.values():
                self._move(matrices, group["lr"], group["weight_decay"])

    def _move(self, matrices: list[Tensor], rate: float, decay: float) -> None:
        gradients: Any = [matrix.grad for matrix in matrices]
        momenta = [self._momentum(matrix) for matrix in matrices]
        torch._foreach_mul_(momenta, MOMENTUM)
        torch._foreach_add_(momenta, gradients)
        ahead = torch._foreach_add(gradients, momenta, alpha=MOMENTUM)
        direction = orthogonal(torch.stack(ahead)).to(matrices[0].dtype)
        torch._foreach_mul_(matrices, 1 - rate * decay)
        torch._foreach_add_(matrices, direction.unbind(), alpha=-rate * 0.2 * max(matrices[0].shape) ** 0.5)

    def _momentum(self, matrix: Tensor) -> Tensor:
        state = self.state[matrix]
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(matrix)
        momentum: Tensor = state["momentum"]
        return momentum


def orthogonal(matrices: Tensor) -> Tensor:
    """UVᵀ of each of the stacked matrices, nearly: its singular values lie between about 0.7 and 1.2.

    >>> matrix = torch.diag(torch.tensor([4.0, 2.0, 1.0]))
    >>> bool((orthogonal(matrix[None])[0].diagonal() - 1).abs().max() < 0.35)
    True
    """
    a, b, c = COEFFICIENTS
    tall = matrices.shape[-2] > matrices.shape[-1]
    found = matrices.mT if tall else matrices
    if found.is_cuda:
        found = found.bfloat16()  # the iteration does not need more
    found = found / found.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)
    for _ in range(ITERATIONS):
        gram = found @ found.mT
        found = torch.baddbmm(found, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), found, beta=a)
    return found.mT if tall else found
