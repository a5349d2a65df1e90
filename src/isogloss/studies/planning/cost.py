"""What is left of a study in seconds of one worker: measured on stages of the same kind that are done, or unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from isogloss.store.entries import Damaged, Store
from isogloss.studies.planning.job import Job
from isogloss.studies.planning.plan import Plan
from isogloss.studies.planning.schedule import Schedule, simulate
from isogloss.studies.planning.stacking import stack_jobs
from isogloss.studies.planning.stages import Stage

MAX_TIMED_STAGES = 50  # of each kind
StageTimes = Mapping[tuple[str, ...], float]


@dataclass(frozen=True)
class Cost:
    """Seconds of the stages whose time is known, and how many stages are known and unknown."""

    seconds: float
    known: int
    unknown: int


def estimate(plan: Plan, stages: Sequence[Stage], store: Store | None) -> Cost:
    """The cost of stages that are not done."""
    times = measured_times(plan, store)
    seconds = [times[stage.time_key] for stage in stages if stage.time_key in times]
    return Cost(sum(seconds), len(seconds), len(stages) - len(seconds))


def schedules(plan: Plan, store: Store | None, workers: Sequence[int], stack: int = 1) -> list[Schedule]:
    """The schedule of what is left for each number of workers; none where the time of a stage is unknown."""
    jobs = weighed_jobs(plan, store, stack)
    if estimate(plan, [stage for job in jobs for stage in job.stages], store).unknown:
        return []
    seconds = {job.name: job.seconds for job in jobs}
    return [simulate(jobs, seconds, number) for number in workers]


def weighed_jobs(plan: Plan, store: Store | None, stack: int = 1) -> list[Job]:
    """The jobs that are left, in stacks of up to `stack` fine-tunings, with their seconds where these are known."""
    times = measured_times(plan, store)
    jobs = stack_jobs(plan.jobs(store.ids() if store else ()), stack, plan.stages)
    return [replace(job, seconds=sum(times.get(stage.time_key, 0.0) for stage in job.stages)) for job in jobs]


def measured_times(plan: Plan, store: Store | None) -> StageTimes:
    """The mean seconds of the plan's stages that are done, by kind; of a stack, the first has the time of all."""
    if store is None:
        return {}
    samples: dict[tuple[str, ...], list[float]] = {}
    done = store.ids()
    for stage in [stage for id, stage in plan.stages.items() if id in done]:
        seconds = samples.setdefault(stage.time_key, [])
        if len(seconds) < MAX_TIMED_STAGES:
            try:
                seconds.append(store.need(stage.id).manifest["seconds"])
            except Damaged:
                continue
    return {key: fmean(seconds) for key, seconds in samples.items() if seconds}
