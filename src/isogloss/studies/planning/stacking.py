"""Stacked training (see `training/stacking`): jobs that differ only in weights and seeds are joined into one job."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from isogloss.core.errors import UsageError
from isogloss.core.hashing import digest
from isogloss.studies.planning.job import Job
from isogloss.studies.planning.stages import ModelSpec, ModelStage, Stage
from isogloss.studies.schema.study import BILSTM


def stack_jobs(jobs: Sequence[Job], size: int, stages: Mapping[str, Stage]) -> list[Job]:
    """Jobs that train stacks of up to `size` networks; `stages` are those of the plan.

    Runs with the same seed are stacked first, because they read the same batches.
    """
    if size < 1:
        raise UsageError(f"stack: expected a whole number of at least 1, got {size}")
    if size == 1:
        return list(jobs)
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        groups.setdefault(stack_key(job, stages), []).append(job)
    stacks = []
    for group in groups.values():
        group.sort(key=_seed)
        stacks += [_joined(group[start : start + size]) for start in range(0, len(group), size)]
    return stacks


def largest_stack(jobs: Sequence[Job], stages: Mapping[str, Stage]) -> int:
    """The largest number of runs with one seed that can be stacked: they read the same batches, without padding."""
    return max(Counter((stack_key(job, stages), _seed(job)) for job in jobs).values(), default=0)


def stack_key(job: Job, stages: Mapping[str, Stage]) -> str:
    """The same for jobs that can be stacked: one fine-tuning each, equal except for weights and seed."""
    if len(job.finetunings) != 1:
        return job.name
    (stage,) = job.finetunings
    root = _root(stage.model, stages)
    if stage.continual or root == BILSTM:
        return job.name
    fields = {name: value for name, value in stage.to_json().items() if name in ("corpora", "settings")}
    return digest(fields, root)


def _root(model: ModelSpec, stages: Mapping[str, Stage]) -> str:
    """What a model was derived from: models derived from it usually have its shape and tokenizer."""
    while model.stored:
        stage = stages[model.stored]
        assert isinstance(stage, ModelStage)
        if stage.model.base is None and stage.model.stored is None:
            return stage.id
        model = stage.model
    return str(model.base)


def _seed(job: Job) -> int:
    return job.finetunings[0].seed if job.finetunings else 0


def _joined(jobs: Sequence[Job]) -> Job:
    first, *others = jobs
    if not others:
        return first
    stages = itertools.chain.from_iterable(job.stages for job in jobs)
    return replace(
        first,
        label=f"{first.label} and {len(others)} more",
        # fine-tunings first: all networks are in the store before anything else can fail
        stages=tuple(sorted(stages, key=lambda stage: stage.network_id is not None)),
        needs=_unique(job.needs for job in jobs),
        discard=_unique(job.discard for job in jobs),
        seconds=sum(job.seconds for job in jobs),
    )


def _unique(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(itertools.chain.from_iterable(names)))
