"""What a stage is made with: versions and hardware, for whoever wants to know why a number is what it is."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

import isogloss
from isogloss.core.hardware import kind_of

PACKAGES = ("torch", "transformers", "tokenizers", "numpy", "polars")


@cache
def surroundings(device: str | None = None) -> dict[str, str]:
    """Facts by name; nothing that says whose machine it is.

    >>> surroundings("cpu")["isogloss"] == isogloss.__version__
    True
    """
    facts = {"isogloss": isogloss.__version__, "Python": platform.python_version()}
    facts |= {name: version(name) for name in PACKAGES}
    facts["system"] = f"{platform.system()} {platform.machine()}"
    facts["processor"] = f"{_processor()}, {os.cpu_count()} cores"
    if kind_of(device) == "cuda":
        import torch  # loaded by then, as a GPU is used

        facts |= {"GPU": torch.cuda.get_device_name(), "CUDA": str(torch.version.cuda)}
    return facts


def _processor() -> str:
    """The name that the system gives to its processor, where it has one."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or "unknown processor"
