"""Worker processes on this machine, which share its processors or its GPUs.

A worker that dies takes nothing with it but the job at hand, which is done again. How many there are does not show in
the results: each run computes with the number of threads that its study says.
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
from collections.abc import Callable, Sequence
from typing import IO

from isogloss.core.errors import IsoglossError, UsageError
from isogloss.core.hardware import cores, gpus
from isogloss.store.entries import StoreFull
from isogloss.studies.execution.backends import RETRIES, Job, Outcome
from isogloss.studies.execution.backends.queue import Queue
from isogloss.studies.execution.jobs import attempt

FAREWELL = 30.0  # seconds that workers have to keep what they are doing after Ctrl-C
TICK = 0.2  # seconds between looks at jobs that have to wait


class LocalBackend:
    """`workers`: how many; as many as there is room for where not given, and 0 for none but this process.

    `per_gpu`: runs that share a GPU at a time. `device`: cpu, cuda, cuda:1 …; GPUs where there are some.
    """

    def __init__(self, workers: int | None = None, *, per_gpu: int = 1, device: str | None = None):
        if (workers is not None and workers < 0) or per_gpu < 1:
            raise UsageError(f"expected workers of at least 0 and per_gpu of at least 1, got {workers} and {per_gpu}")
        self.workers, self.per_gpu, self.device = workers, per_gpu, device

    def run(self, jobs: Sequence[Job], store: str, tell: Callable[[Outcome], None]) -> None:
        waiting = Queue(jobs, store, tell)
        if self.workers == 0:
            _alone(waiting, store, self.device, tell)
        elif jobs:
            _Crew(waiting, store, self._devices(jobs), max(job.threads for job in jobs), tell).work()

    def _devices(self, jobs: Sequence[Job]) -> list[str]:
        """A device for each worker."""
        on_gpus = self.device in (None, "cuda") and gpus() > 0
        places = [f"cuda:{n}" for n in range(gpus())] if on_gpus else [self.device or "cpu"]
        room = self.per_gpu * len(places)
        if places == ["cpu"]:
            room = max(1, cores() // max(job.threads for job in jobs))
        number = min(self.workers or room, len(jobs))
        return list(itertools.islice(itertools.cycle(places), number))


def _alone(waiting: Queue, store: str, device: str | None, tell: Callable[[Outcome], None]) -> None:
    while not waiting.finished:
        job = waiting.next()
        if job is None:
            time.sleep(TICK)
            continue
        tell(Outcome(job.name, "started"))
        waiting.settle(attempt(job, store, device))


class Worker:
    """A process, the job it has, and a thread that listens to it."""

    def __init__(self, store: str, device: str, threads: int, events: queue.Queue[tuple[Worker, Outcome | None]]):
        self.device, self.job = device, None  # type: tuple[str, Job | None]
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        limits = {name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "isogloss.studies.execution.worker", store, device],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env={**os.environ, **limits, "TOKENIZERS_PARALLELISM": "false"},
            start_new_session=True,  # Ctrl-C reaches it through us, once
        )
        threading.Thread(target=self._listen, args=(events,), daemon=True).start()

    def give(self, job: Job) -> None:
        self.job = job
        with contextlib.suppress(BrokenPipeError):  # it is dead, which the listener will tell
            assert self.process.stdin
            pickle.dump(job, self.process.stdin)
            self.process.stdin.flush()

    def _listen(self, events: queue.Queue[tuple[Worker, Outcome | None]]) -> None:
        assert self.process.stdout
        with contextlib.suppress(EOFError, pickle.UnpicklingError, OSError):
            while True:
                events.put((self, pickle.load(self.process.stdout)))
        events.put((self, None))

    def epitaph(self) -> str:
        """Why it died: the signal or exit code, and its last words."""
        code = self.process.wait()
        cause = f"killed by signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        if code == -9:
            cause += " (as the system does when memory runs out)"
        self._said.seek(0)
        words = self._said.read().decode(errors="replace").strip().splitlines()
        return f"{cause}; its last words: {words[-1]}" if words else cause

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
        for stream in (self.process.stdin, self._said):
            with contextlib.suppress(OSError):
                if stream:
                    stream.close()


class _Crew:
    """The workers of one call, until nothing is left to do."""

    def __init__(
        self,
        waiting: Queue,
        store: str,
        devices: Sequence[str],
        threads: int,
        tell: Callable[[Outcome], None],
    ):
        self.waiting, self.store, self.threads, self.tell = waiting, store, threads, tell
        self.events: queue.Queue[tuple[Worker, Outcome | None]] = queue.Queue()
        self.workers: list[Worker] = []
        self.devices = devices
        self.deaths = 0  # since a worker last finished something

    def work(self) -> None:
        try:
            self.workers = [self.hire(device) for device in self.devices]
            while not self.waiting.finished:
                self.hand_out()
                self.hear()
        except (KeyboardInterrupt, StoreFull):
            self.stop()
            raise
        finally:
            for worker in self.workers:
                worker.end()

    def hire(self, device: str) -> Worker:
        return Worker(self.store, device, self.threads, self.events)

    def hand_out(self) -> None:
        for worker in self.workers:
            job = self.waiting.next() if worker.job is None else None
            if job is not None:
                self.tell(Outcome(job.name, "started", where=str(worker.process.pid)))
                worker.give(job)

    def hear(self) -> None:
        """Wait a little for news of a worker."""
        try:
            worker, outcome = self.events.get(timeout=TICK)
        except queue.Empty:
            return
        if outcome is not None:
            worker.job, self.deaths = None, 0
            self.waiting.settle(outcome)
        elif worker in self.workers:
            self.replace(worker)

    def replace(self, worker: Worker) -> None:
        """Another in the place of a dead one, and its job back into the queue."""
        reason, job = worker.epitaph(), worker.job
        worker.end()
        self.deaths += 1
        if self.deaths > RETRIES * len(self.workers) + RETRIES:
            raise IsoglossError(f"{self.deaths} workers died one after the other; the last: {reason}")
        self.workers[self.workers.index(worker)] = self.hire(worker.device)
        if job is not None:
            self.waiting.settle(Outcome(job.name, "lost", reason))

    def stop(self) -> None:
        """Ctrl-C to all of them, and time to keep what they are doing."""
        for worker in self.workers:
            worker.interrupt()
        end = time.monotonic() + FAREWELL
        for worker in self.workers:
            with contextlib.suppress(subprocess.TimeoutExpired):
                worker.process.wait(max(0.0, end - time.monotonic()))
