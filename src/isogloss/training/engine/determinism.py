"""The same numbers every time: deterministic sums, and randomness that belongs to a seed and to nothing else."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch


@contextlib.contextmanager
def reproducible(device: torch.device) -> Iterator[None]:
    """On the CPU, sums in the same order every time; the randomness of whoever calls is left as it was."""
    memory: Any = torch.utils.deterministic
    strict, fill = torch.are_deterministic_algorithms_enabled(), memory.fill_uninitialized_memory
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        try:
            if device.type == "cpu":
                torch.use_deterministic_algorithms(True)
                memory.fill_uninitialized_memory = False  # a guard against bugs that costs time
            yield
        finally:
            torch.use_deterministic_algorithms(strict)
            memory.fill_uninitialized_memory = fill


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """What is drawn inside comes from the seed; the randomness outside is left as it was."""
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        yield


def seed_step(seed: int, device: torch.device) -> None:
    """Seed what a step draws (dropout): its numbers do not depend on the steps before."""
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        torch.cuda.manual_seed(seed)
