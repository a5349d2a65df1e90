"""Optimizers for transformers: fused AdamW, or Muon for the matrices within layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.optim.optimizer import StateDict

from isogloss.training.engine.muon import Muon


def adamw(
    parameters: Sequence[nn.Parameter],
    learning_rate: float | Tensor,
    weight_decay: float,
    is_matrix: Callable[[Tensor], bool] = lambda weight: weight.ndim > 1,
    *,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
) -> torch.optim.AdamW:
    """AdamW with weight decay for matrices, but not for vectors and scalars (biases, norms).

    `learning_rate`: a tensor on the device for steps recorded as CUDA graphs. `betas` and `eps` are those of Adam.
    """
    groups = [
        {"params": [p for p in parameters if is_matrix(p) is decayed], "weight_decay": share}
        for decayed, share in ((True, weight_decay), (False, 0.0))
    ]
    nonempty = [group for group in groups if group["params"]]
    capturable = isinstance(learning_rate, Tensor) and learning_rate.is_cuda
    return torch.optim.AdamW(nonempty, lr=learning_rate, fused=True, capturable=capturable, betas=betas, eps=eps)


def divide_gradients(optimizer: torch.optim.Optimizer, divisor: Tensor) -> None:
    """Divide all gradients by a number in the next steps of a fused optimizer.

    The kernel of the optimizer divides while it reads, which saves a pass over all gradients. PyTorch's `GradScaler`
    uses the same attribute.
    """
    optimizer.grad_scale = divisor  # type: ignore[attr-defined]


class CombinedOptimizer:
    """Several optimizers of different parameters as one."""

    def __init__(self, *parts: torch.optim.Optimizer):
        self.parts = parts

    @property
    def param_groups(self) -> list[StateDict]:
        return [group for part in self.parts for group in part.param_groups]

    def step(self) -> None:
        for part in self.parts:
            part.step()

    def zero_grad(self) -> None:
        for part in self.parts:
            part.zero_grad()

    def state_dict(self) -> list[StateDict]:
        return [part.state_dict() for part in self.parts]

    def load_state_dict(self, states: list[StateDict]) -> None:
        for part, state in zip(self.parts, states, strict=True):
            part.load_state_dict(state)


def muon(network: nn.Module, learning_rate: float, weight_decay: float) -> CombinedOptimizer:
    """Muon for the matrices within layers; AdamW for embeddings, output embeddings, vectors and scalars."""
    tables = [table for table in network.modules() if isinstance(table, nn.Embedding)]
    vocabulary_size = max(table.num_embeddings for table in tables)
    embeddings = {id(table.weight) for table in tables}
    trained = [p for p in network.parameters() if p.requires_grad]
    matrices = [p for p in trained if p.ndim == 2 and id(p) not in embeddings and len(p) != vocabulary_size]
    orthogonalized = {id(p) for p in matrices}
    adam = adamw([p for p in trained if id(p) not in orthogonalized], learning_rate, weight_decay)
    return CombinedOptimizer(Muon(matrices, learning_rate, weight_decay), adam)
