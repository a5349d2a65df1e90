"""How long a study takes on a number of workers: a simulation of how the backends schedule its jobs.

The order is that of the backends' queue: a free worker takes, among the jobs whose needs are done, the one with the
longest chain of dependent jobs.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isogloss.core.errors import UsageError
from isogloss.studies.execution.backends import Outcome
from isogloss.studies.execution.backends.queue import Queue, longest_chains
from isogloss.studies.planning.job import Job


@dataclass(frozen=True)
class Schedule:
    """`makespan`: seconds until the last job is done; `busy`: seconds of work, summed over all workers.

    No number of workers makes it shorter than `critical_path`, the longest chain of dependent jobs.
    """

    workers: int
    makespan: float
    busy: float
    critical_path: float

    @property
    def utilisation(self) -> float:
        """The share of the workers' time in which they work."""
        return self.busy / (self.workers * self.makespan) if self.makespan else 1.0

    @property
    def hours(self) -> float:
        """Hours of all workers, waiting included: the price of the study."""
        return self.workers * self.makespan / 3600


def simulate(jobs: Sequence[Job], seconds: Mapping[str, float], workers: int) -> Schedule:
    """The schedule of jobs that take `seconds` each.

    >>> jobs = [Job("a", "a", ()), Job("b", "b", ()), Job("c", "c", (), needs=("a",))]
    >>> simulate(jobs, {"a": 2.0, "b": 3.0, "c": 4.0}, workers=2).makespan
    6.0
    """
    if workers < 1:
        raise UsageError(f"expected at least one worker, got {workers}")
    times = {job.name: seconds[job.name] for job in jobs}
    waiting, now = Queue(jobs, "", lambda outcome: None), 0.0
    working: list[tuple[float, int, str]] = []  # a heap: when it ends, how many started before it, the job
    started = 0
    while not waiting.finished:
        while len(working) < workers and (job := waiting.next()):
            heapq.heappush(working, (now + times[job.name], started, job.name))
            started += 1
        now, _, name = heapq.heappop(working)
        waiting.settle(Outcome(name, "done"))
    return Schedule(workers, now, sum(times.values()), critical_path(jobs, times))


def critical_path(jobs: Sequence[Job], times: Mapping[str, float]) -> float:
    """The time of the longest chain of dependent jobs."""
    needs = {job.name: [name for name in job.needs if name in times] for job in jobs}
    return max(longest_chains({job.name: times[job.name] for job in jobs}, needs).values(), default=0.0)
