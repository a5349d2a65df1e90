"""Where the jobs of a study are done. A backend is one file here and a line in `BACKENDS`.

A job is plain data and everything it needs and makes lies in the store, so a backend only has to call
`attempt(job, …)` once for each job, somewhere, after the jobs it needs, and to say what came of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from isogloss.core.registry import Registry, check_name

State = Literal["started", "done", "failed", "busy", "lost", "full"]


@dataclass(frozen=True)
class Stage:
    """Something that is computed once: its `id` is the hash of all that decides the outcome.

    `maker` is `"module:function"`; it is called as `function(stage, folder, site)` and writes files into `folder`.
    `recipe` is JSON, all that the maker needs to know. `needs` are the ids of other stages that it reads.
    """

    id: str
    kind: str  # encoded, model, finetuned, evaluation, similarity
    maker: str
    recipe: dict[str, Any]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    """Stages that one worker does one after the other, so that what one leaves in memory serves the next."""

    name: str
    label: str  # for people
    stages: tuple[Stage, ...]
    needs: tuple[str, ...] = ()  # names of jobs
    discard: tuple[str, ...] = ()  # ids of stages that nobody needs once the job is done
    threads: int = 1
    seconds: float = 0.0  # that it may take: long ones are given out first


@dataclass(frozen=True)
class Outcome:
    """What came of a job.

    started, done; failed: an error in the run, told in `reason`; busy: another process is doing it, try again
    later; lost: the worker died, try again elsewhere; full: no room in the store, nothing can go on.
    """

    job: str
    state: State
    reason: str = ""
    where: str = ""  # host and process
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()  # our own, of what was done


class Backend(Protocol):
    """Does jobs.

    `run` returns when every job is done, has failed for good, or needs one that has; it calls `tell` in the
    caller's own thread whenever something happens to a job, the last time with done or failed. A job that is
    busy is tried again after a while; one that is lost up to `RETRIES` times, and has then failed; one that is full
    makes `run` raise `StoreFull` after the other workers have stopped. After Ctrl-C it stops its workers, which
    keep what can be gone on with, and raises KeyboardInterrupt.
    """

    def run(self, jobs: Sequence[Job], store: str, tell: Callable[[Outcome], None]) -> None: ...


RETRIES = 3  # of a job whose worker died
PATIENCE = 0.5  # seconds before a busy job is tried again

BACKENDS: Registry[Callable[..., Backend]] = Registry(
    "backend",
    {
        "local": "isogloss.studies.execution.backends.local:LocalBackend",
        "ray": "isogloss.studies.execution.backends.ray:RayBackend",
        "slurm": "isogloss.studies.execution.backends.slurm:SlurmBackend",
    },
)


def new_backend(name: str, options: Mapping[str, Any], device: str | None) -> Backend:
    """A backend with its options, whose names are checked."""
    backend = BACKENDS[name]
    known = inspect.signature(backend).parameters
    if all(one.kind is not inspect.Parameter.VAR_KEYWORD for one in known.values()):
        for option in options:
            check_name(option, [one for one in known if one != "device"], f"option of the backend '{name}'")
    return backend(**options, device=device)
