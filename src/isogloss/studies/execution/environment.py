"""The versions and hardware that a stage was computed with, recorded with its result."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

import isogloss
from isogloss.core.hardware import kind_of

RECORDED_PACKAGES = ("torch", "transformers", "tokenizers", "numpy", "polars")


@cache
def environment(device: str | None = None) -> dict[str, str]:
    """Facts by name, without anything that identifies the machine's owner.

    >>> environment("cpu")["isogloss"] == isogloss.__version__
    True
    """
    facts = {"isogloss": isogloss.__version__, "Python": platform.python_version()}
    facts |= {name: version(name) for name in RECORDED_PACKAGES}
    facts["system"] = f"{platform.system()} {platform.machine()}"
    facts["processor"] = f"{_processor()}, {os.cpu_count()} cores"
    if kind_of(device) == "cuda":
        import torch  # already loaded where a GPU is used

        facts |= {"GPU": torch.cuda.get_device_name(), "CUDA": str(torch.version.cuda)}
    return facts


def _processor() -> str:
    """The processor's name as reported by the system."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"
