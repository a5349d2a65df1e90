"""Several runs of a study at a time or as one network, against one after the other; on a GPU with and without MPS.

Workers are started for each line, so that every line includes their start.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

import isogloss as ig
from benchmarks import finetuning, mps
from benchmarks.table_1 import save_model
from isogloss.studies.execution.run_study import run_study

AT_A_TIME = 4


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
        ways = {"one after the other": (1, 1, False), f"{AT_A_TIME} at a time": (AT_A_TIME, 1, False)}
        if gpu and mps.available():
            ways[f"{AT_A_TIME} at a time, MPS"] = (AT_A_TIME, 1, True)
        ways["all as one network"] = (1, runs, False)
        first = 0.0
        for name, (number, stack, shared) in ways.items():
            with mps.service(Path(folder) / "mps") if shared else contextlib.nullcontext():
                seconds = _seconds(study, Path(folder) / name, number, stack)
            first = first or seconds
            print(f"{name:22} {seconds:8.2f} s   {first / seconds:5.2f} × one after the other")


def _seconds(study: dict[str, Any], store: Path, number: int, stack: int) -> float:
    start = time.perf_counter()
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    results = run_study(study, store=store, device=device, workers=number, per_gpu=number, stack=stack)
    assert not results.failed, results.failed
    return time.perf_counter() - start
