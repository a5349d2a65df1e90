"""A worker's side of a study: do a job against the store, so that any process anywhere may do it, at any time again."""

from __future__ import annotations

import contextlib
import gc
import os
import platform
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from isogloss.core.errors import IsoglossError
from isogloss.store.entries import Damaged, Entry, Store, StoreFull
from isogloss.store.locks import Lock
from isogloss.store.running_jobs import Notice
from isogloss.studies.execution.backends import Job, Outcome, Stage
from isogloss.studies.execution.environment import surroundings
from isogloss.studies.execution.lru_cache import Memory
from isogloss.studies.planning.stack_grouping import trainings

PACKAGE = Path(__file__).parents[2]
Maker = Callable[[Stage, Path | None, "Site"], None]  # writes into the folder; without one, `site.made` is all


class Busy(Exception):
    """Another process is making what we need."""


@dataclass
class Site:
    """Where stages are made: the store, what is held in memory, and what this job has made so far."""

    store: Store
    device: str | None
    memory: Memory
    notice: Notice
    threads: int = 1
    facts: dict[str, Any] = field(default_factory=dict)  # of the job, for notices
    trainings: list[Stage] = field(default_factory=list)  # of the job, those that are still needed
    made: dict[str, Any] = field(default_factory=dict)

    def entry(self, id: str) -> Entry:
        """A stage that must be finished by now."""
        return self.store.need(id)

    def tell(self, **facts: Any) -> None:
        self.notice.tell({**self.facts, **facts})


def attempt(job: Job, store: str, device: str | None = None) -> Outcome:
    """Do a job and say what came of it; an error in a run is an outcome too."""
    begun, site = time.perf_counter(), _site(store, device)
    heard: list[str] = []

    def outcome(state: Any, reason: str = "") -> Outcome:
        where, seconds = f"{platform.node()} {os.getpid()}", time.perf_counter() - begun
        return Outcome(job.name, state, reason, where, seconds, tuple(dict.fromkeys(heard)))

    try:
        with _hearing(heard):
            perform(job, site)
        return outcome("done")
    except Busy as busy:
        return outcome("busy", str(busy))
    except Damaged as damaged:  # of what a stage needs: whoever planned the job has it made again
        site.store.set_aside(damaged.id, str(damaged))
        return outcome("failed", str(damaged))
    except Exception as error:
        known = site.store.explained(error)
        if isinstance(known, StoreFull):
            return outcome("full", str(known))
        if type(error).__name__ == "OutOfMemoryError":  # of a GPU that others use too
            return outcome("lost", str(error).splitlines()[0])
        return outcome("failed", str(error) if isinstance(error, IsoglossError) else traceback.format_exc())
    finally:
        site.made.clear()
        site.notice.clear()
        _give_back_memory()


@contextlib.contextmanager
def _hearing(heard: list[str]) -> Iterator[None]:
    """Our own warnings are written down, for a worker's standard error is seldom read; others go there as ever."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def listen(message: Any, category: Any, file: str, *more: Any) -> None:
            if category is UserWarning and Path(file).is_relative_to(PACKAGE):
                heard.append(str(message))
            else:
                show(message, category, file, *more)

        warnings.showwarning = listen  # type: ignore[assignment]
        yield


def perform(job: Job, site: Site) -> None:
    """Make every stage of a job that is not there yet. What is discarded is made in memory, if something needs it."""
    site.threads = job.threads
    with contextlib.ExitStack() as held:
        ours = {stage.id for stage in trainings(job) if _needed(stage, job, site.store)}
        for id in sorted(ours):  # the order is the same for all: nobody waits for who waits for him
            held.callback(_locked(id, site.store).release)  # until all that needs it is there
        site.trainings = [stage for stage in trainings(job) if _needed(stage, job, site.store)]
        for stage in job.stages:
            site.facts = {"job": job.name, "label": job.label, "stage": stage.kind, "since": time.time()}
            site.notice.tell(site.facts, now=True)
            if _there(stage.id, site.store):
                continue
            _give_back_memory()
            if stage.id not in job.discard:
                _make(stage, site, locked=stage.id in ours)
            elif _needed(stage, job, site.store):
                _maker(stage)(stage, None, site)
        for id in job.discard:
            site.store.finished(id)


def _needed(stage: Stage, job: Job, store: Store) -> bool:
    """Whether a stage is missing, and, if it is discarded, something that needs it too."""
    if _there(stage.id, store):
        return False
    return stage.id not in job.discard or any(
        stage.id in other.needs and not _there(other.id, store) for other in job.stages
    )


def _give_back_memory() -> None:
    """What this process keeps of a GPU's memory without using it, which runs that share the GPU may need."""
    torch: Any = sys.modules.get("torch")
    if torch and torch.cuda.is_initialized():
        gc.collect()
        torch.cuda.empty_cache()


def _make(stage: Stage, site: Site, locked: bool = False) -> None:
    store = site.store
    lock = None if locked else _locked(stage.id, store)
    try:
        if _there(stage.id, store):  # finished before the lock was ours
            return
        note = {"kind": stage.kind, "recipe": stage.recipe, "with": surroundings(site.device)}
        with store.making(stage.id, note) as folder:
            _maker(stage)(stage, folder, site)
        store.finished(stage.id)
    finally:
        if lock:
            lock.release()


def _maker(stage: Stage) -> Maker:
    module, _, name = stage.maker.partition(":")
    make: Maker = getattr(import_module(module), name)
    return make


def _locked(id: str, store: Store) -> Lock:
    """The right to make a stage; `Busy` while another process has it."""
    lock = store.lock(id)
    if lock is None:
        raise Busy(id)
    return lock


def _there(id: str, store: Store) -> bool:
    try:
        return store.get(id) is not None
    except Damaged as damaged:
        store.set_aside(id, str(damaged))
        return False


@lru_cache(maxsize=4)  # a process may work for several stores, if seldom
def _site(store: str, device: str | None) -> Site:
    kept = Store(store)
    return Site(kept, device, Memory(), Notice(kept))
