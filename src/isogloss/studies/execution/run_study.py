"""`run_study`: plan a study, let a backend compute what is missing, and gather the results."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from isogloss.core.errors import IsoglossError, UsageError, raise_all
from isogloss.core.hardware import kind_of
from isogloss.results.rows.study_reader import has_failed_targets, read_study_results
from isogloss.results.rows.study_results import StudyResults
from isogloss.store.entries import Damaged, Store
from isogloss.store.study_records import write_record
from isogloss.studies.execution.backends import Backend, Outcome, new_backend
from isogloss.studies.execution.checks.findings import Findings
from isogloss.studies.planning import job as job_module
from isogloss.studies.planning.cost import weighed_jobs
from isogloss.studies.planning.fingerprints import Fingerprints
from isogloss.studies.planning.job import Job
from isogloss.studies.planning.plan import Plan
from isogloss.studies.planning.planner import plan_study
from isogloss.studies.planning.records import record_of
from isogloss.studies.schema.study import Study
from isogloss.studies.schema.study_file import read_study, study_of

DEFAULT_STORE = "isogloss-store"  # where neither the call nor ISOGLOSS_STORE names a store
MAX_REPAIR_ROUNDS = 5  # times that damaged entries are recomputed
Watch = Callable[[Job, Outcome, int], None]  # a job, its outcome, the number of jobs


def run_study(
    study: Study | Mapping[str, object] | str | os.PathLike[str],
    *,
    store: str | os.PathLike[str] | None = None,
    backend: str = "local",
    set: Mapping[str, object] | None = None,
    device: str | None = None,
    stack: int = 1,
    watch: Watch | None = None,
    workers: int | None = None,
    per_gpu: int | None = None,
    **options: object,
) -> StudyResults:
    """Compute all runs of a study that are missing, and return the results of all runs.

    Everything that can be known before training is checked first. The same call resumes an interrupted study. A run or
    a target that fails does not stop the others: see `.failed`.

    Args:
        study: A study file, or its content as a mapping.
        store: The folder in which results are stored and shared; ISOGLOSS_STORE or isogloss-store by default.
        backend: "local", "ray" or "slurm".
        set: Values that replace those of the study, such as `{"seeds": 1, "settings.epochs": 2}`.
        device: "cpu", "cuda", "cuda:1" …; a GPU by default, where there is one.
        stack: Train up to this number of runs that differ only in weights and seeds as one network, which is faster on
            a GPU. Their dropout masks differ from those of runs trained separately.
        watch: Called as `watch(job, outcome, number_of_jobs)` whenever the state of a job changes.
        workers: The number of worker processes; as many as fit by default.
        per_gpu: The number of runs that share a GPU at a time.
        options: Other options of the backend (`address` …).
    """
    opened = open_store(store)
    try:
        plan = planned(study, opened, set=set, device=device)
        _raise_findings(plan, opened, Path(study) if isinstance(study, str | os.PathLike) else None)
        record = record_of(plan, {})  # errors in published values are raised before any work
        limits = {"workers": workers, "per_gpu": per_gpu}
        options |= {name: value for name, value in limits.items() if value is not None}
        chosen_backend = new_backend(backend, options, device)
        _remove_incomplete_evaluations(plan, opened)
        write_record(opened, record)
        return _results(plan, opened, chosen_backend, stack, watch)
    except OSError as error:
        raise opened.explained(error) from error


def _raise_findings(plan: Plan, store: Store, origin: Path | None) -> None:
    """Raise all errors that can be known before any work; if nothing is left to compute, only missing files."""
    if plan.goals <= store.ids():
        raise_all(list(plan.missing.values()))
        return
    findings = check_plan(plan, store, origin)
    for warning in findings.warnings:
        warnings.warn(warning, stacklevel=3)
    raise_all(findings.errors)


def check_plan(plan: Plan, store: Store | None, origin: Path | None = None) -> Findings:
    """All errors and warnings that can be known before any work; `origin` is the study file.

    Stages with other functions than isogloss's have other inputs, of which only missing files are known.
    """
    if job_module.STAGE_FUNCTIONS_MODULE != job_module.DEFAULT_STAGE_FUNCTIONS_MODULE:
        return Findings(origin, list(plan.missing.values()))
    from isogloss.studies.execution.checks.check_inputs import check_inputs  # imports torch

    return check_inputs(plan, store, origin)


def _remove_incomplete_evaluations(plan: Plan, store: Store) -> None:
    """Remove evaluations in which a target failed, so that they are computed again, with the stored networks."""
    for run in plan.runs:
        if run.evaluation and has_failed_targets(store, run.evaluation):
            shutil.rmtree(store.place(run.evaluation), ignore_errors=True)


def _results(plan: Plan, store: Store, backend: Backend, stack: int, watch: Watch | None) -> StudyResults:
    """Run all jobs and gather the results; damaged entries are reported and recomputed."""
    reported = store.quarantined()
    for _ in range(MAX_REPAIR_ROUNDS):
        failed = _compute_missing(plan, store, backend, stack, watch)
        results: StudyResults | None = None
        try:
            results = read_study_results(record_of(plan, failed), store)
        except Damaged as damaged:
            store.quarantine(damaged.id, str(damaged))
        damages = {id: why for id, why in store.quarantined().items() if id not in reported}
        for why in damages.values():
            warnings.warn(f"{why}; it was quarantined and is recomputed", stacklevel=3)
        reported |= damages
        if results is not None and not damages:
            write_record(store, record_of(plan, failed))
            return results
    raise IsoglossError(f"entries of the store {store.folder} are damaged repeatedly; check its disk")


def planned(
    study: Study | Mapping[str, object] | str | os.PathLike[str],
    store: Store | None = None,
    *,
    set: Mapping[str, object] | None = None,
    device: str | None = None,
) -> Plan:
    """A study's plan; nothing is computed."""
    if isinstance(study, Study):
        if set:
            raise UsageError("set: expected a study file or a mapping to put values into, got a Study")
        checked = study
    elif isinstance(study, Mapping):
        checked = study_of(study, set=set)
    else:
        checked = read_study(study, set)
    return plan_study(checked, Fingerprints(store), device=kind_of(device))


def open_store(folder: str | os.PathLike[str] | None = None) -> Store:
    return Store(store_folder(folder))


def store_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """The given folder, or that of ISOGLOSS_STORE, or the default."""
    return Path(folder or os.environ.get("ISOGLOSS_STORE") or DEFAULT_STORE)


def _compute_missing(plan: Plan, store: Store, backend: Backend, stack: int, watch: Watch | None) -> dict[str, str]:
    """Run the jobs that are left; the reasons of failures by the label of the job.

    Runs of a stack that failed are repeated one by one, so that no run stops another.
    """
    failed = _run_jobs(weighed_jobs(plan, store, stack), store, backend, watch)
    unstacked = {stage.id for job, _ in failed if len(job.finetunings) > 1 for stage in job.finetunings}
    jobs = weighed_jobs(plan, store) if unstacked else []
    needed = {name for job in jobs if job.name in unstacked for name in job.needs}
    failed_again = _run_jobs([job for job in jobs if job.name in unstacked | needed], store, backend, watch)
    return {job.label: reason for job, reason in [*failed, *failed_again] if len(job.finetunings) < 2}


def _run_jobs(jobs: Sequence[Job], store: Store, backend: Backend, watch: Watch | None) -> list[tuple[Job, str]]:
    """Let the backend run jobs; the jobs that failed, with the reason."""
    by_name = {job.name: job for job in jobs}
    failed: dict[str, str] = {}
    shown: set[str] = set()

    def on_outcome(outcome: Outcome) -> None:
        if outcome.state == "failed":
            failed[outcome.job] = outcome.reason
        for warning in outcome.warnings:
            if warning not in shown:
                warnings.warn(f"{by_name[outcome.job].label}: {warning}", stacklevel=2)
        shown.update(outcome.warnings)
        if watch:
            watch(by_name[outcome.job], outcome, len(by_name))

    if jobs:
        backend.run(list(jobs), os.fspath(store.folder), on_outcome)
    return [(by_name[name], reason) for name, reason in failed.items()]
