"""The worker's side of a study: run a job against the store. Any process on any machine may run it, and repeat it."""

from __future__ import annotations

import contextlib
import gc
import os
import platform
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TextIO

from isogloss.core.errors import IsoglossError
from isogloss.store.entries import Damaged, Store, StoreFull
from isogloss.store.locks import Lock
from isogloss.store.running_jobs import Notice
from isogloss.studies.execution.backends import Outcome, State
from isogloss.studies.execution.environment import environment
from isogloss.studies.execution.lru_cache import LruCache
from isogloss.studies.execution.worker_context import StageFunction, WorkerContext
from isogloss.studies.planning.job import Job
from isogloss.studies.planning.stages import Stage

PACKAGE_FOLDER = Path(__file__).parents[2]


class Busy(Exception):
    """Another process is computing what this job needs."""


def run_job(job: Job, store: str, device: str | None = None) -> Outcome:
    """Run a job; an error in a run is an outcome too."""
    start, context = time.perf_counter(), _worker_context(store, device)
    messages: list[str] = []

    def outcome(state: State, reason: str = "") -> Outcome:
        where, seconds = f"{platform.node()} {os.getpid()}", time.perf_counter() - start
        return Outcome(job.name, state, reason, where, seconds, tuple(dict.fromkeys(messages)))

    try:
        with _recording_warnings(messages):
            compute_stages(job, context)
        return outcome("done")
    except Busy as busy:
        return outcome("busy", str(busy))
    except Damaged as damaged:  # an entry that a stage needs: the process that planned the job has it recomputed
        context.store.quarantine(damaged.id, str(damaged))
        return outcome("failed", str(damaged))
    except Exception as error:
        explained = context.store.explained(error)
        if isinstance(explained, StoreFull):
            return outcome("full", str(explained))
        if type(error).__name__ == "OutOfMemoryError":  # the GPU may be shared with other processes
            return outcome("lost", str(error).splitlines()[0])
        return outcome("failed", str(error) if isinstance(error, IsoglossError) else traceback.format_exc())
    finally:
        context.networks.clear()
        context.notice.clear()
        _free_gpu_memory()


@contextlib.contextmanager
def _recording_warnings(messages: list[str]) -> Iterator[None]:
    """Record isogloss's warnings, because the standard error of a worker is rarely read; others are shown as usual."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def record(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if category is UserWarning and Path(filename).is_relative_to(PACKAGE_FOLDER):
                messages.append(str(message))
            else:
                show(message, category, filename, lineno, file, line)

        warnings.showwarning = record
        yield


def compute_stages(job: Job, context: WorkerContext) -> None:
    """Compute every stage of a job that is missing; a discarded stage only in memory, and only if another needs it."""
    context.threads = job.threads
    with contextlib.ExitStack() as locks:
        locked = {stage.id for stage in job.finetunings if _needed(stage, job, context.store)}
        for id in sorted(locked):  # the same order in every process prevents deadlocks
            locks.callback(_locked(id, context.store).release)  # after every stage that needs it
        context.pending = [stage for stage in job.finetunings if _needed(stage, job, context.store)]
        for stage in job.stages:
            context.facts = {"job": job.name, "label": job.label, "stage": stage.kind, "since": time.time()}
            context.notice.write(context.facts, now=True)
            if _exists(stage.id, context.store):
                continue
            _free_gpu_memory()
            if stage.id not in job.discard:
                _store_stage(stage, job, context, locked=stage.id in locked)
            elif _needed(stage, job, context.store):
                _stage_function(stage, job)(stage, None, context)
        for id in job.discard:
            context.store.remove_checkpoints(id)


def _needed(stage: Stage, job: Job, store: Store) -> bool:
    """Whether a stage is missing, and, if it is discarded, whether a missing stage needs it."""
    if _exists(stage.id, store):
        return False
    return stage.id not in job.discard or any(
        stage.id in other.needs and not _exists(other.id, store) for other in job.stages
    )


def _free_gpu_memory() -> None:
    """Return cached GPU memory, which other processes on the same GPU may need."""
    torch = sys.modules.get("torch")
    if torch and torch.cuda.is_initialized():
        gc.collect()
        torch.cuda.empty_cache()


def _store_stage(stage: Stage, job: Job, context: WorkerContext, locked: bool) -> None:
    store = context.store
    lock = None if locked else _locked(stage.id, store)
    try:
        if _exists(stage.id, store):  # finished before this process had the lock
            return
        note = {"kind": stage.kind, "stage": stage.to_json(), "with": environment(context.device)}
        with store.making(stage.id, note) as folder:
            _stage_function(stage, job)(stage, folder, context)
        store.remove_checkpoints(stage.id)
    finally:
        if lock:
            lock.release()


def _stage_function(stage: Stage, job: Job) -> StageFunction:
    functions: dict[type[Stage], StageFunction] = import_module(job.module).STAGE_FUNCTIONS
    return functions[type(stage)]


def _locked(id: str, store: Store) -> Lock:
    """The lock of a stage; `Busy` while another process has it."""
    lock = store.lock(id)
    if lock is None:
        raise Busy(id)
    return lock


def _exists(id: str, store: Store) -> bool:
    try:
        return store.get(id) is not None
    except Damaged as damaged:
        store.quarantine(id, str(damaged))
        return False


@lru_cache(maxsize=4)  # a process may work for several stores
def _worker_context(folder: str, device: str | None) -> WorkerContext:
    store = Store(folder)
    return WorkerContext(store, device, LruCache(), Notice(store))
