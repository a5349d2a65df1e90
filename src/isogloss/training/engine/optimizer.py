"""Optimizers for transformers: fused AdamW, or Muon for the matrices within layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from isogloss.training.engine.muon import Muon


class OptimizerSettings(Protocol):
    """The settings of an optimizer."""

    @property
    def learning_rate(self) -> float: ...
    @property
    def weight_decay(self) -> float: ...


def adamw(
    parameters: Sequence[nn.Parameter],
    settings: OptimizerSettings,
    *,
    decayed: Sequence[bool] | None = None,
    rate: Tensor | None = None,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
) -> torch.optim.AdamW:
    """AdamW with weight decay for matrices, but not for vectors and scalars (biases, norms).

    `decayed`: the parameters with weight decay, where shapes do not determine them. `rate`: a tensor with the learning
    rate on the device, for steps recorded as CUDA graphs. `betas` and `eps` are those of Adam.
    """
    decayed = decayed or [p.ndim > 1 for p in parameters]
    groups = [
        {
            "params": [p for p, has_decay in zip(parameters, decayed, strict=True) if has_decay is decays],
            "weight_decay": share,
        }
        for decays, share in ((True, settings.weight_decay), (False, 0.0))
    ]
    nonempty = [group for group in groups if group["params"]]
    if rate is None:
        return torch.optim.AdamW(nonempty, lr=settings.learning_rate, fused=True, betas=betas, eps=eps)
    return torch.optim.AdamW(nonempty, lr=rate, fused=True, capturable=rate.is_cuda, betas=betas, eps=eps)


class CombinedOptimizer:
    """Several optimizers of different parameters as one."""

    def __init__(self, *parts: torch.optim.Optimizer):
        self.parts = parts

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        return [group for part in self.parts for group in part.param_groups]

    def step(self) -> None:
        for part in self.parts:
            part.step()

    def zero_grad(self) -> None:
        for part in self.parts:
            part.zero_grad()

    def state_dict(self) -> list[dict[str, Any]]:
        return [part.state_dict() for part in self.parts]

    def load_state_dict(self, states: list[dict[str, Any]]) -> None:
        for part, state in zip(self.parts, states, strict=True):
            part.load_state_dict(state)


def muon(network: nn.Module, settings: OptimizerSettings) -> CombinedOptimizer:
    """Muon for the matrices within layers; AdamW for embeddings, output embeddings, vectors and scalars."""
    tables = [table for table in network.modules() if isinstance(table, nn.Embedding)]
    vocabulary_size = max(table.num_embeddings for table in tables)
    embeddings = {id(table.weight) for table in tables}
    trained = [p for p in network.parameters() if p.requires_grad]
    matrices = [p for p in trained if p.ndim == 2 and id(p) not in embeddings and len(p) != vocabulary_size]
    remaining = {id(p) for p in trained} - {id(p) for p in matrices}
    adam = adamw([p for p in trained if id(p) in remaining], settings)
    return CombinedOptimizer(Muon(matrices, settings.learning_rate, settings.weight_decay), adam)
