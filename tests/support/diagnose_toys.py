"""Stages of a diagnosis that are done in no time, with scores that a test decides: by what was done to the model.

`TOY_SCORES` is a JSON object from what a recipe says (`kind_of`) to the share of words that are right.
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
from isogloss.studies.execution.backends import Stage
from isogloss.studies.execution.jobs import Site

WORDS = 10  # of an item


def kind_of(recipe: dict[str, Any], stages: dict[str, str]) -> str:
    """`bilstm`, or what was done to the model and to the text, in one word each."""
    if recipe["model"]["base"] == "bilstm":
        return "bilstm"
    stored = stages.get(recipe["model"]["stored"] or "", "")
    done = [one["name"] for one in recipe["model"]["changes"]]
    noise = ["noise"] if "character_noise" in recipe["settings"] else []
    switched = ["switched"] if any("switched" in one for one in recipe["train"]) else []
    text = [one["name"] for one in recipe["text"]]
    return "+".join([*([stored] if stored else []), *done, *text, *noise, *switched]) or "plain"


def make_model(stage: Stage, folder: Path | None, site: Site) -> None:
    assert folder
    before = stage.recipe["stored"]
    told = [site.entry(before).file("done").read_text()] if before else []
    (folder / "done").write_text("+".join([*told, *(one["name"] for one in stage.recipe["changes"])]))


def make_finetuned(stage: Stage, folder: Path | None, site: Site) -> None:
    kind = kind_of(stage.recipe, {id: site.entry(id).file("done").read_text() for id in stage.needs})
    with open(os.environ["TOY_LOG"], "a") as log:
        log.write(f"{kind} {stage.recipe['seed']}\n")
    if kind == os.environ.get("TOY_FAILS"):
        raise UsageError("this remedy is not for toys")
    site.made[stage.id] = kind
    if folder:
        (folder / "model").mkdir()
        (folder / "model" / "kind").write_text(f"{kind} {stage.recipe['seed']}")


def make_evaluation(stage: Stage, folder: Path | None, site: Site) -> None:
    assert folder
    kind, seed = site.made[stage.needs[0]], stage.recipe["seed"]
    score = json.loads(os.environ["TOY_SCORES"])[kind]
    rows, predictions = [], []
    for target, split in [(stage.recipe["source"], "dev"), *((name, "test") for name in stage.recipe["targets"])]:
        chance = random.Random(f"{kind} {seed} {target} {split}")
        right = [sum(chance.random() < score for _ in range(WORDS)) for _ in range(100)]
        facts = {"study": "", "run": "", "model": "", "changes": "", "task": stage.recipe["task"], "seed": seed}
        facts |= {"source": stage.recipe["source"], "target": target, "split": split}
        rows.append({**facts, "metric": "accuracy", "n": 100, "value": sum(right) / WORDS / 100})
        if split == "test":
            predictions += [
                {**facts, "item": i, "accuracy.correct": n, "accuracy.total": WORDS} for i, n in enumerate(right)
            ]
    pl.DataFrame(rows, schema=RESULT_COLUMNS).write_parquet(folder / "rows.parquet")
    pl.DataFrame(predictions).drop("split").write_parquet(folder / "predictions.parquet")
