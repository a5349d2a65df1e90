"""AdamW as it is used for transformers: fused where it can be, no decay of biases and norms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor, nn


class Rates(Protocol):
    """The part of a training's settings that concerns the optimizer."""

    @property
    def learning_rate(self) -> float: ...
    @property
    def weight_decay(self) -> float: ...


def adamw(
    parameters: Sequence[nn.Parameter], settings: Rates, *, rate: Tensor | None = None, **adam: Any
) -> torch.optim.AdamW:
    """Vectors and scalars (biases, norms) are not decayed; matrices are.

    `rate`: holds the learning rate on the device, for steps that are recorded as CUDA graphs. `adam`: its β and ε,
    where they are not PyTorch's.
    """
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": settings.weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    used = [group for group in groups if group["params"]]
    if rate is None:
        return torch.optim.AdamW(used, lr=settings.learning_rate, fused=True, **adam)
    return torch.optim.AdamW(used, lr=rate, fused=True, capturable=rate.is_cuda, **adam)
