"""Stages of a diagnosis that take no time, with scores that a test decides by what was done to the model.

`TOY_SCORES` is a JSON object from the description of a fine-tuning (`treatment`) to the share of words that are right.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.results.rows.results import RESULT_COLUMNS
from isogloss.studies.execution.worker_context import WorkerContext
from isogloss.studies.planning.stages import EvaluationStage, FineTuningStage, ModelStage

WORDS = 10  # of an item


def treatment(stage: FineTuningStage, stages: dict[str, str]) -> str:
    """`bilstm`, or what was done to the model and to the text, in one word each."""
    if stage.model.base == "bilstm":
        return "bilstm"
    stored = stages.get(stage.model.stored or "", "")
    done = [intervention.name for _, intervention in stage.model.interventions]
    noise = ["noise"] if "character_noise" in stage.settings else []
    switched = ["switched"] if any("switched" in reference for reference in stage.corpora.train) else []
    text = [change.name for change in stage.corpora.text_changes]
    return "+".join([*([stored] if stored else []), *done, *text, *noise, *switched]) or "plain"


def compute_model(stage: ModelStage, folder: Path | None, context: WorkerContext) -> None:
    assert folder
    before = [context.store.need(id).file("done").read_text() for id in stage.needs]
    (folder / "done").write_text("+".join([*before, *(change.name for _, change in stage.model.interventions)]))


def compute_finetuning(stage: FineTuningStage, folder: Path | None, context: WorkerContext) -> None:
    kind: Any = treatment(stage, {id: context.store.need(id).file("done").read_text() for id in stage.needs})
    with open(os.environ["TOY_LOG"], "a") as log:
        log.write(f"{kind} {stage.seed}\n")
    if kind == os.environ.get("TOY_FAILS"):
        raise UsageError("this remedy is not for toys")
    context.networks[stage.id] = kind
    if folder:
        (folder / "model").mkdir()
        (folder / "model" / "kind").write_text(f"{kind} {stage.seed}")


def compute_evaluation(stage: EvaluationStage, folder: Path | None, context: WorkerContext) -> None:
    assert folder
    kind, seed = str(context.networks[stage.needs[0]]), stage.seed
    score = json.loads(os.environ["TOY_SCORES"])[kind]
    rows, predictions = [], []
    for target, split in [(stage.corpora.source, "dev"), *((name, "test") for name in stage.targets)]:
        chance = random.Random(f"{kind} {seed} {target} {split}")
        right = [sum(chance.random() < score for _ in range(WORDS)) for _ in range(100)]
        facts = {"study": "", "run": "", "model": "", "changes": "", "task": stage.corpora.task, "seed": seed}
        facts |= {"source": stage.corpora.source, "target": target, "split": split}
        rows.append({**facts, "metric": "accuracy", "n": 100, "value": sum(right) / WORDS / 100})
        if split == "test":
            predictions += [
                {**facts, "item": i, "accuracy.correct": n, "accuracy.total": WORDS} for i, n in enumerate(right)
            ]
    pl.DataFrame(rows, schema=RESULT_COLUMNS).write_parquet(folder / "rows.parquet")
    pl.DataFrame(predictions).drop("split").write_parquet(folder / "predictions.parquet")


STAGE_FUNCTIONS = {ModelStage: compute_model, FineTuningStage: compute_finetuning, EvaluationStage: compute_evaluation}
