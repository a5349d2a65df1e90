"""AdamW as it is used for transformers: fused where it can be, no decay of biases and norms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import nn


class Rates(Protocol):
    """The part of a training's settings that concerns the optimizer."""

    @property
    def learning_rate(self) -> float: ...
    @property
    def weight_decay(self) -> float: ...


def adamw(parameters: Sequence[nn.Parameter], settings: Rates) -> torch.optim.AdamW:
    """Vectors and scalars (biases, norms) are not decayed; matrices are."""
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": settings.weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=settings.learning_rate, fused=True)
