"""What a study consists of, in words: its runs, what they share, what is done, what it will cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from isogloss.core.hardware import cores
from isogloss.store.entries import Store
from isogloss.studies.planning.cost import Cost, estimate, schedules
from isogloss.studies.planning.job import Job
from isogloss.studies.planning.parameter_counts import network_bytes
from isogloss.studies.planning.plan import Plan
from isogloss.studies.planning.stacking import largest_stack
from isogloss.studies.planning.stages import STAGE_CLASSES, Stage
from isogloss.studies.schema.references import for_task

UNKNOWN_TIME = "unknown until a run of each kind is done in this store"


def explain(plan: Plan, store: Store | None, gpus: Sequence[int] = (), stack: int = 1) -> Iterator[tuple[str, str]]:
    """Names and texts of what a study consists of; `store` is None where there is none yet.

    `gpus`: numbers of GPUs to simulate, with stacks of up to `stack` runs on each.
    """
    study = plan.study
    yield "study", f"{study.name}: {study.description}".removesuffix(": ")
    yield "runs", f"{len(plan.runs):,} = {_product(plan)}"
    conditions = ", ".join(" ".join(filter(None, condition)) for condition in study.conditions)
    yield "conditions", f"{conditions} (reference: {study.reference})"
    for name, continual in study.continual.items():
        if continual:
            yield "continual", f"{name}: {continual}".removeprefix(": ")
    if study.targets:
        yield "targets", ", ".join(_target(plan, name) for name in study.targets)
    done = store.ids() if store else set()
    uses = _uses(plan)
    for stage_class in STAGE_CLASSES:
        if used := uses[stage_class.kind]:
            ids = [id for id, stage in plan.stages.items() if isinstance(stage, stage_class)]
            shared = f", shared by {used:,} uses" if used > len(ids) else ""
            yield stage_class.title, f"{len(ids):,}{shared}; {sum(id in done for id in ids):,} done"
    finished = sum(all(goal in done for goal in run.goals) for run in plan.runs)
    yield "done", f"{finished:,} of {len(plan.runs):,} runs" + (f", in {store.folder}" if store else "")
    yield from _costs(plan, store, plan.jobs(done))
    yield from _on_gpus(plan, store, gpus, stack)


def _costs(plan: Plan, store: Store | None, jobs: Sequence[Job]) -> Iterator[tuple[str, str]]:
    stages = [stage for job in jobs for stage in job.stages]
    if (disk := _disk(plan, stages)) and plan.study.networks == "keep":
        yield "disk", f"{disk} (networks: discard keeps none)"
    yield "cost", _cost(estimate(plan, stages, store), max(1, cores() // plan.study.threads))
    if plan.device == "cuda" and (size := largest_stack(jobs, plan.stages)) > 1:
        yield "stack", f"{size} runs of a seed differ only in weights: --stack {size} (BERT-like models) is faster"


def _disk(plan: Plan, stages: Sequence[Stage]) -> str:
    """The size of the networks that are stored."""
    sizes = [network_bytes(stage, plan.stages) for stage in stages]
    total, unknown = sum(filter(None, sizes)), sizes.count(None)
    parts = [f"about {total / 1e9:.1f} GB of networks"] if total else []
    parts += [f"{unknown:,} networks of unknown size: their models are not on this machine"] if unknown else []
    return ", and ".join(parts)


def _cost(cost: Cost, workers: int) -> str:
    if not cost.known:
        return UNKNOWN_TIME if cost.unknown else "nothing is left to do"
    worker = f"about {span(cost.seconds)} of one worker, {span(cost.seconds / workers)} of {workers}"
    if not cost.unknown:
        return f"{worker} (measured on runs of this study that are done)"
    return f"{worker} for {cost.known:,} stages; {cost.unknown:,} stages: {UNKNOWN_TIME}"


def _on_gpus(plan: Plan, store: Store | None, gpus: Sequence[int], stack: int) -> Iterator[tuple[str, str]]:
    simulated = schedules(plan, store, gpus, stack)
    for count in gpus if not simulated else ():
        yield f"on {_count(count, 'GPU')}", UNKNOWN_TIME
    for schedule in simulated:
        price = f"{schedule.utilisation:.0%} busy, {schedule.hours:.2f} GPU-hours"
        shortest = f"; {span(schedule.critical_path)} on any number" if schedule.workers == max(gpus) else ""
        yield f"on {_count(schedule.workers, 'GPU')}", f"about {span(schedule.makespan)}, {price}{shortest}"


def span(seconds: float) -> str:
    """
    >>> span(42), span(600), span(7200), span(200_000)
    ('42 s', '10 min', '2.0 h', '2.3 days')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} days"


def _target(plan: Plan, name: str) -> str:
    """The name of a target, with its tasks where it does not serve all."""
    tasks = [task for task in plan.study.tasks if for_task(plan.study.targets[name], task)]
    return name if len(tasks) == len(plan.study.tasks) else f"{name} ({', '.join(tasks)})"


def _product(plan: Plan) -> str:
    study = plan.study
    sizes = {
        "model": len(study.models),
        "condition": len(study.conditions),
        "text": len(study.text),
        "task": len(study.tasks),
        "source": len(study.sources),
        "seed": len(study.seeds),
    }
    always = ("model", "task", "seed") if study.tasks else ("model",)
    factors = [_count(number, name) for name, number in sizes.items() if number > 1 or name in always]
    return " × ".join(factors) + ("" if study.tasks else ", only measured")


def _count(number: int, name: str) -> str:
    return f"{number} {name}{'s' * (number > 1)}"


def _uses(plan: Plan) -> Counter[str]:
    """How often runs need a stage of each kind: more often than there are stages where runs share them."""
    uses: Counter[str] = Counter()
    for run in plan.runs:
        uses.update(plan.stages[id].kind for id in (*run.goals, *filter(None, [run.finetuned])))
        first = plan.stages[run.finetuned or run.goals[0]]
        uses.update(plan.stages[id].kind for id in first.needs)
    return uses
