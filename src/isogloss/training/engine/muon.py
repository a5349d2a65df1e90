"""Muon: matrices are updated with the orthogonal matrix nearest to their momentum; AdamW updates the rest.

With momentum M ← μM + G and Nesterov momentum N = G + μM, a matrix of shape (a, b) is updated by

    W ← W − η·(λW + 0.2·√max(a, b) · UVᵀ),   N = UΣVᵀ,

where UVᵀ is approximated by five steps of a quintic Newton–Schulz iteration, with singular values between about 0.7
and 1.2 (Jordan et al., *Muon: an optimizer for hidden layers in neural networks*, 2024). The factor gives updates of
the size of AdamW's, so that both use the same learning rate (Liu et al., *Muon is scalable for LLM training*, 2025).

Unlike `torch.optim.Muon`, matrices of the same shape are iterated as one batch: a network of twelve layers then needs
about sixty kernels per step instead of two thousand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import torch
from torch import Tensor, nn

MUON_MOMENTUM = 0.95
NEWTON_SCHULZ_ITERATIONS = 5
NEWTON_SCHULZ_COEFFICIENTS = (3.4445, -4.7750, 2.0315)


class Muon(torch.optim.Optimizer):
    """For matrices only; see the module's docstring."""

    def __init__(self, parameters: Iterable[nn.Parameter], learning_rate: float, weight_decay: float):
        super().__init__(list(parameters), {"lr": learning_rate, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[Tensor]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    by_shape[parameter.shape].append(parameter)
            for matrices in by_shape.values():
                self._update_matrices(matrices, group["lr"], group["weight_decay"])

    def _update_matrices(self, matrices: list[Tensor], rate: float, decay: float) -> None:
        gradients = [matrix.grad for matrix in matrices if matrix.grad is not None]
        momenta = [self._momentum(matrix) for matrix in matrices]
        torch._foreach_mul_(momenta, MUON_MOMENTUM)
        torch._foreach_add_(momenta, gradients)
        ahead = torch._foreach_add(gradients, momenta, alpha=MUON_MOMENTUM)
        direction = orthogonalize(torch.stack(ahead)).to(matrices[0].dtype)
        torch._foreach_mul_(matrices, 1 - rate * decay)
        torch._foreach_add_(matrices, direction.unbind(), alpha=-rate * 0.2 * max(matrices[0].shape) ** 0.5)

    def _momentum(self, matrix: Tensor) -> Tensor:
        state = self.state[matrix]
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(matrix)
        momentum: Tensor = state["momentum"]
        return momentum


def orthogonalize(matrices: Tensor) -> Tensor:
    """Approximate UVᵀ of each matrix in a batch; its singular values lie between about 0.7 and 1.2.

    >>> matrix = torch.diag(torch.tensor([4.0, 2.0, 1.0]))
    >>> bool((orthogonalize(matrix[None])[0].diagonal() - 1).abs().max() < 0.35)
    True
    """
    a, b, c = NEWTON_SCHULZ_COEFFICIENTS
    tall = matrices.shape[-2] > matrices.shape[-1]
    estimate = matrices.mT if tall else matrices
    if estimate.is_cuda:
        estimate = estimate.bfloat16()  # sufficient for the iteration
    estimate = estimate / estimate.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)
    for _ in range(NEWTON_SCHULZ_ITERATIONS):
        gram = estimate @ estimate.mT
        estimate = torch.baddbmm(estimate, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), estimate, beta=a)
    return estimate.mT if tall else estimate
