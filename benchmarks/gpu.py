"""`make bench-gpu`: side by side on one GPU in one run, each with the floor that it is compared to.

Fine-tuning against the `Trainer` of transformers, extraction against a plain loop, adjustment against a loop over
words, pretraining against a plain compiled loop, steps with continual learning against those without, several runs at
a time against one after the other, and a slice of Table 1 with what the whole takes. Without a GPU all of it is done on
the CPU with small models.
"""

from __future__ import annotations

import platform
from importlib import import_module

import torch
import transformers

from benchmarks import floor
from isogloss import __version__

PARTS = ["finetuning", "extraction", "adjustment", "pretraining", "replay", "side_by_side", "table_1"]


def run(quick: bool = False) -> None:
    print(f"isogloss {__version__}, torch {torch.__version__}, transformers {transformers.__version__}, "
          f"Python {platform.python_version()}")  # fmt: skip
    print(floor.peaks())
    for name in PARTS:
        print(f"\n-- {name}")
        import_module(f"benchmarks.{name}").run(quick=quick)
