"""Where the jobs of a study run. A backend is one file here and a line in `BACKENDS`.

A job is plain data, and everything it needs and computes is in the store. A backend calls `run_job(job, …)` once for
each job, on any machine, after the jobs that it needs, and reports the outcome.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from isogloss.core.registry import Registry, check_name
from isogloss.studies.planning.job import Job

State = Literal["started", "done", "failed", "busy", "lost", "full"]
OnOutcome = Callable[["Outcome"], None]

MAX_RETRIES = 3  # of a job whose worker died
BUSY_RETRY_SECONDS = 0.5  # before a busy job is tried again


@dataclass(frozen=True)
class Outcome:
    """What happened to a job.

    started, done; failed: an error in the run, given in `reason`; busy: another process computes it, retry later;
    lost: the worker died, retry elsewhere; full: no space left in the store, no job can continue.
    """

    job: str
    state: State
    reason: str = ""
    where: str = ""  # host and process
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()  # warnings of isogloss during the job


class Backend(Protocol):
    """Runs jobs.

    `run` returns when every job is done, has failed for good, or needs a job that has failed. It calls `on_outcome`
    in the caller's thread whenever the state of a job changes, the last time with done or failed. A busy job is
    retried after a while; a lost job up to `MAX_RETRIES` times, after which it has failed; a full store makes `run`
    raise `StoreFull` after the other workers have stopped. On Ctrl-C it stops its workers, which save checkpoints,
    and raises KeyboardInterrupt.
    """

    def run(self, jobs: Sequence[Job], store: str, on_outcome: OnOutcome) -> None: ...


BACKENDS: Registry[Callable[..., Backend]] = Registry(
    "backend",
    {
        "local": "isogloss.studies.execution.backends.local:LocalBackend",
        "ray": "isogloss.studies.execution.backends.ray:RayBackend",
        "slurm": "isogloss.studies.execution.backends.slurm:SlurmBackend",
    },
)


def new_backend(name: str, options: Mapping[str, object], device: str | None) -> Backend:
    """A backend with its options, whose names are checked."""
    backend = BACKENDS[name]
    parameters = inspect.signature(backend).parameters
    if all(parameter.kind is not inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
        for option in options:
            check_name(option, [known for known in parameters if known != "device"], f"option of the backend '{name}'")
    return backend(**options, device=device)
