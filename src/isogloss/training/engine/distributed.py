"""Training in several processes, as `torchrun` starts them: each process trains on a share of every step's items."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn


@dataclass(frozen=True)
class WorkerGroup:
    """The rank of this process and the number of processes. Only the main process writes files."""

    rank: int = 0
    world_size: int = 1

    @property
    def is_main(self) -> bool:
        return self.rank == 0

    def all_reduce_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Sum the gradients of all workers in one message; a missing gradient counts as zeros."""
        if self.world_size == 1:
            return
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
        flat = self.all_reduce(torch.cat([gradient.flatten() for gradient in gradients]))
        sizes = [parameter.numel() for parameter in parameters]
        for parameter, values in zip(parameters, torch.split(flat, sizes), strict=True):
            parameter.grad = values.view_as(parameter)

    def all_reduce(self, value: Tensor) -> Tensor:
        """Sum a tensor over the workers, in place."""
        if self.world_size > 1:
            distributed.all_reduce(value)
        return value

    def broadcast(self, value: float, device: torch.device) -> float:
        """The main process's value, so that all workers take the same decision."""
        if self.world_size == 1:
            return value
        shared = torch.tensor([value], dtype=torch.float64, device=device)
        distributed.broadcast(shared, src=0)
        return float(shared)

    def barrier(self) -> None:
        if self.world_size > 1:
            distributed.barrier()


def init_distributed() -> WorkerGroup:
    """Join the process group of the environment (RANK, WORLD_SIZE, …); a group of one process if there is none.

    On GPUs, the process uses the GPU of its LOCAL_RANK: call this before any model is loaded.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return WorkerGroup()
    if not distributed.is_initialized():
        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
        distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    return WorkerGroup(distributed.get_rank(), distributed.get_world_size())
