"""Placement of weights: one device, or several GPUs, main memory and disk for models larger than one device.

The distribution is done by `accelerate`: weights that do not fit on a device stay in main memory or in their file and
are moved to the device when they are needed. Weights in safetensors are read directly, without a copy.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

import torch
from torch import nn

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name

DEVICE_MAPS = ("auto", "balanced", "balanced_low_0", "sequential")
UNIT_PREFIXES = "KMGT"  # each is 1000 or, with "i", 1024 times the one before
SIZE_PATTERN = re.compile(rf"(\d+(?:\.\d+)?) ?([{UNIT_PREFIXES}])(I?)B", re.IGNORECASE)

Size = int | str  # bytes, or a size such as "20GB"
MemoryLimits = Mapping[int, Size] | Mapping[str, Size] | Mapping[int | str, Size]  # GPU number or "cpu" → size


def placement_options(
    device_map: str | None, max_memory: MemoryLimits | None, offload_folder: str | os.PathLike[str] | None
) -> dict[str, object]:
    """Arguments of `from_pretrained` for a device map; none for a single device."""
    if device_map is None:
        if max_memory is not None or offload_folder is not None:
            raise UsageError("max_memory and offload_folder need a device_map; pass device_map='auto', too")
        return {}
    return {
        "device_map": check_name(device_map, DEVICE_MAPS, "device_map"),
        "max_memory": None if max_memory is None else memory_limits(max_memory),
        "offload_folder": None if offload_folder is None else os.fspath(offload_folder),
    }


def memory_limits(max_memory: MemoryLimits) -> dict[int | str, int]:
    """The memory for weights on each device in bytes; unnamed GPUs are not used.

    >>> memory_limits({"cpu": "1.5GB"})
    {'cpu': 1500000000}
    """
    limits: dict[int | str, int] = {}
    for device, size in max_memory.items():
        gpu = str(device).isdecimal()
        if gpu and int(device) >= torch.cuda.device_count():
            raise UsageError(
                f"max_memory: GPU {device} not found: {torch.cuda.device_count()} CUDA devices are available"
            )
        if not gpu and device != "cpu":
            raise UsageError(f"max_memory: expected the number of a GPU or cpu, got '{device}'")
        limits[int(device) if gpu else "cpu"] = parse_size(size)
    return limits


def parse_size(size: Size) -> int:
    """
    >>> parse_size("20GB"), parse_size("512 MiB"), parse_size(100)
    (20000000000, 536870912, 100)
    """
    if isinstance(size, int) and size >= 0:
        return size
    if match := SIZE_PATTERN.fullmatch(str(size).strip()):
        factor = 1024 if match[3] else 1000
        return int(float(match[1]) * factor ** (1 + UNIT_PREFIXES.index(match[2].upper())))
    raise UsageError(f"max_memory: expected a size such as 20GB or 512MiB, got '{size}'")


def resolve_device(device: str | torch.device | None) -> torch.device:
    """The named device, checked for existence; without a name a GPU if there is one, otherwise the CPU."""
    try:
        chosen = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    except RuntimeError:
        raise UsageError(f"unknown device '{device}'; known: cpu, cuda, cuda:1 …") from None
    if chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count():
        raise UsageError(f"device '{chosen}' not found: {torch.cuda.device_count()} CUDA devices are available")
    return chosen


def is_offloaded(network: nn.Module) -> bool:
    """Whether some weights are moved to their device only when they are needed."""
    return any(weights.is_meta for weights in network.parameters())


def execution_device(network: nn.Module) -> torch.device:
    """The device on which a network computes its first module, which need not be where those weights are stored."""
    storage = next(network.parameters()).device
    if storage.type != "meta":
        return storage
    hooks = (getattr(module, "_hf_hook", None) for module in network.modules())
    places = (getattr(hook, "execution_device", None) for hook in hooks)
    place = next((place for place in places if place is not None), "cpu")
    return torch.device("cuda", place) if isinstance(place, int) else torch.device(place)
