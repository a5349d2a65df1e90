"""Several runs of a study that share a device, against one after the other; on a GPU with and without MPS.

MPS, NVIDIA's service by which the kernels of several processes run at a time instead of in turn, is started for the
time of the benchmark where its program is there. Workers are started anew for each line, so that all pay for it alike.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

import isogloss as ig
from benchmarks import finetuning
from benchmarks.table_1 import save_model
from isogloss.studies.run import run_study

MPS = "nvidia-cuda-mps-control"


def run(quick: bool = False) -> None:
    gpu = torch.cuda.is_available()
    runs, sentences = (8, 4000) if gpu and not quick else (2, 64)
    with tempfile.TemporaryDirectory() as folder:
        bank = ig.Laboratory(seed=0).treebank("qla", "train", sentences)
        model = save_model(finetuning.untrained(bank, finetuning.BASE if gpu else finetuning.SMALL), Path(folder))
        study: dict[str, Any] = {
            "name": "side-by-side",
            "model": str(model),
            "task": "pos",
            "sources": {"qla": {"train": f"lab:qla/train/{sentences}", "dev": "lab:qla/dev/50"}},
            "targets": {"qla": "lab:qla/test/50"},
            "settings": {"epochs": 2, "batch": 32},
            "seeds": runs,
            "networks": "discard",
        }
        print(f"{runs} runs of {2 * sentences // 32} steps, on {'one GPU' if gpu else 'the CPU'}")
        first = 0.0
        for number in (1, 2, 4, 8) if gpu and not quick else (1, 2):
            for shared in (False, True) if gpu and number > 1 and shutil.which(MPS) else (False,):
                with mps(Path(folder) / "mps") if shared else contextlib.nullcontext():
                    seconds = _seconds(study, Path(folder) / f"{number}-{shared}", number)
                first = first or seconds
                with_mps = ", MPS" if shared else ""
                print(f"{number} at a time{with_mps:6} {seconds:8.2f} s   {first / seconds:5.2f} × one after the other")


def _seconds(study: dict[str, Any], store: Path, number: int) -> float:
    start = time.perf_counter()
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    results = run_study(study, store=store, device=device, workers=number, per_gpu=number)
    assert not results.failed, results.failed
    return time.perf_counter() - start


@contextlib.contextmanager
def mps(folder: Path) -> Iterator[None]:
    """Processes that are started within share the GPU by MPS; the service is this call's own, and ends with it."""
    places = {f"CUDA_MPS_{name}_DIRECTORY": str(folder / name.lower()) for name in ("PIPE", "LOG")}
    for place in places.values():
        Path(place).mkdir(parents=True, exist_ok=True)
    os.environ.update(places)
    subprocess.run([MPS, "-d"], check=True)
    try:
        yield
    finally:
        subprocess.run([MPS], input="quit\n", text=True, check=False)
        for name in places:
            del os.environ[name]
