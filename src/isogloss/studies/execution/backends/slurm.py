"""A Slurm cluster, through submitit: job arrays whose tasks run jobs with the local backend.

The driver waits on the login node, submits the jobs that may start, and resubmits those that Slurm ended early: after a
time limit, a preemption or a lost node, training resumes from the last checkpoint. Results are exchanged only through
the store, which must be on a file system that all nodes share; submitit's files and logs are in it too.
"""

from __future__ import annotations

import itertools
import shutil
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isogloss.core.errors import IsoglossError, UsageError
from isogloss.core.hardware import kind_of
from isogloss.core.registry import check_name, import_extra
from isogloss.store.entries import Store, StoreFull
from isogloss.studies.execution.backends import MAX_RETRIES, OnOutcome, Outcome
from isogloss.studies.execution.backends.local import LocalBackend
from isogloss.studies.execution.backends.queue import Queue
from isogloss.studies.planning.job import Job

POLL_SECONDS = 2.0
DAY_MINUTES = 24 * 60
GPU_OPTIONS = {"gpus_per_node", "gpus_per_task", "gres", "num_gpus"}


class SlurmBackend:
    """Runs jobs on a Slurm cluster.

    Args:
        workers: The maximal number of array tasks at a time.
        per_task: The number of runs per task; more than one if runs are short.
        per_gpu: The number of runs of a task that share a GPU at a time.
        time: The time limit of a task in minutes.
        device: cpu or cuda; cuda by default if this machine has a GPU.
        cluster: "slurm", or "local" to test the backend without Slurm.
        sbatch: Options of sbatch (partition, account, cpus_per_task, gpus_per_node, mem …).
    """

    def __init__(
        self,
        workers: int = 64,
        *,
        per_task: int = 1,
        per_gpu: int = 1,
        time: int = DAY_MINUTES,
        device: str | None = None,
        cluster: str = "slurm",
        **sbatch: object,
    ):
        for name, value in {"workers": workers, "per_task": per_task, "per_gpu": per_gpu, "time": time}.items():
            if not isinstance(value, int) or value < 1:
                raise UsageError(f"{name}: expected a whole number of at least 1, got '{value}'")
        self.workers, self.per_task, self.per_gpu, self.time = workers, per_task, per_gpu, time
        self.device = check_name(device or kind_of(None), ["cpu", "cuda"], "device of the backend 'slurm'")
        self.cluster = check_name(cluster, ["slurm", "local"], "cluster")
        self.sbatch = sbatch

    def run(self, jobs: Sequence[Job], store: str, on_outcome: OnOutcome) -> None:
        waiting = Queue(jobs, store, on_outcome)
        if not jobs:
            return
        executor = self._executor(store, max(job.threads for job in jobs))
        tasks = _TaskPool(executor, waiting, store, on_outcome)
        try:
            while True:
                tasks.collect(MAX_RETRIES + self.workers)
                if waiting.finished:
                    return
                tasks.submit(self.workers, self.per_task, [store, self.device, self.per_gpu])
                time.sleep(POLL_SECONDS)
        finally:
            tasks.cancel()

    def _executor(self, store: str, threads: int) -> Any:
        """Submitit's executor with the options of sbatch."""
        submitit = import_extra("submitit", "slurm")
        options: dict[str, object] = {"cpus_per_task": threads, "array_parallelism": self.workers}
        if self.device == "cuda" and not GPU_OPTIONS & self.sbatch.keys():
            options["gpus_per_node"] = 1
        options |= self.sbatch
        try:
            executor = submitit.AutoExecutor(Path(store).absolute() / "slurm" / "%j", cluster=self.cluster)
            executor.update_parameters(
                name="isogloss", timeout_min=self.time, **{f"slurm_{name}": value for name, value in options.items()}
            )
        except (NameError, RuntimeError) as error:  # an unknown option of sbatch, or no Slurm
            raise UsageError(str(error).splitlines()[0]) from None
        return executor


def run_task(jobs: Sequence[Job], store: str, device: str, per_gpu: int) -> list[Outcome]:
    """Run an array task with worker processes. Slurm sends a signal before it ends a task: checkpoints are saved."""
    for name in (signal.SIGTERM, signal.SIGUSR2):
        signal.signal(name, signal.default_int_handler)
    outcomes = {job.name: Outcome(job.name, "busy", "not started") for job in jobs}  # retried without counting as lost
    try:
        LocalBackend(per_gpu=per_gpu, device=device).run(
            jobs, store, lambda outcome: outcomes.update({outcome.job: outcome})
        )
    except KeyboardInterrupt:
        reason = "Slurm ended the task before it was done (time limit, preemption or scancel)"
        return [Outcome(job, "lost", reason) if last.state == "started" else last for job, last in outcomes.items()]
    except StoreFull as full:
        return [Outcome(job, "full", str(full)) for job in outcomes]
    return list(outcomes.values())


@dataclass(frozen=True)
class _Task:
    """A submitted array task and its jobs."""

    handle: Any  # submitit's job
    jobs: tuple[Job, ...]

    def outcomes(self) -> list[Outcome] | str:
        """The outcomes of its jobs, or why there are none."""
        try:
            outcomes: list[Outcome] = self.handle.result()
        except RuntimeError as error:  # raised by submitit
            why, log = str(error).strip().splitlines()[-1], self.handle.paths.stderr
            return f"task {self.handle.job_id} ended in the state {self.handle.state}: {why} (its log: {log})"
        shutil.rmtree(self.handle.paths.folder, ignore_errors=True)
        return outcomes


class _TaskPool:
    """The submitted tasks of one call."""

    def __init__(self, executor: Any, waiting: Queue, store: str, on_outcome: OnOutcome):
        self.executor, self.waiting, self.store, self.on_outcome = executor, waiting, Store(store), on_outcome
        self.tasks: list[_Task] = []
        self.lost: set[str] = set()  # jobs that were lost: each is retried in a separate task
        self.deaths = 0  # since a job last finished

    def submit(self, workers: int, per_task: int, arguments: Sequence[object]) -> None:
        """Submit the jobs that may start now, as one array."""
        capacity = max(0, workers - len(self.tasks)) * per_task
        ready = list(itertools.islice(iter(self._next, None), capacity))
        groups: list[tuple[Job, ...]] = [(job,) for job in ready if job.name in self.lost]
        shared = [job for job in ready if job.name not in self.lost]
        groups += [tuple(shared[start : start + per_task]) for start in range(0, len(shared), per_task)]
        if not groups:
            return
        try:
            handles = self.executor.map_array(run_task, groups, *([value] * len(groups) for value in arguments))
        except (OSError, RuntimeError) as error:
            raise IsoglossError(f"Slurm did not accept the jobs: {str(error).strip()}") from None
        self.tasks += [_Task(handle, group) for handle, group in zip(handles, groups, strict=True)]
        for task in self.tasks[-len(groups) :]:
            for job in task.jobs:
                self.on_outcome(Outcome(job.name, "started", where=f"task {task.handle.job_id}"))

    def _next(self) -> Job | None:
        """A job that may start; a job that another process runs, such as a task of a driver that died, is postponed."""
        while job := self.waiting.next():
            if not any(self.store.locked(stage.id) for stage in job.stages):
                return job
            self.waiting.settle(Outcome(job.name, "busy"))
        return None

    def collect(self, max_deaths: int) -> None:
        """Settle the jobs of the tasks that have ended."""
        for task in [task for task in self.tasks if task.handle.done()]:
            self.tasks.remove(task)
            outcomes = task.outcomes()
            self.deaths = self.deaths + 1 if isinstance(outcomes, str) else 0
            if self.deaths > max_deaths:
                raise IsoglossError(f"{self.deaths} tasks died one after the other; the last: {outcomes}")
            if isinstance(outcomes, str):
                outcomes = [Outcome(job.name, "lost", outcomes) for job in task.jobs]
            self.lost |= {outcome.job for outcome in outcomes if outcome.state == "lost"}
            for outcome in outcomes:
                self.waiting.settle(outcome)

    def cancel(self) -> None:
        """Cancel all tasks; Slurm signals them in time to save checkpoints."""
        for task in self.tasks:
            task.handle.cancel(check=False)
