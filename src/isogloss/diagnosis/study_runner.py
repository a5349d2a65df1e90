"""Studies done one after the other in one store, for work that decides by their results what to do next.

Whatever is killed, the same studies go on. The time of each is kept beside the store, so that a budget is spent once.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from isogloss.core.errors import IsoglossError
from isogloss.results.rows.results import Results
from isogloss.results.rows.study_results import StudyResults
from isogloss.store.entries import Store, write_whole
from isogloss.store.study_records import Run
from isogloss.studies.execution.backends import Outcome, new_backend
from isogloss.studies.execution.run_study import Watch, planned, run_study
from isogloss.studies.planning.plan import Plan

TIMES = "times.json"


@dataclass(frozen=True)
class Trial:
    """A study that was done: its file, plan and results, and the seconds that it took."""

    study: Mapping[str, Any]
    plan: Plan
    results: StudyResults
    seconds: float

    def best_run(self, system: str, metric: str) -> Run:
        """The run of a system with the highest dev score, of equals the first."""
        dev = self.results.frame.filter(split="dev", model=system, metric=metric).sort("value", descending=True)
        name = dev["run"][0]
        return next(run for run in self.plan.runs if run.name == name)


@dataclass
class Bench:
    """`options` are those of `run_study` (backend, workers, device …)."""

    folder: Path
    store: Store
    options: Mapping[str, Any] = field(default_factory=dict)
    watch: Watch | None = None

    def run(self, study: Mapping[str, Any]) -> Trial:
        """Do what is left of a study. Runs that failed are in its results, not an error here."""
        begun = time.monotonic()
        results = run_study(study, store=self.store.folder, watch=self.watch, **self.options)
        plan = planned(study, self.store, device=self.options.get("device"))
        times = {study["name"]: time.monotonic() - begun, **self.times()}  # what was taken the first time stays
        self.folder.mkdir(parents=True, exist_ok=True)  # the store may well be elsewhere
        write_whole(self.folder / TIMES, json.dumps(times).encode())
        return Trial(study, plan, results, times[study["name"]])

    def times(self) -> dict[str, float]:
        """The seconds of all studies that were finished, by name."""
        with contextlib.suppress(OSError, ValueError):
            return dict(json.loads((self.folder / TIMES).read_bytes()))
        return {}

    def forget(self, trials: Iterable[Trial], kept: Run) -> None:
        """Remove all fine-tuned networks but one: they take the most room, and can be made again."""
        for run in {run.finetuned for trial in trials for run in trial.plan.runs} - {kept.finetuned}:
            self.store.remove(run)

    def save_network(self, trial: Trial, run: Run, folder: Path) -> None:
        """The fine-tuned network of a run in a folder of its own; made again where it is not in the store."""
        if self.store.get(run.finetuned) is None:
            self._make_again(trial, run)
        part = folder.with_name(f".{folder.name}.part")
        for old in (part, folder):
            shutil.rmtree(old, ignore_errors=True)
        shutil.copytree(self.store.need(run.finetuned).whole() / "model", part)
        part.rename(folder)

    def _make_again(self, trial: Trial, run: Run) -> None:
        options = {name: value for name, value in self.options.items() if name not in ("backend", "device")}
        crew = new_backend(self.options.get("backend", "local"), options, self.options.get("device"))
        jobs = replace(trial.plan, runs=(run,)).jobs(self.store.ids() - {run.evaluation})
        failed: list[str] = []

        def tell(outcome: Outcome) -> None:
            if outcome.state == "failed":
                failed.append(outcome.reason)

        crew.run(jobs, str(self.store.folder), tell)
        if failed:
            raise IsoglossError(failed[0])


def joined(trials: Sequence[Trial]) -> Results:
    """The results of several trials as one."""
    together: Results = trials[0].results
    for trial in trials[1:]:
        together = together + trial.results
    return together
