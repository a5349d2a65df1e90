"""How long a study takes on so many workers: its jobs given out one by one, as the backends do it, on paper.

The order is that of the backends' own queue: whoever is free takes, of the jobs whose needs are done, the one that most
depends on. Nothing that is computed twice is counted twice, for the jobs of a plan are what has to be done once.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isogloss.core.errors import UsageError
from isogloss.studies.execution.backends import Job, Outcome
from isogloss.studies.execution.backends.queue import Queue, longest_ways


@dataclass(frozen=True)
class Schedule:
    """`makespan`: seconds until the last job is done; `busy`: seconds of work of all workers together.

    No number of workers makes it shorter than `critical_path`, the longest chain of jobs that need each other.
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
        """Hours of all workers, those that they wait included: what one pays for."""
        return self.workers * self.makespan / 3600


def simulate(
    jobs: Sequence[Job], seconds: Mapping[str, float], workers: int, *, overhead: float = 0.0, startup: float = 0.0
) -> Schedule:
    """The schedule of jobs that take `seconds` each, and `overhead` more, on workers that take `startup` to begin with.

    >>> jobs = [Job("a", "a", ()), Job("b", "b", ()), Job("c", "c", (), needs=("a",))]
    >>> simulate(jobs, {"a": 2.0, "b": 3.0, "c": 4.0}, workers=2).makespan
    6.0
    """
    if workers < 1:
        raise UsageError(f"expected at least one worker, got {workers}")
    times = {job.name: seconds[job.name] + overhead for job in jobs}
    waiting, now, end = Queue(jobs, "", lambda outcome: None), startup if jobs else 0.0, 0.0
    working: list[tuple[float, int, str]] = []  # a heap: when it ends, which began first, the job
    begun = 0
    while not waiting.finished:
        while len(working) < workers and (job := waiting.next()):
            heapq.heappush(working, (now + times[job.name], begun, job.name))
            begun += 1
        now, _, name = heapq.heappop(working)
        end = now
        waiting.settle(Outcome(name, "done"))
    return Schedule(workers, end, sum(times.values()), startup * bool(jobs) + longest_chain(jobs, times))


def longest_chain(jobs: Sequence[Job], times: Mapping[str, float]) -> float:
    """The longest time of jobs that need each other, one after the other."""
    needs = {job.name: [name for name in job.needs if name in times] for job in jobs}
    return max(longest_ways({job.name: times[job.name] for job in jobs}, needs).values(), default=0.0)
