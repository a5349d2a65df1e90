"""Studies run one after the other in one store, where the results of one decide the next.

An interrupted sequence resumes. The time of each study is stored, so that a time budget is spent once.
"""

from __future__ import annotations

import contextlib
import json
import operator
import shutil
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any

from isogloss.core.errors import IsoglossError
from isogloss.diagnosis.systems import TunedSystem
from isogloss.diagnosis.treatments import StudyDocument
from isogloss.results.rows.results import Results
from isogloss.results.rows.study_results import StudyResults
from isogloss.store.entries import Store, write_atomically
from isogloss.store.study_records import Run
from isogloss.studies.execution.backends import Outcome, new_backend
from isogloss.studies.execution.run_study import Watch, planned, run_study
from isogloss.studies.planning.plan import Plan

TIMES_FILE = "times.json"


@dataclass(frozen=True)
class StudyOutcome:
    """A finished study: its document, plan and results, and the seconds that it took."""

    study: StudyDocument
    plan: Plan
    results: StudyResults
    seconds: float
    tuned: Mapping[str, TunedSystem] = field(default_factory=dict)  # systems whose settings were searched
    cross_validated: bool = False  # whether the search was by cross-validation

    def selection_score(self, system: str, metric: str) -> float:
        """The score on which systems are selected: of cross-validation, or the mean dev score over seeds."""
        if system in self.tuned and self.cross_validated:
            return self.tuned[system].chosen.rank
        rows = self.results.frame.filter(model=system, metric=metric, split="dev").sort("seed")
        return float(rows["value"].mean())  # type: ignore[arg-type]

    def best_run(self, system: str, metric: str) -> Run:
        """The run of a system with the highest dev score; the first of equals."""
        dev = self.results.frame.filter(split="dev", model=system, metric=metric).sort("value", descending=True)
        name = dev["run"][0]
        return next(run for run in self.plan.runs if run.name == name)


@dataclass
class StudyRunner:
    """Runs studies in `store`; `backend_options` are those of the backend (`workers`, `per_gpu` …)."""

    folder: Path
    store: Store
    device: str | None = None
    backend: str = "local"
    backend_options: Mapping[str, Any] = field(default_factory=dict)
    watch: Watch | None = None

    def run(self, study: StudyDocument, *, quiet: bool = False) -> StudyOutcome:
        """Run what is left of a study. Failed runs are part of its results, not an error. `quiet`: no warnings."""
        start = time.monotonic()
        with warnings.catch_warnings():
            if quiet:
                warnings.simplefilter("ignore", UserWarning)
            results = run_study(
                study,
                store=self.store.folder,
                backend=self.backend,
                device=self.device,
                watch=self.watch,
                **self.backend_options,
            )
        plan = planned(study, self.store, device=self.device)
        times = {study["name"]: time.monotonic() - start, **self.times()}  # the time of the first run is kept
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self.folder / TIMES_FILE, json.dumps(times).encode())
        return StudyOutcome(study, plan, results, times[study["name"]])

    def times(self) -> dict[str, float]:
        """Seconds of the finished studies, by name."""
        with contextlib.suppress(OSError, ValueError):
            return dict(json.loads((self.folder / TIMES_FILE).read_bytes()))
        return {}

    def remove_networks(self, outcomes: Iterable[StudyOutcome], best: Run) -> None:
        """Remove all fine-tuned networks but the best: they take the most space and can be recomputed."""
        for stage in {run.finetuned for outcome in outcomes for run in outcome.plan.runs} - {best.finetuned}:
            self.store.remove(stage)

    def save_network(self, outcome: StudyOutcome, run: Run, folder: Path) -> None:
        """Copy the fine-tuned network of a run to `folder`; recompute it if it is not in the store."""
        if self.store.get(run.finetuned) is None:
            self._recompute(outcome, run)
        part = folder.with_name(f".{folder.name}.part")
        for old in (part, folder):
            shutil.rmtree(old, ignore_errors=True)
        shutil.copytree(self.store.need(run.finetuned).checked_folder() / "model", part)
        part.rename(folder)

    def _recompute(self, outcome: StudyOutcome, run: Run) -> None:
        backend = new_backend(self.backend, self.backend_options, self.device)
        jobs = replace(outcome.plan, runs=(run,)).jobs(self.store.ids() - {run.evaluation})
        job_outcomes: list[Outcome] = []
        backend.run(jobs, str(self.store.folder), job_outcomes.append)
        for failed in (job_outcome for job_outcome in job_outcomes if job_outcome.state == "failed"):
            raise IsoglossError(failed.reason)


def concatenate_results(outcomes: Sequence[StudyOutcome]) -> Results:
    """The results of several studies as one."""
    return reduce(operator.add, (outcome.results for outcome in outcomes))
