"""Reproducibility: deterministic algorithms, and random numbers that depend on a seed only."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch


@contextlib.contextmanager
def reproducible(device: torch.device) -> Iterator[None]:
    """Use deterministic algorithms on the CPU; the state of the caller's random generators is restored."""
    memory: Any = torch.utils.deterministic
    strict, fill = torch.are_deterministic_algorithms_enabled(), memory.fill_uninitialized_memory
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        try:
            if device.type == "cpu":
                torch.use_deterministic_algorithms(True)
                memory.fill_uninitialized_memory = False  # a debugging aid that costs time
            yield
        finally:
            torch.use_deterministic_algorithms(strict)
            memory.fill_uninitialized_memory = fill


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the random generators; their state is restored afterwards."""
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        yield


def seed_step(seed: int, device: torch.device) -> None:
    """Seed the dropout of a step, so that it does not depend on earlier steps."""
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        torch.cuda.manual_seed(seed)
