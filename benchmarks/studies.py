"""Studies: planning 10,000 runs, what the machinery adds to a run, and reading a finished study of 1,000 runs.

The promises: under 5 s, under 50 ms a run, under 3 s. A run's own time is that of the same functions called one
after the other, with model and corpora at hand, as in a loop that somebody would write.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # tiny_models

STUDY: dict[str, Any] = {
    "name": "benchmark",
    "task": "pos",
    "sources": {"qla": {"train": "lab:qla/train/64", "dev": "lab:qla/dev/20"}},
    "targets": {"qla": "lab:qla/test/20", "qlb": "lab:qlb/test/20", "qlc": "lab:qlc/test/20"},
    "changes": {"REF": [], "1-2": [{"reinit": "1-2"}]},
    "settings": {"epochs": 2, "batch": 16},
}


def run(quick: bool = False) -> None:
    from tiny_models import build

    with tempfile.TemporaryDirectory() as folder:
        model = str(build("bert", Path(folder) / "bert"))
        planning(model, 1_000 if quick else 10_000)
        overhead(model, Path(folder), 4 if quick else 30)
        finished(model, Path(folder), 100 if quick else 1_000)


def planning(model: str, runs: int) -> None:
    from isogloss.studies.planning.planner import plan_study
    from isogloss.studies.schema.study_file import study_of

    start = time.perf_counter()
    plan = plan_study(study_of({**STUDY, "model": model, "seeds": runs // 2}))
    jobs = plan.jobs(())
    print(f"planning {len(plan.runs):,} runs, {len(jobs):,} jobs: {time.perf_counter() - start:.2f} s (promised: 5 s)")


def overhead(model: str, folder: Path, runs: int) -> None:
    """In one process, in turn: a run as a plain sequence of calls, and the same run as a job of a study.

    The difference of two noisy times: medians, and a negative one means that what is remembered between runs (the
    encoded corpora) outweighs what is written.
    """
    from isogloss.store.entries import Store
    from isogloss.studies.execution.run_job import run_job
    from isogloss.studies.execution.run_study import planned

    for networks in ("keep", "discard"):
        store = Store(folder / networks)
        plan = planned({**STUDY, "model": model, "seeds": runs // 2, "networks": networks}, store, device="cpu")
        plain_run = _plain_run(model)
        plain_seconds, job_seconds = [], []
        for job in plan.jobs(()):
            (stage,) = job.finetunings
            plain_seconds.append(_seconds(plain_run, bool(stage.model.interventions), stage.seed))
            job_seconds.append(_seconds(run_job, job, str(store.folder), "cpu"))
        added = median(job_seconds[2:]) - median(plain_seconds[2:])  # the first of each condition warm up
        print(
            f"networks: {networks}: a run of {1000 * median(plain_seconds[2:]):.0f} ms takes "
            f"{1000 * added:.0f} ms more (promised: 50 ms)"
        )


def _seconds(function: Callable[..., object], *arguments: object) -> float:
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def _plain_run(model: str) -> Callable[[bool, int], object]:
    """A run as somebody would write it, model and corpora at hand."""
    import torch

    import isogloss as ig
    from isogloss.models.interventions.intervention import apply_interventions
    from isogloss.tasks import TASKS
    from isogloss.training.engine.settings import settings_for
    from isogloss.training.finetuning.finetune import finetune
    from isogloss.training.finetuning.target_evaluation import evaluate_targets

    lab, task, loaded = ig.Laboratory(), TASKS["pos"], ig.load_model(model, device="cpu")
    train, dev = lab.treebank("qla", "train", 64), lab.treebank("qla", "dev", 20)
    tests = {lang: lab.treebank(lang, "test", 20) for lang in ("qla", "qlb", "qlc")}
    torch.set_num_threads(1)

    def run(change: bool, seed: int) -> object:
        prepared = apply_interventions(loaded, [ig.reinit("1-2")] if change else [], seed)
        tuned = finetune(prepared, task, train, dev, settings_for(task.defaults, **STUDY["settings"]), seed=seed)
        facts = {"run": "", "model": "", "changes": "", "seed": seed}
        return evaluate_targets(tuned, task, "qla", dev, tests, facts).predictions.collect()

    return run


def finished(model: str, folder: Path, runs: int) -> None:
    """A store with the entries of all runs, copied from one that was really done."""
    from isogloss.store.entries import Store
    from isogloss.studies.execution.run_study import planned, run_study

    study = {**STUDY, "model": model, "seeds": runs // 2}
    store = Store(folder / "finished")
    run_study({**study, "name": "one"}, store=folder / "finished", workers=0, set={"seeds": 1})
    plan = planned(study, store, device="cpu")
    entry = store.need(plan.runs[0].evaluation)
    files = {name: entry.file(name).read_bytes() for name in entry.manifest["files"]}
    for one in plan.runs[1:]:
        with store.making(one.evaluation, {}) as place:
            for name, content in files.items():
                (place / name).write_bytes(content)
    start = time.perf_counter()
    results = run_study(study, store=folder / "finished")
    rows = len(results.frame)
    print(f"reading {runs:,} finished runs, {rows:,} rows: {time.perf_counter() - start:.2f} s (promised: 3 s)")
