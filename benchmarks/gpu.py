"""`make bench-gpu`: side by side on one GPU in one run, each with the floor that it is compared to.

Fine-tuning against the `Trainer` of transformers (its scores against a plain shuffled loop), extraction against a plain
loop, adjustment against a loop over words, pretraining against a plain compiled loop, steps with continual learning
against those without, and a slice of Table 1 with what the whole takes. Without a GPU all of it is done on the CPU with
small models.
Each part is a process of its own: it finds the GPU empty, and one that fails does not stop the others.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import time

import torch
import transformers

from benchmarks import floor
from isogloss import __version__

PARTS = ["finetuning", "finetuning_quality", "extraction", "adjustment", "pretraining", "replay", "table_1"]


def run(quick: bool = False) -> None:
    print(f"isogloss {__version__}, torch {torch.__version__}, transformers {transformers.__version__}, "
          f"Python {platform.python_version()}")  # fmt: skip
    print(floor.peaks(), flush=True)
    torch.cuda.empty_cache()
    failed = []
    for name in PARTS:
        start = time.perf_counter()
        command = [sys.executable, "-u", "-m", "benchmarks", name, *(["--quick"] if quick else [])]
        if subprocess.run(command).returncode:
            failed.append(name)
        print(f"({time.perf_counter() - start:.0f} s)", flush=True)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")
