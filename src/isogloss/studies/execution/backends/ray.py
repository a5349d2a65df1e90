"""A Ray cluster, one that runs already or one that is started here for the time of a study.

At each place of the cluster an actor keeps a worker process, the same as the local backend's, and gives it one job
after another. What was being done by a worker, an actor or a node that is lost is done again elsewhere. Results travel
through the store alone, which every node has to see under the same path.
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
from typing import Any

from isogloss import __version__
from isogloss.core.errors import IsoglossError, MissingExtra, UsageError
from isogloss.core.hardware import kind_of
from isogloss.core.registry import check_name
from isogloss.store.entries import Store, StoreFull
from isogloss.studies.execution.backends import RETRIES, Job, Outcome
from isogloss.studies.execution.backends.local import FAREWELL, TICK, Worker
from isogloss.studies.execution.backends.queue import Queue


class RayBackend:
    """`address`: of a cluster that runs; where not given, the one of RAY_ADDRESS or of this machine, or else a new one.

    `workers`: how many at most; as many as the cluster has room for where not given. `per_gpu`: runs that share a GPU
    at a time. `device`: cpu or cuda; where not given, cuda if this machine has a GPU.
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        address: str | None = None,
        per_gpu: int = 1,
        device: str | None = None,
    ):
        for name, value in {"workers": 1 if workers is None else workers, "per_gpu": per_gpu}.items():
            if not isinstance(value, int) or value < 1:
                raise UsageError(f"{name}: expected a whole number of at least 1, got '{value}'")
        self.workers, self.address, self.per_gpu = workers, address, per_gpu
        self.device = check_name(device or kind_of(None), ["cpu", "cuda"], "device of the backend 'ray'")

    def run(self, jobs: Sequence[Job], store: str, tell: Callable[[Outcome], None]) -> None:
        waiting = Queue(jobs, store, tell)
        if not jobs:
            return
        threads = max(job.threads for job in jobs)
        with _cluster(_ray(), self.address) as ray, _beacon(store) as beacon:
            room = _room(ray.nodes(), self.device, threads, self.per_gpu)
            if not (room or self.workers):
                raise UsageError(_no_room(self.device, threads))
            foreman = ray.remote(Foreman).options(**_share(self.device, threads, self.per_gpu), max_concurrency=2)
            hire = partial(foreman.remote, os.path.abspath(store), self.device, threads, os.getcwd())
            _Crew(ray, hire, beacon, waiting, tell).work(min(self.workers or room, len(jobs)))


class Foreman:
    """An actor: keeps a worker process on its node, and does jobs with it, one at a time."""

    def __init__(self, store: str, device: str, threads: int, folder: str):
        if sys.platform != "win32":  # Ray's processes block Ctrl-C, and a worker would inherit that
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        with contextlib.suppress(OSError):
            os.chdir(folder)
        self._arguments = store, device, threads
        self._events: queue.Queue[tuple[Worker, Outcome | None]] = queue.Queue()
        self._worker: Worker | None = None

    def report(self, beacon: str, version: str) -> tuple[str, str]:
        """Where this is, and what is wrong with it."""
        here = platform.node()
        if not os.path.exists(beacon):
            return here, f"the node {here} does not see the store {self._arguments[0]}, which all nodes have to share"
        if __version__ != version:
            return here, f"the node {here} has isogloss {__version__}, and not {version}"
        return here, ""

    def do(self, job: Job) -> Outcome | str:
        """What came of a job, or why the worker died."""
        self._worker = self._worker or Worker(*self._arguments, self._events)
        self._worker.give(job)
        _, outcome = self._events.get()
        return self._worker.epitaph() if outcome is None else outcome

    def interrupt(self) -> None:
        if self._worker:
            self._worker.interrupt()


@dataclass(eq=False)
class _Hand:
    """An actor as the driver knows it."""

    actor: Any
    job: Job | None = None
    where: str = ""


class _Crew:
    """The actors of one call, until nothing is left to do."""

    def __init__(self, ray: Any, hire: Callable[[], Any], beacon: str, waiting: Queue, tell: Callable[[Outcome], None]):
        self.ray, self.actor, self.beacon, self.waiting, self.tell = ray, hire, beacon, waiting, tell
        self.idle: list[_Hand] = []
        self.expected: dict[Any, _Hand] = {}  # what Ray has promised, and of whom
        self.deaths = 0  # since something was last finished

    def work(self, number: int) -> None:
        try:
            for _ in range(number):
                self.hire()
            while not self.waiting.finished:
                self.hand_out()
                self.hear()
        except (KeyboardInterrupt, StoreFull):
            self.stop()
            raise
        finally:
            for hand in [*self.idle, *self.expected.values()]:
                self.ray.kill(hand.actor)

    def hire(self) -> None:
        """An actor, which gets its first job when it has reported from a place that has room."""
        hand = _Hand(self.actor())
        self.expected[hand.actor.report.remote(self.beacon, __version__)] = hand

    def hand_out(self) -> None:
        while self.idle and (job := self.waiting.next()):
            hand = self.idle.pop()
            hand.job = job
            self.tell(Outcome(job.name, "started", where=hand.where))
            self.expected[hand.actor.do.remote(job)] = hand

    def hear(self) -> None:
        """Wait a little for news of an actor."""
        if not self.expected:
            time.sleep(TICK)
            return
        come, _ = self.ray.wait(list(self.expected), timeout=TICK)
        for promise in come:
            hand = self.expected.pop(promise)
            try:
                self.take(hand, self.ray.get(promise))
            except self.ray.exceptions.RayError as error:
                self.replace(hand, " ".join(str(error).split()))

    def take(self, hand: _Hand, news: Outcome | str | tuple[str, str]) -> None:
        if isinstance(news, str):
            self.replace(hand, news)
            return
        hand.job = None
        self.idle.append(hand)
        if isinstance(news, Outcome):
            self.deaths = 0
            self.waiting.settle(news)
            return
        hand.where, complaint = news
        if complaint:
            raise UsageError(complaint)

    def replace(self, hand: _Hand, reason: str) -> None:
        """Another in the place of a dead one, and its job back into the queue."""
        self.ray.kill(hand.actor)
        self.deaths += 1
        if self.deaths > RETRIES * (len(self.idle) + len(self.expected) + 2):
            raise IsoglossError(f"{self.deaths} workers died one after the other; the last: {reason}")
        self.hire()
        if hand.job is not None:
            self.waiting.settle(Outcome(hand.job.name, "lost", reason, hand.where))

    def stop(self) -> None:
        """Ctrl-C to all workers, and time to keep what they are doing."""
        busy = {promise: hand for promise, hand in self.expected.items() if hand.job}
        for hand in busy.values():
            hand.actor.interrupt.remote()
        if busy:
            self.ray.wait(list(busy), num_returns=len(busy), timeout=FAREWELL)


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingExtra("ray", "ray") from None
    return ray


@contextlib.contextmanager
def _cluster(ray: Any, address: str | None) -> Iterator[Any]:
    """Ray, connected to a cluster; left as it is if it was so before."""
    if ray.is_initialized():
        yield ray
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody asked for reports to Ray's makers
    address = address or os.environ.get("RAY_ADDRESS")
    try:
        _knock(address or "")
        ray.init(address, log_to_driver=False, logging_level="ERROR")
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        where = f"reached at '{address}'" if address else "reached or started"
        raise UsageError(f"Ray cannot be {where}: {' '.join(str(error).split())}") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """An OSError unless somebody listens at HOST:PORT; Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.rpartition("/")[2], int(port)), timeout=10).close()


@contextlib.contextmanager
def _beacon(store: str) -> Iterator[str]:
    """A file in the store that nobody can have anywhere else; a lock, for they are looked after."""
    lock = Store(store).lock(f"ray-{secrets.token_hex(8)}")
    assert lock, "a new name"
    try:
        yield str(lock.path)
    finally:
        lock.release()


def _room(nodes: Sequence[dict[str, Any]], device: str, threads: int, per_gpu: int) -> int:
    """How many workers the living nodes of a cluster have room for."""
    resources = [node["Resources"] for node in nodes if node["Alive"]]
    if device == "cuda":
        return sum(int(one.get("GPU", 0)) for one in resources) * per_gpu
    return sum(int(one.get("CPU", 0)) // threads for one in resources)


def _no_room(device: str, threads: int) -> str:
    wanted = "a GPU" if device == "cuda" else f"{threads} processors, as many as the threads of a run"
    return f"no node of the Ray cluster has {wanted}; for a cluster that grows, say how many workers there are to be"


def _share(device: str, threads: int, per_gpu: int) -> dict[str, float]:
    """What a worker takes of its node, in Ray's ten-thousandths.

    >>> _share("cuda", 1, 3), _share("cpu", 2, 1)
    ({'num_cpus': 0, 'num_gpus': 0.3333}, {'num_cpus': 2})
    """
    return {"num_cpus": 0, "num_gpus": (10_000 // per_gpu) / 10_000} if device == "cuda" else {"num_cpus": threads}
