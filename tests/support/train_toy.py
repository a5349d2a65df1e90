"""A small fine-tuning to be run in a process of its own, by tests that kill it or run two that work together."""

from __future__ import annotations

import os
from pathlib import Path

import torch
from toy import tiny_bert, treebank

from isogloss.tasks import TASKS
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.distributed import init_distributed
from isogloss.training.engine.settings import settings_for
from isogloss.training.finetuning.finetune import finetune

SETTINGS = {"epochs": 3, "batch": 6, "learning_rate": 3e-3}


def train_toy(model: str, out: str, steps: int | None, dropout: float, environment: dict[str, str]) -> None:
    """Fine-tune with a checkpoint every `steps` steps, and leave weights and scores in `out`."""
    os.environ.update(environment)
    torch.set_num_threads(1)
    task, workers, loaded = TASKS["pos"], init_distributed(), tiny_bert(Path(model))
    config = loaded.body.config
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout  # type: ignore[union-attr]
    for module in loaded.body.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = dropout
    checkpoints = Checkpoints(Path(out) / "checkpoints", "toy", steps=steps) if steps else None
    settings = settings_for(task.defaults, **SETTINGS)
    tuned = finetune(loaded, task, treebank(65), treebank(20, seed=1), settings, checkpoints=checkpoints)
    state = {"network": tuned.network.state_dict(), "scores": [report.score for report in tuned.log]}
    state["losses"] = [report.loss for report in tuned.log]
    torch.save(state, Path(out) / f"final-{workers.rank}.pt")
