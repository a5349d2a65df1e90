"""Metrics of training for progress bars and logs, and the error of a diverged run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import torch

from isogloss.core.errors import IsoglossError


@dataclass(frozen=True)
class EpochMetrics:
    """Metrics after every few steps, and with `score` after each epoch."""

    epoch: int  # counted from 1
    step: int
    steps: int
    loss: float  # mean since the epoch began
    score: float | None
    best: float | None
    tokens_per_second: float  # without padding
    peak_memory: int  # bytes


ProgressCallback = Callable[[EpochMetrics], None]


class DivergenceError(IsoglossError):
    """Training has diverged.

    >>> str(DivergenceError(40, 0.5)).partition(";")[0]
    'training diverged: the loss or its gradient is not finite by step 40 (learning rate 0.5)'
    """

    def __init__(self, step: int, learning_rate: float):
        super().__init__(
            f"training diverged: the loss or its gradient is not finite by step {step} (learning rate "
            f"{learning_rate:.3g}); lower learning_rate (--lr), use precision='fp32', or check the data"
        )


def peak_memory(device: torch.device) -> int:
    """Peak memory in bytes: of the GPU, or of this process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    if sys.platform == "win32":
        return 0  # not available
    import resource

    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else 1024 * size
