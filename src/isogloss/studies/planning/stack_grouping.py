"""Stacked training of runs (see `training/stacking`): jobs that differ in weights and seeds only are joined."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from isogloss.core.errors import UsageError
from isogloss.core.hashing import digest
from isogloss.studies.execution.backends import Job, Stage
from isogloss.studies.schema.study import BILSTM


def joined(jobs: Sequence[Job], number: int, stages: Mapping[str, Stage]) -> list[Job]:
    """Jobs that train up to `number` networks each; `stages` are those of the plan.

    Runs of one seed come together first: they read the same batches.
    """
    if number < 1:
        raise UsageError(f"together: expected a whole number of at least 1, got {number}")
    if number == 1:
        return list(jobs)
    kin: dict[str, list[Job]] = {}
    for job in jobs:
        kin.setdefault(_kinship(job, stages), []).append(job)
    found = []
    for alike in kin.values():
        alike.sort(key=_seed)
        found += [_one(alike[start : start + number]) for start in range(0, len(alike), number)]
    return found


def most_alike(jobs: Sequence[Job], stages: Mapping[str, Stage]) -> int:
    """How many of one seed can be joined at the most: they read the same batches, and nothing pads another."""
    return max(Counter((_kinship(job, stages), _seed(job)) for job in jobs).values(), default=0)


def trainings(job: Job) -> list[Stage]:
    return [stage for stage in job.stages if stage.kind == "finetuned"]


def _kinship(job: Job, stages: Mapping[str, Stage]) -> str:
    """The same for jobs that can be joined: one fine-tuning each, alike but for weights and seed."""
    tuned = trainings(job)
    if len(tuned) != 1 or "continual" in tuned[0].recipe or _root(tuned[0].recipe["model"], stages) == BILSTM:
        return job.name
    recipe = tuned[0].recipe
    rest = {name: value for name, value in recipe.items() if name not in ("model", "seed")}
    return digest(rest, _root(recipe["model"], stages))


def _root(model: Mapping[str, Any], stages: Mapping[str, Stage]) -> str:
    """What a model was made from: others made from it have its shape and tokenizer, most likely."""
    while model["stored"]:
        stage = stages[model["stored"]]
        if stage.recipe["base"] is None and stage.recipe["stored"] is None:
            return stage.id
        model = stage.recipe
    return str(model["base"])


def _seed(job: Job) -> int:
    return next((stage.recipe["seed"] for stage in trainings(job)), 0)


def _one(jobs: Sequence[Job]) -> Job:
    first, *others = jobs
    if not others:
        return first
    stages = itertools.chain.from_iterable(job.stages for job in jobs)
    return replace(
        first,
        label=f"{first.label} and {len(others)} more",
        stages=tuple(sorted(stages, key=_measures)),  # all networks are in the store before anything else can fail
        needs=_once(job.needs for job in jobs),
        discard=_once(job.discard for job in jobs),
        seconds=sum(job.seconds for job in jobs),
    )


def _measures(stage: Stage) -> bool:
    return any(need.startswith("finetuned") for need in stage.needs)


def _once(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(itertools.chain.from_iterable(names)))
