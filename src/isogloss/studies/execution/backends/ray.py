"""A Ray cluster: one that is running, or one that is started for the duration of a study.

Every actor on the cluster has a worker process, the same as the local backend's, and sends it one job after another.
The current job of a worker, actor or node that is lost is repeated elsewhere. Results are exchanged only through the
store, which every node must see under the same path.
"""

from __future__ import annotations

import contextlib
import os
import platform
import queue
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from isogloss import __version__
from isogloss.core.errors import IsoglossError, UsageError
from isogloss.core.hardware import kind_of
from isogloss.core.registry import check_name, import_extra
from isogloss.store.entries import Store, StoreFull
from isogloss.studies.execution.backends import MAX_RETRIES, OnOutcome, Outcome
from isogloss.studies.execution.backends.local import POLL_SECONDS, SHUTDOWN_SECONDS, Worker
from isogloss.studies.execution.backends.queue import Queue
from isogloss.studies.planning.job import Job

CONNECT_SECONDS = 10


class RayBackend:
    """Runs jobs on a Ray cluster.

    Args:
        workers: The maximal number of workers; as many as fit on the cluster by default.
        address: The address of a running cluster; that of RAY_ADDRESS or of this machine, or else a new one.
        per_gpu: The number of runs that share a GPU at a time.
        device: cpu or cuda; cuda by default if this machine has a GPU.
    """

    def __init__(
        self, workers: int | None = None, *, address: str | None = None, per_gpu: int = 1, device: str | None = None
    ):
        for name, value in {"workers": 1 if workers is None else workers, "per_gpu": per_gpu}.items():
            if not isinstance(value, int) or value < 1:
                raise UsageError(f"{name}: expected a whole number of at least 1, got '{value}'")
        self.workers, self.address, self.per_gpu = workers, address, per_gpu
        self.device = check_name(device or kind_of(None), ["cpu", "cuda"], "device of the backend 'ray'")

    def run(self, jobs: Sequence[Job], store: str, on_outcome: OnOutcome) -> None:
        waiting = Queue(jobs, store, on_outcome)
        if not jobs:
            return
        threads = max(job.threads for job in jobs)
        with _cluster(import_extra("ray", "ray"), self.address) as ray, _beacon(store) as beacon:
            capacity = _capacity(ray.nodes(), self.device, threads, self.per_gpu)
            if not (capacity or self.workers):
                raise UsageError(_no_capacity(self.device, threads))
            resources = _resources(self.device, threads, self.per_gpu)
            actor_class = ray.remote(RayActor).options(**resources, max_concurrency=2)
            new_actor = partial(actor_class.remote, os.path.abspath(store), self.device, threads, os.getcwd())
            _Pool(ray, new_actor, beacon, waiting, on_outcome).work(min(self.workers or capacity, len(jobs)))


class RayActor:
    """An actor with a worker process on its node, which runs one job at a time."""

    def __init__(self, store: str, device: str, threads: int, folder: str):
        if sys.platform != "win32":  # Ray's processes block Ctrl-C, which a worker would inherit
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        with contextlib.suppress(OSError):
            os.chdir(folder)
        self._arguments = store, device, threads
        self._events: queue.Queue[tuple[Worker, Outcome | None]] = queue.Queue()
        self._worker: Worker | None = None

    def check_node(self, beacon: str, version: str) -> tuple[str, str]:
        """The name of this node, and the reason why it cannot be used ("" if it can)."""
        node = platform.node()
        if not os.path.exists(beacon):
            return node, f"the node {node} does not see the store {self._arguments[0]}, which all nodes must share"
        if __version__ != version:
            return node, f"the node {node} has isogloss {__version__}, expected {version}"
        return node, ""

    def run(self, job: Job) -> Outcome | str:
        """The outcome of a job, or why the worker died."""
        self._worker = self._worker or Worker(*self._arguments, self._events)
        self._worker.send(job)
        _, outcome = self._events.get()
        return self._worker.exit_reason() if outcome is None else outcome

    def interrupt(self) -> None:
        if self._worker:
            self._worker.interrupt()


@dataclass(eq=False)
class _ActorState:
    """The driver's view of an actor."""

    actor: Any  # Ray's handle
    job: Job | None = None
    where: str = ""


class _Pool:
    """The actors of one call, until no job is left."""

    def __init__(
        self, ray: ModuleType, new_actor: Callable[[], Any], beacon: str, waiting: Queue, on_outcome: OnOutcome
    ):
        self.ray, self.new_actor, self.beacon = ray, new_actor, beacon
        self.waiting, self.on_outcome = waiting, on_outcome
        self.idle: list[_ActorState] = []
        self.running: dict[object, _ActorState] = {}  # by Ray's object reference of the pending result
        self.deaths = 0  # since a job last finished

    def work(self, number: int) -> None:
        try:
            for _ in range(number):
                self.spawn()
            while not self.waiting.finished:
                self.assign_jobs()
                self.receive()
        except (KeyboardInterrupt, StoreFull):
            self.stop()
            raise
        finally:
            for state in [*self.idle, *self.running.values()]:
                self.ray.kill(state.actor)

    def spawn(self) -> None:
        """Start an actor, which gets its first job once it is placed on a node and has checked it."""
        state = _ActorState(self.new_actor())
        self.running[state.actor.check_node.remote(self.beacon, __version__)] = state

    def assign_jobs(self) -> None:
        while self.idle and (job := self.waiting.next()):
            state = self.idle.pop()
            state.job = job
            self.on_outcome(Outcome(job.name, "started", where=state.where))
            self.running[state.actor.run.remote(job)] = state

    def receive(self) -> None:
        """Wait for a result of an actor, at most `POLL_SECONDS`."""
        if not self.running:
            time.sleep(POLL_SECONDS)
            return
        ready, _ = self.ray.wait(list(self.running), timeout=POLL_SECONDS)
        for reference in ready:
            state = self.running.pop(reference)
            try:
                self.handle(state, self.ray.get(reference))
            except self.ray.exceptions.RayError as error:
                self.replace(state, " ".join(str(error).split()))

    def handle(self, state: _ActorState, result: Outcome | str | tuple[str, str]) -> None:
        if isinstance(result, str):
            self.replace(state, result)
            return
        state.job = None
        self.idle.append(state)
        if isinstance(result, Outcome):
            self.deaths = 0
            self.waiting.settle(result)
            return
        state.where, problem = result
        if problem:
            raise UsageError(problem)

    def replace(self, state: _ActorState, reason: str) -> None:
        """Start an actor in place of a dead one, whose job goes back into the queue."""
        self.ray.kill(state.actor)
        self.deaths += 1
        if self.deaths > MAX_RETRIES * (len(self.idle) + len(self.running) + 2):
            raise IsoglossError(f"{self.deaths} workers died one after the other; the last: {reason}")
        self.spawn()
        if state.job is not None:
            self.waiting.settle(Outcome(state.job.name, "lost", reason, state.where))

    def stop(self) -> None:
        """Send Ctrl-C to all workers and let them save checkpoints."""
        busy = {reference: state for reference, state in self.running.items() if state.job}
        for state in busy.values():
            state.actor.interrupt.remote()
        if busy:
            self.ray.wait(list(busy), num_returns=len(busy), timeout=SHUTDOWN_SECONDS)


@contextlib.contextmanager
def _cluster(ray: ModuleType, address: str | None) -> Iterator[ModuleType]:
    """Ray, connected to a cluster; a connection that existed before is kept."""
    if ray.is_initialized():
        yield ray
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage reports
    address = address or os.environ.get("RAY_ADDRESS")
    try:
        _check_address(address or "")
        ray.init(address, log_to_driver=False, logging_level="ERROR")
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        where = f"reached at '{address}'" if address else "reached or started"
        raise UsageError(f"Ray cannot be {where}: {' '.join(str(error).split())}") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _check_address(address: str) -> None:
    """An OSError unless HOST:PORT accepts connections; Ray itself would retry for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.rpartition("/")[2], int(port)), timeout=CONNECT_SECONDS).close()


@contextlib.contextmanager
def _beacon(store: str) -> Iterator[str]:
    """A file with a unique name in the store, by which nodes are checked; a lock file, which `isogloss gc` removes."""
    lock = Store(store).lock(f"ray-{secrets.token_hex(8)}")
    assert lock, "the name is new"
    try:
        yield str(lock.path)
    finally:
        lock.release()


def _capacity(nodes: Sequence[dict[str, Any]], device: str, threads: int, per_gpu: int) -> int:
    """The number of workers that fit on the nodes of a cluster that are alive."""
    resources = [node["Resources"] for node in nodes if node["Alive"]]
    if device == "cuda":
        return sum(int(node.get("GPU", 0)) for node in resources) * per_gpu
    return sum(int(node.get("CPU", 0)) // threads for node in resources)


def _no_capacity(device: str, threads: int) -> str:
    required = "a GPU" if device == "cuda" else f"{threads} processors, the number of threads of a run"
    return f"no node of the Ray cluster has {required}; for an autoscaling cluster, give the number of workers"


def _resources(device: str, threads: int, per_gpu: int) -> dict[str, float]:
    """The resources of a node that a worker uses, in Ray's ten-thousandths.

    >>> _resources("cuda", 1, 3), _resources("cpu", 2, 1)
    ({'num_cpus': 0, 'num_gpus': 0.3333}, {'num_cpus': 2})
    """
    return {"num_cpus": 0, "num_gpus": (10_000 // per_gpu) / 10_000} if device == "cuda" else {"num_cpus": threads}
