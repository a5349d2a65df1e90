"""MPS, NVIDIA's service by which the kernels of several processes run at a time instead of in turn."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

PROGRAM = "nvidia-cuda-mps-control"


def available() -> bool:
    return shutil.which(PROGRAM) is not None


@contextlib.contextmanager
def service(folder: Path) -> Iterator[None]:
    """Processes that are started within share the GPU by MPS; the service is this call's own, and ends with it."""
    places = {f"CUDA_MPS_{name}_DIRECTORY": str(folder / name.lower()) for name in ("PIPE", "LOG")}
    for place in places.values():
        Path(place).mkdir(parents=True, exist_ok=True)
    os.environ.update(places)
    subprocess.run([PROGRAM, "-d"], check=True)
    try:
        yield
    finally:
        subprocess.run([PROGRAM], input="quit\n", text=True, check=False)
        for name in places:
            del os.environ[name]
