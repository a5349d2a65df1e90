"""`run_study`: plan a study, have a backend do what is not done yet, and gather the results."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from isogloss.core.errors import IsoglossError, UsageError
from isogloss.core.hardware import kind_of
from isogloss.results.rows.study_results import StudyResults, read_study_results
from isogloss.store.entries import Damaged, Store
from isogloss.store.study_records import write_record
from isogloss.studies.execution.backends import Backend, Job, Outcome, new_backend
from isogloss.studies.planning.cost import weighed_jobs
from isogloss.studies.planning.fingerprints import Fingerprints
from isogloss.studies.planning.planner import Plan, plan_study
from isogloss.studies.planning.records import record_of
from isogloss.studies.planning.stack_grouping import trainings
from isogloss.studies.schema.study import Study
from isogloss.studies.schema.study_file import read_study, study_of

STORE = "isogloss-store"  # where no store is named, neither here nor by the environment
ROUNDS = 5  # times that damaged entries are made again
Watch = Callable[[Job, Outcome, int], None]  # what came of a job, of how many


def run_study(
    study: Study | Mapping[str, Any] | str | os.PathLike[str],
    *,
    store: str | os.PathLike[str] | None = None,
    backend: str = "local",
    set: Mapping[str, Any] | None = None,
    device: str | None = None,
    together: int = 1,
    watch: Watch | None = None,
    **options: Any,
) -> StudyResults:
    """Do all runs of a study that are not done yet, and give the results of all.

    `study`: a file, or what would stand in it. `store`: the folder that everything is kept in and shared through
    (ISOGLOSS_STORE, or isogloss-store, where not given). `set`: values in place of the study's, such as
    `{"seeds": 1, "settings.epochs": 2}`. `together`: runs that differ in weights and seeds alone, up to so many, are
    trained as one network, for speed on a GPU; their dropout is then another than by themselves. `options` are those of
    the backend (`workers`, `per_gpu` …). Whatever is killed, the same call goes on. A run that fails does not stop the
    others: `.failed` has the reasons.
    """
    kept = open_store(store)
    try:
        plan = planned(study, kept, set=set, device=device)
        for error in plan.missing.values():
            raise error
        record = record_of(plan, {})  # what is wrong with published values is told before any work
        crew = new_backend(backend, options, device)
        write_record(kept, record)
        return _done(plan, kept, crew, together, watch)
    except OSError as error:
        raise kept.explained(error) from error


def _done(plan: Plan, kept: Store, crew: Backend, together: int, watch: Watch | None) -> StudyResults:
    """The results when all is done, and damaged entries, which are told, are made again."""
    aside = kept.quarantined()
    for _ in range(ROUNDS):
        failed = _do(plan, kept, crew, together, watch)
        results: StudyResults | None = None
        try:
            results = read_study_results(record_of(plan, failed), kept)
        except Damaged as damaged:
            kept.set_aside(damaged.id, str(damaged))
        found = {id: why for id, why in kept.quarantined().items() if id not in aside}
        for why in found.values():
            warnings.warn(f"{why}; it was set aside, and is made again", stacklevel=3)
        aside |= found
        if results is not None and not found:
            write_record(kept, record_of(plan, failed))
            return results
    raise IsoglossError(f"entries of the store {kept.folder} are damaged again and again; check its disk")


def planned(
    study: Study | Mapping[str, Any] | str | os.PathLike[str],
    store: Store | None = None,
    *,
    set: Mapping[str, Any] | None = None,
    device: str | None = None,
) -> Plan:
    """A study's plan: nothing is computed."""
    if isinstance(study, Study):
        if set:
            raise UsageError("set: expected a study file or a mapping to put values into, got a study that is read")
        read = study
    elif isinstance(study, Mapping):
        read = study_of(study, set=set)
    else:
        read = read_study(study, set)
    return plan_study(read, Fingerprints(store), device=kind_of(device))


def open_store(folder: str | os.PathLike[str] | None = None) -> Store:
    return Store(store_folder(folder))


def store_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder that is named, here or by the environment, or the usual one."""
    return Path(folder or os.environ.get("ISOGLOSS_STORE") or STORE)


def _do(plan: Plan, store: Store, crew: Backend, together: int, watch: Watch | None) -> dict[str, str]:
    """Have the backend do what is left; the reasons of what failed, by the label of the job.

    Runs that were joined and failed are done again, each by itself: no run stops another.
    """
    failed = _work(weighed_jobs(plan, store, together), store, crew, watch)
    apart = {stage.id for job, _ in failed if len(trainings(job)) > 1 for stage in trainings(job)}
    left = weighed_jobs(plan, store) if apart else []
    needed = {name for job in left if job.name in apart for name in job.needs}
    again = _work([job for job in left if job.name in apart | needed], store, crew, watch)
    return {job.label: reason for job, reason in [*failed, *again] if len(trainings(job)) < 2}


def _work(jobs: Sequence[Job], store: Store, crew: Backend, watch: Watch | None) -> list[tuple[Job, str]]:
    """Have the backend do these jobs; those that failed, and why."""
    named = {job.name: job for job in jobs}
    failed: dict[str, str] = {}
    heard: set[str] = set()

    def tell(outcome: Outcome) -> None:
        if outcome.state == "failed":
            failed[outcome.job] = outcome.reason
        for warning in set(outcome.warnings) - heard:
            warnings.warn(f"{named[outcome.job].label}: {warning}", stacklevel=2)
        heard.update(outcome.warnings)
        if watch:
            watch(named[outcome.job], outcome, len(named))

    if jobs:
        crew.run(list(jobs), os.fspath(store.folder), tell)
    return [(named[name], reason) for name, reason in failed.items()]
