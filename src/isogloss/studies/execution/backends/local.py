"""Worker processes on this machine, which share its processors or its GPUs.

If a worker dies, only its current job is repeated. The number of workers does not affect results: each run computes
with the number of threads of its study.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from typing import IO

from isogloss.core.errors import IsoglossError, UsageError
from isogloss.core.hardware import cores, gpus
from isogloss.store.entries import StoreFull
from isogloss.studies.execution.backends import MAX_RETRIES, OnOutcome, Outcome
from isogloss.studies.execution.backends.queue import Queue
from isogloss.studies.execution.run_job import run_job
from isogloss.studies.planning.job import Job

SHUTDOWN_SECONDS = 30.0  # for workers to save checkpoints after Ctrl-C
POLL_SECONDS = 0.2


class LocalBackend:
    """Runs jobs in worker processes on this machine.

    Args:
        workers: The number of processes; as many as fit by default, 0 to run the jobs in this process.
        per_gpu: The number of runs that share a GPU at a time.
        device: cpu, cuda, cuda:1 …; all GPUs by default, where there are some.
    """

    def __init__(self, workers: int | None = None, *, per_gpu: int = 1, device: str | None = None):
        if (workers is not None and workers < 0) or per_gpu < 1:
            raise UsageError(f"expected workers of at least 0 and per_gpu of at least 1, got {workers} and {per_gpu}")
        self.workers, self.per_gpu, self.device = workers, per_gpu, device

    def run(self, jobs: Sequence[Job], store: str, on_outcome: OnOutcome) -> None:
        waiting = Queue(jobs, store, on_outcome)
        if self.workers == 0:
            _run_in_process(waiting, store, self.device, on_outcome)
        elif jobs:
            _Pool(waiting, store, self._devices(jobs), max(job.threads for job in jobs), on_outcome).work()

    def _devices(self, jobs: Sequence[Job]) -> list[str]:
        """A device for each worker."""
        on_gpus = self.device in (None, "cuda") and gpus() > 0
        devices = [f"cuda:{index}" for index in range(gpus())] if on_gpus else [self.device or "cpu"]
        capacity = self.per_gpu * len(devices)
        if devices == ["cpu"]:
            capacity = max(1, cores() // max(job.threads for job in jobs))
        number = min(self.workers or capacity, len(jobs))
        return list(itertools.islice(itertools.cycle(devices), number))


def _run_in_process(waiting: Queue, store: str, device: str | None, on_outcome: OnOutcome) -> None:
    while not waiting.finished:
        job = waiting.next()
        if job is None:
            time.sleep(POLL_SECONDS)
            continue
        on_outcome(Outcome(job.name, "started"))
        waiting.settle(run_job(job, store, device))


class Worker:
    """A process, its current job, and a thread that receives its outcomes."""

    def __init__(self, store: str, device: str, threads: int, events: queue.Queue[tuple[Worker, Outcome | None]]):
        self.device, self.job = device, None  # type: tuple[str, Job | None]
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        limits = {name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "isogloss.studies.execution.worker", store, device],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env={**os.environ, **limits, "TOKENIZERS_PARALLELISM": "false"},
            start_new_session=True,  # Ctrl-C reaches it only through `interrupt`
        )
        threading.Thread(target=self._receive, args=(events,), daemon=True).start()

    def send(self, job: Job) -> None:
        self.job = job
        with contextlib.suppress(BrokenPipeError):  # it is dead, which `_receive` reports
            assert self.process.stdin
            pickle.dump(job, self.process.stdin)
            self.process.stdin.flush()

    def _receive(self, events: queue.Queue[tuple[Worker, Outcome | None]]) -> None:
        assert self.process.stdout
        with contextlib.suppress(EOFError, pickle.UnpicklingError, OSError):
            while True:
                events.put((self, pickle.load(self.process.stdout)))
        events.put((self, None))

    def exit_reason(self) -> str:
        """Why the process ended: the signal or exit code, and the last line of its standard error."""
        code = self.process.wait()
        cause = f"killed by signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        if code == -9:
            cause += " (as the system does when memory runs out)"
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        return f"{cause}; its last output: {lines[-1]}" if lines else cause

    def interrupt(self) -> None:
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                assert self.process.stdin
                self.process.stdin.close()
            else:
                self.process.send_signal(signal.SIGINT)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self._stderr):
            with contextlib.suppress(OSError):
                if stream:
                    stream.close()


class _Pool:
    """The workers of one call, until no job is left."""

    def __init__(self, waiting: Queue, store: str, devices: Sequence[str], threads: int, on_outcome: OnOutcome):
        self.waiting, self.store, self.threads, self.on_outcome = waiting, store, threads, on_outcome
        self.events: queue.Queue[tuple[Worker, Outcome | None]] = queue.Queue()
        self.workers: list[Worker] = []
        self.devices = devices
        self.deaths = 0  # since a worker last finished something

    def work(self) -> None:
        try:
            self.workers = [self.spawn(device) for device in self.devices]
            while not self.waiting.finished:
                self.assign_jobs()
                self.receive()
        except (KeyboardInterrupt, StoreFull):
            self.stop()
            raise
        finally:
            for worker in self.workers:
                worker.end()

    def spawn(self, device: str) -> Worker:
        return Worker(self.store, device, self.threads, self.events)

    def assign_jobs(self) -> None:
        for worker in self.workers:
            job = self.waiting.next() if worker.job is None else None
            if job is not None:
                self.on_outcome(Outcome(job.name, "started", where=str(worker.process.pid)))
                worker.send(job)

    def receive(self) -> None:
        """Wait for an event of a worker, at most `POLL_SECONDS`."""
        try:
            worker, outcome = self.events.get(timeout=POLL_SECONDS)
        except queue.Empty:
            return
        if outcome is not None:
            worker.job, self.deaths = None, 0
            self.waiting.settle(outcome)
        elif worker in self.workers:
            self.replace(worker)

    def replace(self, worker: Worker) -> None:
        """Start a worker in place of a dead one, whose job goes back into the queue."""
        reason, job = worker.exit_reason(), worker.job
        worker.end()
        self.deaths += 1
        if self.deaths > MAX_RETRIES * (len(self.workers) + 1):
            raise IsoglossError(f"{self.deaths} workers died one after the other; the last: {reason}")
        self.workers[self.workers.index(worker)] = self.spawn(worker.device)
        if job is not None:
            self.waiting.settle(Outcome(job.name, "lost", reason))

    def stop(self) -> None:
        """Send Ctrl-C to all workers and let them save checkpoints."""
        for worker in self.workers:
            worker.interrupt()
        end = time.monotonic() + SHUTDOWN_SECONDS
        for worker in self.workers:
            with contextlib.suppress(subprocess.TimeoutExpired):
                worker.process.wait(max(0.0, end - time.monotonic()))
