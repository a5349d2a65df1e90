"""Studies: planning 10,000 runs, what the machinery adds to a run, and reading a finished study of 1,000 runs.

The promises: under 5 s, under 50 ms a run, under 3 s. A run's own time is that of the same functions called one
after the other, with model and corpora at hand, as in a loop that somebody would write.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
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
    from isogloss.studies.plan import plan_study
    from isogloss.studies.study_file import study_of

    start = time.perf_counter()
    plan = plan_study(study_of({**STUDY, "model": model, "seeds": runs // 2}))
    jobs = plan.jobs(())
    print(f"planning {len(plan.runs):,} runs, {len(jobs):,} jobs: {time.perf_counter() - start:.2f} s (promised: 5 s)")


def overhead(model: str, folder: Path, runs: int) -> None:
    """One process: first the bare functions, then the same runs as a study; a first run of each warms up."""
    from isogloss.studies.run import run_study

    own = _bare(model, runs)
    study = {**STUDY, "model": model, "seeds": runs // 2}
    run_study({**study, "name": "warm"}, store=folder / "warm", workers=0, set={"seeds": 1})
    for networks in ("keep", "discard"):
        start = time.perf_counter()
        run_study(study, store=folder / networks, workers=0, set={"networks": networks})
        added = (time.perf_counter() - start) / runs - own
        print(f"a run of {own:.3f} s, networks: {networks}: {1000 * added:.0f} ms more (promised: 50 ms)")


def _bare(model: str, runs: int) -> float:
    import torch

    import isogloss as ig
    from isogloss.tasks import TASKS
    from isogloss.training.finetune import finetune
    from isogloss.training.settings import settings_for
    from isogloss.training.transfer import changed, scores

    lab, task, loaded = ig.Laboratory(), TASKS["pos"], ig.load_model(model, device="cpu")
    train, dev = lab.treebank("qla", "train", 64), lab.treebank("qla", "dev", 20)
    tests = {lang: lab.treebank(lang, "test", 20) for lang in ("qla", "qlb", "qlc")}
    torch.set_num_threads(1)
    times = []
    for seed in range(runs // 2 + 1):
        for change in ([], [ig.reinit("1-2")]):
            start = time.perf_counter()
            prepared = changed(loaded, change, seed)
            tuned = finetune(prepared, task, train, dev, settings_for(task.recipe, **STUDY["settings"]), seed=seed)
            facts = {"run": "", "model": "", "changes": "", "seed": seed}
            scores(tuned, task, "qla", dev, tests, facts).predictions.collect()
            times.append(time.perf_counter() - start)
    return sum(times[2:]) / len(times[2:])


def finished(model: str, folder: Path, runs: int) -> None:
    """A store with the entries of all runs, copied from one that was really done."""
    from isogloss.results.store import Store
    from isogloss.studies.run import planned, run_study

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
