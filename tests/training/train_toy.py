"""A small fine-tuning as a process of its own, for tests that kill it or run several: MODEL OUT [CHECKPOINT_STEPS]."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import torch

from toy import tiny_bert, treebank, without_dropout

SETTINGS = {"epochs": 3, "batch": 6, "learning_rate": 3e-3}


def main(model: str, out: str, steps: str = "") -> None:
    from isogloss.tasks import TASKS
    from isogloss.training.checkpoint import Checkpoints
    from isogloss.training.finetune import finetune
    from isogloss.training.settings import settings_for
    from isogloss.training.workers import join

    torch.set_num_threads(1)
    task, workers, loaded = TASKS["pos"], join(), tiny_bert(Path(model))
    if workers.count > 1 or not steps:  # dropout is drawn per worker
        loaded.body.config.hidden_dropout_prob = loaded.body.config.attention_probs_dropout_prob = 0.0  # type: ignore
        without_dropout(loaded.body)
    checkpoints = Checkpoints(Path(out) / "checkpoints", "toy", steps=int(steps)) if steps else None
    settings = settings_for(task.recipe, **SETTINGS)
    tuned = finetune(loaded, task, treebank(65), treebank(20, seed=1), settings, checkpoints=checkpoints)
    state = {"network": tuned.network.state_dict(), "scores": [report.score for report in tuned.log]}
    torch.save(state, Path(out) / f"final-{workers.rank}.pt")


if __name__ == "__main__":
    main(*sys.argv[1:])
