"""Where the weights of a model that is too large for one device go: over GPUs, main memory and disk.

The work is `accelerate`'s: what a device has no room for is kept in main memory or stays in its file, and is brought
to the device for the moment in which it is needed. Weights in safetensors are read where they lie, without a copy.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name

MAPS = ("auto", "balanced", "balanced_low_0", "sequential")
UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT]I?B)", re.IGNORECASE)

Limits = Mapping[Any, int | str]  # GPU number or "cpu" → bytes, or a size such as "20GB"


def placement(
    device_map: str | None, max_memory: Limits | None, offload_folder: str | os.PathLike[str] | None
) -> dict[str, Any]:
    """How the model library is told where weights go; nothing where all of them go to one device."""
    if device_map is None:
        if max_memory is not None or offload_folder is not None:
            raise UsageError("max_memory and offload_folder say how a device_map is filled; give device_map='auto' too")
        return {}
    return {
        "device_map": check_name(device_map, MAPS, "device_map"),
        "max_memory": None if max_memory is None else limits(max_memory),
        "offload_folder": None if offload_folder is None else os.fspath(offload_folder),
    }


def limits(max_memory: Limits) -> dict[int | str, int]:
    """The bytes that weights may take on each device; GPUs that are not named take none.

    >>> limits({"cpu": "1.5GB"})
    {'cpu': 1500000000}
    """
    found: dict[int | str, int] = {}
    for device, size in max_memory.items():
        gpu = str(device).isdecimal()
        if gpu and int(device) >= torch.cuda.device_count():
            raise UsageError(f"max_memory: GPU {device} named, but {torch.cuda.device_count()} CUDA devices are here")
        if not gpu and device != "cpu":
            raise UsageError(f"max_memory: expected the number of a GPU or cpu, got '{device}'")
        found[int(device) if gpu else "cpu"] = bytes_of(size)
    return found


def bytes_of(size: int | str) -> int:
    """
    >>> bytes_of("20GB"), bytes_of("512 MiB"), bytes_of(100)
    (20000000000, 536870912, 100)
    """
    if isinstance(size, int) and size >= 0:
        return size
    if match := SIZE.fullmatch(str(size).strip()):
        return int(float(match[1]) * UNITS[match[2].upper()])
    raise UsageError(f"max_memory: expected a size such as 20GB or 512MiB, got '{size}'")


def resolve_device(device: str | torch.device | None) -> torch.device:
    """The device of that name, if it is here; a GPU if there is one where none is named."""
    try:
        chosen = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    except RuntimeError:
        raise UsageError(f"unknown device '{device}'; known: cpu, cuda, cuda:1 …") from None
    if chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count():
        raise UsageError(f"device '{chosen}' asked for, but {torch.cuda.device_count()} CUDA devices are here")
    return chosen


def is_offloaded(network: nn.Module) -> bool:
    """Whether some weights are brought to their device only when they are needed."""
    return any(weights.is_meta for weights in network.parameters())


def execution_device(network: nn.Module) -> torch.device:
    """Where a network computes what comes first, which need not be where those weights are kept."""
    kept = next(network.parameters()).device
    if kept.type != "meta":
        return kept
    hooks = (getattr(module, "_hf_hook", None) for module in network.modules())
    places = (getattr(hook, "execution_device", None) for hook in hooks)
    place = next((place for place in places if place is not None), "cpu")
    return torch.device("cuda", place) if isinstance(place, int) else torch.device(place)
