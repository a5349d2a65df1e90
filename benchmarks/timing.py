"""Timing shared by the benchmarks: best of a few runs, alternating so that a busy machine hurts all alike."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

SHARED = Path(os.environ.get("ISOGLOSS_SHARED", Path(__file__).parents[2] / "shared"))


def best_times(contenders: Mapping[str, Callable[[], object]], repeats: int = 3) -> dict[str, float]:
    """Seconds of the fastest of `repeats` runs of each contender, taken in turn."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, function in contenders.items():
            start = time.perf_counter()
            function()
            times[name].append(time.perf_counter() - start)
    return {name: min(values) for name, values in times.items()}


def report(times: Mapping[str, float], ours: str) -> None:
    """Each time, and how many times longer than ours it is."""
    width = max(map(len, times))
    for name, seconds in times.items():
        print(f"{name:{width}}  {seconds:8.3f} s  {seconds / times[ours]:6.2f} × ours")
