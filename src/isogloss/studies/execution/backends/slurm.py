"""A Slurm cluster, through submitit: job arrays whose tasks do jobs as the local backend does them.

The driver waits on the login node, hands in what may start, and hands in again what Slurm has ended before it was done:
time limits, preemption and lost nodes cost no more than what came after the last checkpoint. Results travel through the
store alone, which must lie on a file system that all nodes share; submitit's own files and logs lie in it too.
"""

from __future__ import annotations

import itertools
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isogloss.core.errors import IsoglossError, MissingExtra, UsageError
from isogloss.core.hardware import kind_of
from isogloss.core.registry import check_name
from isogloss.store.entries import Store, StoreFull
from isogloss.studies.execution.backends import RETRIES, Job, Outcome
from isogloss.studies.execution.backends.local import LocalBackend
from isogloss.studies.execution.backends.queue import Queue

POLL = 2.0  # seconds between looks at the tasks
DAY = 24 * 60  # minutes
GPU_OPTIONS = {"gpus_per_node", "gpus_per_task", "gres", "num_gpus"}


class SlurmBackend:
    """`workers`: array tasks at a time. `per_task`: runs that one task does; more than one where runs are short.

    `time`: minutes that a task may take. `per_gpu`: runs of a task that share a GPU at a time. `device`: cpu or cuda;
    where not given, cuda if this machine has a GPU. All other options are sbatch's (partition, account, cpus_per_task,
    gpus_per_node, mem …), and go there. `cluster="local"` tries all this out without Slurm.
    """

    def __init__(
        self,
        workers: int = 64,
        *,
        per_task: int = 1,
        per_gpu: int = 1,
        time: int = DAY,
        device: str | None = None,
        cluster: str = "slurm",
        **sbatch: Any,
    ):
        for name, value in {"workers": workers, "per_task": per_task, "per_gpu": per_gpu, "time": time}.items():
            if not isinstance(value, int) or value < 1:
                raise UsageError(f"{name}: expected a whole number of at least 1, got '{value}'")
        self.workers, self.per_task, self.per_gpu, self.time = workers, per_task, per_gpu, time
        self.device = check_name(device or kind_of(None), ["cpu", "cuda"], "device of the backend 'slurm'")
        self.cluster = check_name(cluster, ["slurm", "local"], "cluster")
        self.sbatch = sbatch

    def run(self, jobs: Sequence[Job], store: str, tell: Callable[[Outcome], None]) -> None:
        waiting = Queue(jobs, store, tell)
        if not jobs:
            return
        executor = self._executor(store, max(job.threads for job in jobs))
        crew = _Crew(executor, waiting, store, tell)
        try:
            while True:
                crew.collect(RETRIES + self.workers)
                if waiting.finished:
                    return
                crew.submit(self.workers, self.per_task, [store, self.device, self.per_gpu])
                time.sleep(POLL)
        finally:
            crew.cancel()

    def _executor(self, store: str, threads: int) -> Any:
        """Submitit's, with all that is to be said to sbatch."""
        submitit = _submitit()
        asked: dict[str, Any] = {"cpus_per_task": threads, "array_parallelism": self.workers}
        if self.device == "cuda" and not GPU_OPTIONS & self.sbatch.keys():
            asked["gpus_per_node"] = 1
        asked |= self.sbatch
        try:
            executor = submitit.AutoExecutor(Path(store).absolute() / "slurm" / "%j", cluster=self.cluster)
            executor.update_parameters(
                name="isogloss", timeout_min=self.time, **{f"slurm_{name}": value for name, value in asked.items()}
            )
        except (NameError, RuntimeError) as error:  # an option that sbatch does not have, or no Slurm
            raise UsageError(str(error).splitlines()[0]) from None
        return executor


def do(jobs: Sequence[Job], store: str, device: str, per_gpu: int) -> list[Outcome]:
    """What an array task does, in worker processes of its own. Slurm warns before it ends a task; then work is kept."""
    for warning in (signal.SIGTERM, signal.SIGUSR2):
        signal.signal(warning, signal.default_int_handler)
    told = {job.name: Outcome(job.name, "busy", "not begun") for job in jobs}  # busy: again, and not held against it
    try:
        LocalBackend(per_gpu=per_gpu, device=device).run(
            jobs, store, lambda outcome: told.update({outcome.job: outcome})
        )
    except KeyboardInterrupt:
        stopped = "Slurm ended the task before it was done (time limit, preemption or scancel)"
        return [Outcome(one.job, "lost", stopped) if one.state == "started" else one for one in told.values()]
    except StoreFull as full:
        return [Outcome(one.job, "full", str(full)) for one in told.values()]
    return list(told.values())


@dataclass(frozen=True)
class _Task:
    """An array task that Slurm has, and the jobs it is to do."""

    handle: Any
    jobs: tuple[Job, ...]

    def given(self) -> list[Outcome] | str:
        """What it gave back, or why that is nothing."""
        try:
            outcomes: list[Outcome] = self.handle.result()
        except RuntimeError as error:  # submitit's, all of them
            why, log = str(error).strip().splitlines()[-1], self.handle.paths.stderr
            return f"task {self.handle.job_id} ended in the state {self.handle.state}: {why} (its log: {log})"
        shutil.rmtree(self.handle.paths.folder, ignore_errors=True)
        return outcomes


class _Crew:
    """The tasks that Slurm has of one call."""

    def __init__(self, executor: Any, waiting: Queue, store: str, tell: Callable[[Outcome], None]):
        self.executor, self.waiting, self.store, self.tell = executor, waiting, Store(store), tell
        self.tasks: list[_Task] = []
        self.suspects: set[str] = set()  # jobs that were lost: each gets a task of its own, so as to drag nobody along
        self.deaths = 0  # since something was last finished

    def submit(self, workers: int, per_task: int, arguments: list[Any]) -> None:
        """Hand in what may start now, as one array."""
        room = max(0, workers - len(self.tasks)) * per_task
        ready = list(itertools.islice(iter(self._next, None), room))
        alone = [job for job in ready if job.name in self.suspects]
        others = [job for job in ready if job.name not in self.suspects]
        shares = [(job,) for job in alone] + [tuple(others[n : n + per_task]) for n in range(0, len(others), per_task)]
        if not shares:
            return
        try:
            handles = self.executor.map_array(do, shares, *([one] * len(shares) for one in arguments))
        except (OSError, RuntimeError) as error:
            raise IsoglossError(f"Slurm did not take the jobs: {str(error).strip()}") from None
        self.tasks += [_Task(handle, share) for handle, share in zip(handles, shares, strict=True)]
        for task in self.tasks[-len(shares) :]:
            for job in task.jobs:
                self.tell(Outcome(job.name, "started", where=f"task {task.handle.job_id}"))

    def _next(self) -> Job | None:
        """A job that may start; one that somebody is doing, such as a task of a driver that died, is left for later."""
        while job := self.waiting.next():
            if not any(self.store.locked(stage.id) for stage in job.stages):
                return job
            self.waiting.settle(Outcome(job.name, "busy"))
        return None

    def collect(self, patience: int) -> None:
        """Take note of the tasks that have ended."""
        for task in [task for task in self.tasks if task.handle.done()]:
            self.tasks.remove(task)
            given = task.given()
            self.deaths = self.deaths + 1 if isinstance(given, str) else 0
            if self.deaths > patience:
                raise IsoglossError(f"{self.deaths} tasks died one after the other; the last: {given}")
            if isinstance(given, str):
                given = [Outcome(job.name, "lost", given) for job in task.jobs]
            self.suspects |= {outcome.job for outcome in given if outcome.state == "lost"}
            for outcome in given:
                self.waiting.settle(outcome)

    def cancel(self) -> None:
        """Have Slurm end what is left; the tasks hear of it in time to keep what they are doing."""
        for task in self.tasks:
            task.handle.cancel(check=False)


def _submitit() -> Any:
    try:
        import submitit
    except ImportError:
        raise MissingExtra("submitit", "slurm") from None
    return submitit
