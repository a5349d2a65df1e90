"""Stages that take no time, in place of the real ones: for tests of backends, jobs and the store.

`STAGE_FUNCTIONS` has a function for each kind of stage that a study without changed models needs. What the `trouble` of
a toy stage names happens once for every file that it gives: the file is removed when it happens.
"""

from __future__ import annotations

import json
import os
import signal
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

import isogloss
from isogloss.core.seeds import derive_seed
from isogloss.results.rows.curves import CURVE_COLUMNS, SHAPE_COLUMNS
from isogloss.results.rows.results import RESULT_COLUMNS
from isogloss.studies.execution.worker_context import WorkerContext
from isogloss.studies.planning.job import Job
from isogloss.studies.planning.stages import EvaluationStage, FineTuningStage, SimilarityStage, Stage


@dataclass(frozen=True)
class ToyStage(Stage):
    """The square of `number` plus the results of the stages that it needs."""

    number: int
    log: str = ""
    trouble: Mapping[str, str | int] = field(default_factory=dict)
    seconds: float = 0.0
    kind = "toy"


def compute_square(stage: ToyStage, folder: Path | None, context: WorkerContext) -> None:
    if stage.log:
        with open(stage.log, "a") as log:
            log.write(f"{stage.number}\n")
    for name, file in stage.trouble.items():
        if _happens(file):
            TROUBLE[name]()
    time.sleep(stage.seconds)
    needed = [json.loads(context.store.need(id).file("square.json").read_bytes()) for id in stage.needs]
    if folder:
        (folder / "square.json").write_text(json.dumps(stage.number**2 + sum(needed)))


def _happens(file: str | int) -> bool:
    """Once if a file is given, which is removed; always if 0 is given."""
    if file == 0:
        return True
    try:
        os.unlink(file)
    except FileNotFoundError:
        return False
    return True


def _fail() -> None:
    raise ValueError("no such square")


def _warn() -> None:
    """Twice as if from within the package, once from elsewhere."""
    for file in (isogloss.__file__, isogloss.__file__, __file__):
        warnings.warn_explicit(f"odd numbers in {Path(file).name}", UserWarning, file, lineno=1, registry={})


TROUBLE = {"warned": _warn, "killed": lambda: os.kill(os.getpid(), signal.SIGKILL), "failed": _fail}


def square(n: int, needs: tuple[str, ...] = (), **options: Any) -> Job:
    """A job of one stage."""
    stages = tuple(f"toy-{name}" for name in needs)
    options = {name: str(value) if name == "log" else value for name, value in options.items()}
    stage = ToyStage(f"toy-{n}", stages, n, **options)
    return Job(stage.id, f"square of {n}", (stage,), stages, module="toy_makers")


def compute_finetuning(stage: FineTuningStage, folder: Path | None, context: WorkerContext) -> None:
    time.sleep(float(os.environ.get("TOY_SECONDS", "0")))
    log = os.environ.get("TOY_LOG")
    if log:
        with open(log, "a") as file:
            file.write(f"{stage.id}\n")
    network: Any = stage.id
    context.networks[stage.id] = network
    if folder:
        (folder / "network").write_bytes(stage.id.encode() * 100)


def compute_similarity(stage: SimilarityStage, folder: Path | None, context: WorkerContext) -> None:
    """Curves that rise by 0.1 from layer to layer, the same for all."""
    assert folder
    (languages,) = (
        reference.removeprefix("lab:").partition("/")[0].split(",") for reference in stage.measure.parallel.values()
    )
    source = stage.source
    rows = [
        {"model": "", "source": source, "target": target, "index": index, "layer": layer, "stage": "block"}
        | {"value": layer / 10, "n": 1, "note": ""}
        for target in languages
        if target != source
        for index in stage.measure.indexes
        for layer in range(4)
    ]
    pl.DataFrame(rows, schema=CURVE_COLUMNS).write_parquet(folder / "curves.parquet")
    pl.DataFrame(schema=SHAPE_COLUMNS).write_parquet(folder / "shapes.parquet")


def compute_evaluation(stage: EvaluationStage, folder: Path | None, context: WorkerContext) -> None:
    """Scores that are a function of the identity, and of nothing else."""
    assert folder
    id = stage.needs[0]
    assert id in context.networks or context.store.need(id).file("network").read_bytes() == id.encode() * 100
    rows = [
        {"study": "", "run": "", "model": "", "changes": "", "task": stage.corpora.task, "metric": "accuracy"}
        | {"source": stage.corpora.source, "target": target, "split": "test", "seed": stage.seed, "n": 1}
        | {"value": derive_seed(0, stage.id, target) / 2**63}
        for target in stage.targets
    ]
    pl.DataFrame(rows, schema=RESULT_COLUMNS).write_parquet(folder / "rows.parquet")
    pl.DataFrame(rows, schema=RESULT_COLUMNS).write_parquet(folder / "predictions.parquet")


STAGE_FUNCTIONS = {
    ToyStage: compute_square,
    FineTuningStage: compute_finetuning,
    SimilarityStage: compute_similarity,
    EvaluationStage: compute_evaluation,
}
