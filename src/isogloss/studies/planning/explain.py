"""What a study consists of, in words: its runs, what they share, what is done, what it will cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from isogloss.core.hardware import cores
from isogloss.store.entries import Store
from isogloss.studies.planning.cost import estimate, network_bytes, schedules
from isogloss.studies.planning.plan import Plan
from isogloss.studies.planning.stack_grouping import most_alike
from isogloss.studies.schema.references import for_task

KINDS = {
    "model": "changed models",
    "finetuned": "fine-tuned networks",
    "evaluation": "evaluations",
    "similarity": "similarity curves",
    "distances": "word distances",
}


def explain(plan: Plan, store: Store | None, gpus: Sequence[int] = (), together: int = 1) -> Iterator[tuple[str, str]]:
    """Lines of what and how many; `store` is None where there is none yet.

    `gpus`: numbers of them to try on paper, with up to `together` runs as one network on each.
    """
    study = plan.study
    yield "study", f"{study.name}: {study.description}".removesuffix(": ")
    yield "runs", f"{len(plan.runs):,} = {_product(plan)}"
    columns = ", ".join(" ".join(filter(None, column)) for column in study.columns)
    yield "columns", f"{columns} (reference: {study.reference})"
    for name, one in study.continual.items():
        if one:
            yield "continual", f"{name}: {one}".removeprefix(": ")
    if study.targets:
        yield "targets", ", ".join(_target(plan, name) for name in study.targets)
    done = store.ids() if store else set()
    for kind, used in _uses(plan).items():
        own = [id for id in plan.stages if id.startswith(f"{kind}-")]
        shared = f", shared by {used:,} uses" if used > len(own) else ""
        yield KINDS[kind], f"{len(own):,}{shared}; {sum(id in done for id in own):,} done"
    finished = sum(all(goal in done for goal in run.goals) for run in plan.runs)
    yield "done", f"{finished:,} of {len(plan.runs):,} runs" + (f", in {store.folder}" if store else "")
    jobs = plan.jobs(done)
    left = [stage for job in jobs for stage in job.stages]
    cost = estimate(plan, left, store)
    size = sum(network_bytes(stage, plan) for stage in left) / 1e9
    if size and study.networks == "keep":
        yield "disk", f"about {size:.1f} GB of networks (networks: discard keeps none)"
    workers = max(1, cores() // study.threads)
    shares = f"{span(cost.seconds / workers)} of {workers}"
    yield "cost", f"about {span(cost.seconds)} of one worker, {shares} ({cost.basis})"
    if plan.device == "cuda" and (alike := most_alike(jobs, plan.stages)) > 1:
        yield "as one", f"{alike} runs of a seed differ in weights alone: --together {alike} (BERT's kind) is faster"
    for schedule in schedules(plan, store, gpus, together):
        count = schedule.workers
        paid = f"{schedule.utilisation:.0%} busy, {schedule.hours:.2f} GPU-hours"
        shortest = f"; {span(schedule.critical_path)} on any number" if count == max(gpus) else ""
        yield f"on {count} GPU{'s' * (count > 1)}", f"about {span(schedule.makespan)}, {paid}{shortest}"


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
    """The name of a target, with the tasks that it is for where these are not all."""
    tasks = [task for task in plan.study.tasks if for_task(plan.study.targets[name], task)]
    return name if len(tasks) == len(plan.study.tasks) else f"{name} ({', '.join(tasks)})"


def _product(plan: Plan) -> str:
    study = plan.study
    sizes = {
        "model": len(study.models),
        "column": len(study.columns),
        "text": len(study.text),
        "task": len(study.tasks),
        "source": len(study.sources),
        "seed": len(study.seeds),
    }
    always = ("model", "task", "seed") if study.tasks else ("model",)
    told = [f"{n} {name}{'s' * (n > 1)}" for name, n in sizes.items() if n > 1 or name in always]
    return " × ".join(told) + ("" if study.tasks else ", only measured")


def _uses(plan: Plan) -> Counter[str]:
    """How often runs need a stage of each kind: more often than there are stages where they share."""
    uses: Counter[str] = Counter()
    for run in plan.runs:
        tuned = ["finetuned", "evaluation"] if run.finetuned else []
        uses.update([*tuned, *("similarity" for _ in run.similarity), *("distances" for _ in run.distances)])
        first = plan.stages[run.finetuned or run.goals[0]]
        uses.update("model" for id in first.needs if id.startswith("model-"))
    return Counter({kind: uses[kind] for kind in KINDS if uses[kind]})
