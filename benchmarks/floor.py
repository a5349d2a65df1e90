"""The least time that work can take on this machine: its operations and bytes over what the machine was seen to do.

A matrix product and a copy are timed in the same process, so that floor and measurement are of one device and one day.
Operations count the blocks' matrices and attention; embeddings, norms and heads are left out, as is usual. A training
step goes three times over them and then once over the optimizer's numbers, which cannot begin before it has gradients.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch

from isogloss.models.loading.loaded_model import LoadedModel

# AdamW reads a weight, its gradient and two moments, writes all but the gradient, all fp32, and a copy in bf16
OPTIMIZER = {"cuda": 7 * 4 + 2, "cpu": 7 * 4}


@dataclass(frozen=True)
class Work:
    """Operations of matrices, and bytes that have to be moved beside them."""

    operations: float
    traffic: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(self.operations + other.operations, self.traffic + other.traffic)

    def seconds(self, dtype: torch.dtype) -> float:
        """On the device of this benchmark, with numbers of this type."""
        return self.operations / matrix_speed(dtype) + self.traffic / copy_speed()


def reading(model: LoadedModel, lengths: Sequence[int]) -> Work:
    """A forward pass over sentences of these lengths, without padding."""
    weights = sum(one.numel() for block in model.blocks for one in block.parameters() if one.ndim == 2)
    tokens = np.asarray(lengths, dtype=np.float64)
    attention = 4 * model.layers * model.hidden_size * float((tokens**2).sum())
    return Work(2 * weights * float(tokens.sum()) + attention)


def training(model: LoadedModel, lengths: Sequence[int], steps: int) -> Work:
    """Forward and backward passes over sentences of these lengths, and as many steps of AdamW over all weights."""
    forward = reading(model, lengths).operations
    weights = sum(one.numel() for one in model.body.parameters())
    return Work(3 * forward, steps * weights * OPTIMIZER[model.device.type])


def told(work: Work, dtype: torch.dtype, seconds: float, steps: int = 1, unit: str = "") -> str:
    """One line: the work, its floor, and how many times longer it took; a step of it where there are several."""
    floor = work.seconds(dtype)
    each = f" {unit}" if unit else ""
    return (
        f"floor{each}: {work.operations / steps / 1e12:.3f} TFLOP and {work.traffic / steps / 1e9:.2f} GB "
        f"= {1000 * floor / steps:.2f} ms; measured {1000 * seconds / steps:.2f} ms, {seconds / floor:.1f} × the floor"
    )


def peaks() -> str:
    names = {torch.float32: "fp32"} | ({torch.bfloat16: "bf16"} if torch.cuda.is_available() else {})
    speeds = ", ".join(f"{matrix_speed(dtype) / 1e12:.2f} TFLOP/s in {name}" for dtype, name in names.items())
    return f"{device_name()}: {speeds}, {copy_speed() / 1e9:.0f} GB/s, measured"


def device_name() -> str:
    return torch.cuda.get_device_name() if torch.cuda.is_available() else f"CPU, {torch.get_num_threads()} threads"


def working_type() -> torch.dtype:
    """What training computes in on this device."""
    return torch.bfloat16 if torch.cuda.is_available() else torch.float32


@cache
def matrix_speed(dtype: torch.dtype) -> float:
    """Operations a second of a large product of square matrices."""
    size = 8192 if torch.cuda.is_available() else 1024
    one = torch.randn(size, size, device=_device()).to(dtype)
    return 2 * size**3 / _fastest(lambda: one @ one)


@cache
def copy_speed() -> float:
    """Bytes read and written a second by a large copy."""
    source = torch.zeros(2**28 if torch.cuda.is_available() else 2**24, device=_device())
    target = torch.empty_like(source)
    return 2 * source.nbytes / _fastest(lambda: target.copy_(source))


def _device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def _fastest(work: Callable[[], object], repeats: int = 8) -> float:
    """Seconds of the fastest of a few, after two to warm up."""
    times = []
    for _ in range(repeats + 2):
        wait()
        start = time.perf_counter()
        work()
        wait()
        times.append(time.perf_counter() - start)
    return min(times[2:])


def wait() -> None:
    """Until the GPU has done what was asked of it."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
