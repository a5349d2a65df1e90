"""Several processes that train together, as `torchrun` starts them: each takes a share of every step's items."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn


@dataclass(frozen=True)
class Workers:
    """This process among its fellows. Only the first writes files."""

    rank: int = 0
    count: int = 1

    @property
    def first(self) -> bool:
        return self.rank == 0

    def sum_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Every worker's gradients added up, in one message; a worker without items brings zeros."""
        if self.count == 1:
            return
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
        flat = self.sum(torch.cat([gradient.flatten() for gradient in gradients]))
        sizes = [parameter.numel() for parameter in parameters]
        for parameter, values in zip(parameters, torch.split(flat, sizes), strict=True):
            parameter.grad = values.view_as(parameter)

    def sum(self, value: Tensor) -> Tensor:
        """A tensor added up over the workers, in place."""
        if self.count > 1:
            distributed.all_reduce(value)
        return value

    def agreed(self, value: float, device: torch.device) -> float:
        """The first worker's value, so that all decide alike."""
        if self.count == 1:
            return value
        shared = torch.tensor([value], dtype=torch.float64, device=device)
        distributed.broadcast(shared, src=0)
        return float(shared)

    def wait(self) -> None:
        if self.count > 1:
            distributed.barrier()


def join() -> Workers:
    """Join the group that the environment names (RANK, WORLD_SIZE, …); alone where it names none.

    With GPUs, the process takes the one of its LOCAL_RANK: call this before any model is loaded.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return Workers()
    if not distributed.is_initialized():
        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
        distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    return Workers(distributed.get_rank(), distributed.get_world_size())
