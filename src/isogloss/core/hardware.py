"""Processors and GPUs that this process may use, detected without loading PyTorch."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator


def cores() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def gpus() -> int:
    """NVIDIA GPUs that this process may use."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([device for device in visible.split(",") if device.strip() and device.strip() != "-1"])
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return 0
    return sum(line.startswith("GPU ") for line in listed.stdout.splitlines())


def kind_of(device: str | None) -> str:
    """cpu or cuda; without a device, cuda if there is a GPU.

    >>> kind_of("cuda:1"), kind_of("cpu")
    ('cuda', 'cpu')
    """
    return device.partition(":")[0] if device else "cuda" if gpus() else "cpu"


@contextlib.contextmanager
def limited_threads(count: int) -> Iterator[None]:
    """Let PyTorch use `count` CPU threads; results depend on the number in their last bits."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
