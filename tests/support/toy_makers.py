"""Stages that are done in no time, in place of real ones: for tests of what happens around them.

`make_…` have the names of the real makers, so that a whole study can be done with them. What a recipe's `trouble`
says happens once for every file that it names: such a file is a match that burns down.
"""

from __future__ import annotations

import json
import os
import signal
import time
import warnings
from pathlib import Path

import polars as pl

import isogloss
from isogloss.core.seeds import derive_seed
from isogloss.results.rows.curves import CURVE_COLUMNS, SHAPE_COLUMNS
from isogloss.results.rows.results import RESULT_COLUMNS
from isogloss.studies.execution.backends import Job, Stage
from isogloss.studies.execution.jobs import Site


def make_square(stage: Stage, folder: Path | None, site: Site) -> None:
    recipe = stage.recipe
    if "log" in recipe:
        with open(recipe["log"], "a") as log:
            log.write(f"{recipe['n']}\n")
    for name, match in recipe.get("trouble", {}).items():
        if _burns(match):
            TROUBLE[name]()
    time.sleep(recipe.get("seconds", 0))
    needed = [json.loads(site.entry(id).file("square.json").read_bytes()) for id in stage.needs]
    if folder:
        (folder / "square.json").write_text(json.dumps(recipe["n"] ** 2 + sum(needed)))


def _burns(match: str | int) -> bool:
    """Whether a match is left: a file that is removed, or always (0)."""
    if match == 0:
        return True
    try:
        os.unlink(match)
    except FileNotFoundError:
        return False
    return True


def _fail() -> None:
    raise ValueError("no such square")


def _warn() -> None:
    """Twice as if from within the package, once from elsewhere."""
    for file in (isogloss.__file__, isogloss.__file__, __file__):
        warnings.warn_explicit(f"odd numbers in {Path(file).name}", UserWarning, file, lineno=1, registry={})


TROUBLE = {
    "warned": _warn,
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "failed": _fail,
}


def square(n: int, needs: tuple[str, ...] = (), **recipe: object) -> Job:
    """A job of one stage."""
    stages = tuple(f"toy-{name}" for name in needs)
    stage = Stage(f"toy-{n}", "toy", "toy_makers:make_square", {"n": n, **recipe}, stages)
    return Job(stage.id, f"square of {n}", (stage,), stages)


def make_finetuned(stage: Stage, folder: Path | None, site: Site) -> None:
    time.sleep(float(os.environ.get("TOY_SECONDS", "0")))
    log = os.environ.get("TOY_LOG")
    if log:
        with open(log, "a") as file:
            file.write(f"{stage.id}\n")
    site.made[stage.id] = stage.id
    if folder:
        (folder / "network").write_bytes(stage.id.encode() * 100)


def make_similarity(stage: Stage, folder: Path | None, site: Site) -> None:
    """Curves that rise by 0.1 from layer to layer, the same for all."""
    assert folder
    (languages,) = (
        one.removeprefix("lab:").partition("/")[0].split(",") for one in stage.recipe["measure"]["parallel"].values()
    )
    source = stage.recipe["measure"]["source"]
    rows = [
        {"model": "", "source": source, "target": target, "index": index, "layer": layer, "stage": "block"}
        | {"value": layer / 10, "n": 1, "note": ""}
        for target in languages
        if target != source
        for index in stage.recipe["measure"]["indexes"]
        for layer in range(4)
    ]
    pl.DataFrame(rows, schema=CURVE_COLUMNS).write_parquet(folder / "curves.parquet")
    pl.DataFrame(schema=SHAPE_COLUMNS).write_parquet(folder / "shapes.parquet")


def make_evaluation(stage: Stage, folder: Path | None, site: Site) -> None:
    """Scores that are a function of the identity, and of nothing else."""
    assert folder
    tuned = stage.needs[0]
    assert tuned in site.made or site.entry(tuned).file("network").read_bytes() == tuned.encode() * 100
    rows = [
        {"study": "", "run": "", "model": "", "changes": "", "task": stage.recipe["task"], "metric": "accuracy"}
        | {"source": stage.recipe["source"], "target": target, "split": "test", "seed": stage.recipe["seed"], "n": 1}
        | {"value": derive_seed(0, stage.id, target) / 2**63}
        for target in stage.recipe["targets"]
    ]
    pl.DataFrame(rows, schema=RESULT_COLUMNS).write_parquet(folder / "rows.parquet")
    pl.DataFrame(rows, schema=RESULT_COLUMNS).write_parquet(folder / "predictions.parquet")
