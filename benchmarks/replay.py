"""Continual learning: steps of fine-tuning with 16 sentence pairs replayed in each, against steps without.

The same tagger and sentences; what a step with replay has to do more is three passes over 32 more sentences and one of
the original model over 16. On a GPU a model of the size of BERT-base, on a CPU a small one, both with random weights.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

import isogloss as ig
from benchmarks import finetuning, floor
from isogloss.models.tokenization.encoding import encode_words
from isogloss.tasks import TASKS
from isogloss.training.adjustment.replay import alignment_replay
from isogloss.training.engine.settings import settings_for
from isogloss.training.finetuning.finetune import finetune

PAIRS = 16


def run(quick: bool = False) -> None:
    gpu = torch.cuda.is_available()
    lab, task = ig.Laboratory(seed=0), TASKS["pos"]
    sentences = finetuning.BATCH * (4 if quick else 200 if gpu else 20)
    bank, dev = lab.treebank("qla", "train", sentences), lab.treebank("qla", "dev", 32)
    bitext = lab.bitext("qla", "qlf", 200 if quick else 2000)
    model = finetuning.untrained(bank, finetuning.BASE if gpu else finetuning.SMALL)
    settings = settings_for(task.defaults, epochs=finetuning.EPOCHS, batch=finetuning.BATCH)
    steps = finetuning.EPOCHS * sentences // finetuning.BATCH
    replay = alignment_replay(bitext, pairs=PAIRS).bind(model, model, 0)
    alone = _seconds(lambda: finetune(model, task, bank, dev, settings))
    both = _seconds(lambda: finetune(model, task, bank, dev, settings, extra_loss=replay))
    lengths = finetuning.EPOCHS * finetuning.lengths_of(model, bank)
    task_work = floor.training(model, lengths, steps)
    sides = [[len(one) for one in encode_words(model, [getattr(pair, side) for pair in bitext])]
             for side in ("source", "target")]  # fmt: skip
    share = steps * PAIRS / len(bitext)  # how often each pair is read
    read, held = floor.reading(model, sides[0] + sides[1]).operations, floor.reading(model, sides[0]).operations
    work = task_work + floor.Work(share * (3 * read + held))
    print(f"{steps} steps of {finetuning.BATCH} sentences, with {PAIRS} pairs replayed in each, on {model.device}")
    print(f"without replay {1000 * alone / steps:8.2f} ms a step")
    print(f"with replay    {1000 * both / steps:8.2f} ms a step, {both / alone:.2f} × without")
    print(floor.told(task_work, floor.working_type(), alone, steps, "without replay"))
    print(floor.told(work, floor.working_type(), both, steps, "with replay"))


def _seconds(work: Callable[[], object]) -> float:
    """The second of two times on a GPU, where the first pays for loading kernels."""
    for _ in range(2 if torch.cuda.is_available() else 1):
        floor.wait()
        start = time.perf_counter()
        work()
        floor.wait()
    return time.perf_counter() - start
