"""Stages of a diagnosis that take no time, with scores that a test decides by what was done to the model.

`TOY_SCORES` is a JSON object from the description of a fine-tuning (`treatment`) to the share of words that are right.
`TOY_BEST` has the best learning rate and number of epochs of some; with others, the share is lower by `toy_loss`.
`TOY_UNFINISHED` and `TOY_ONE_CLASS` name a fine-tuning whose loss still falls, and one that predicts one class.
"""

from __future__ import annotations

import json
import math
import os
import random
from pathlib import Path
from typing import Any

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.results.rows.results import RESULT_COLUMNS
from isogloss.studies.execution.worker_context import WorkerContext
from isogloss.studies.planning.stages import EvaluationStage, FineTuningStage, ModelStage
from isogloss.training.engine.progress import EpochMetrics
from isogloss.training.finetuning.stored_results import write_log

WORDS, ITEMS = 10, 100  # words of an item
DEFAULTS = {"": {"learning_rate": 5e-5, "epochs": 6}, "bilstm": {"learning_rate": 3e-3, "epochs": 30}}  # of POS


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


def toy_loss(kind: str, settings: dict[str, Any]) -> float:
    """What other settings than the best cost: three points for each factor of two in the rate and in missing epochs."""
    best = json.loads(os.environ.get("TOY_BEST", "{}")).get(kind)
    if best is None:
        return 0.0
    rate, epochs = best
    steps = abs(math.log2(settings["learning_rate"] / rate)) + max(0.0, math.log2(epochs / settings["epochs"]))
    return 0.03 * steps


def compute_model(stage: ModelStage, folder: Path | None, context: WorkerContext) -> None:
    assert folder
    before = [context.store.need(id).file("done").read_text() for id in stage.needs]
    (folder / "done").write_text("+".join([*before, *(change.name for _, change in stage.model.interventions)]))


def compute_finetuning(stage: FineTuningStage, folder: Path | None, context: WorkerContext) -> None:
    kind = treatment(stage, {id: context.store.need(id).file("done").read_text() for id in stage.needs})
    with open(os.environ["TOY_LOG"], "a") as log:
        log.write(f"{kind} {stage.seed}\n")
    settings: Any = {**DEFAULTS["bilstm" if kind == "bilstm" else ""], **stage.settings}
    if settings["learning_rate"] > float(os.environ.get("TOY_DIVERGES_ABOVE", "inf")):
        raise UsageError("training diverged")
    if kind == os.environ.get("TOY_FAILS"):
        raise UsageError("this remedy is not for toys")
    network: Any = {"kind": kind, "settings": settings}
    context.networks[stage.id] = network
    if folder:
        (folder / "network.json").write_text(json.dumps(network))
        (folder / "model").mkdir()
        (folder / "model" / "kind").write_text(f"{kind} {stage.seed}")


def compute_evaluation(stage: EvaluationStage, folder: Path | None, context: WorkerContext) -> None:
    assert folder
    network: Any = context.networks.get(stage.needs[0])
    network = network or json.loads(context.store.need(stage.needs[0]).file("network.json").read_text())
    kind, seed = network["kind"], stage.seed
    score = json.loads(os.environ["TOY_SCORES"])[kind] - toy_loss(kind, network["settings"])
    rows, predictions = [], []
    for target, split in [(stage.corpora.source, "dev"), *((name, "test") for name in stage.targets)]:
        chance = random.Random(f"{kind} {seed} {target} {split}")
        right = [sum(chance.random() < score for _ in range(WORDS)) for _ in range(ITEMS)]
        facts = {"study": "", "run": "", "model": "", "changes": "", "task": stage.corpora.task, "seed": seed}
        facts |= {"source": stage.corpora.source, "target": target, "split": split}
        text = json.loads(os.environ.get("TOY_TEXT", "{}")).get(kind, {})  # readability by kind of system
        rows.append({**facts, "metric": "accuracy", "n": ITEMS, "value": sum(right) / WORDS / ITEMS, **text})
        if split == "test":
            predictions += [
                {**facts, "item": i, "accuracy.correct": n, "accuracy.total": WORDS} for i, n in enumerate(right)
            ]
    if kind == os.environ.get("TOY_UNFINISHED"):
        epochs = [(1, 0.5, 0.8), (2, 0.4, 0.9)]
        write_log([EpochMetrics(n, n, 2, loss, dev, dev, 1.0, 0) for n, loss, dev in epochs], folder)
    tag = '["NOUN"]' if kind == os.environ.get("TOY_ONE_CLASS") else '["NOUN", "VERB"]'
    predictions = [{**row, "gold": '["NOUN", "VERB"]', "prediction": tag} for row in predictions]
    pl.DataFrame(rows, schema=RESULT_COLUMNS).write_parquet(folder / "rows.parquet")
    pl.DataFrame(predictions).drop("split").write_parquet(folder / "predictions.parquet")


STAGE_FUNCTIONS = {ModelStage: compute_model, FineTuningStage: compute_finetuning, EvaluationStage: compute_evaluation}
