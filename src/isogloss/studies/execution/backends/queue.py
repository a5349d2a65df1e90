"""The order of jobs: each after those it needs, again if its worker died, later if another process is at it.

Of those that may start the first is the one with the longest way from its start to the end of all that waits for it, so
that no long job is left for the end, when most workers have nothing to do. Where jobs say nothing of their times, or
the same, they come in the order of the plan.
"""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from isogloss.store.entries import StoreFull
from isogloss.studies.execution.backends import PATIENCE, RETRIES, Job, Outcome


class Queue:
    """Jobs that wait, may start, or are being done; `tell` hears what becomes of each."""

    def __init__(self, jobs: Sequence[Job], store: str, tell: Callable[[Outcome], None]):
        self._store, self._tell = store, tell
        self._jobs = {job.name: job for job in jobs}
        self._blocked = {job.name: {name for name in job.needs if name in self._jobs} for job in jobs}
        self._followers: dict[str, list[str]] = {}
        for name, needs in self._blocked.items():
            for other in needs:
                self._followers.setdefault(other, []).append(name)
        ways = longest_ways({job.name: job.seconds for job in jobs}, self._followers)
        self._place = {name: place for place, name in enumerate(sorted(self._jobs, key=lambda name: -ways[name]))}
        self._ready: list[tuple[int, int, str]] = []  # a heap: how often it was tried, its place, its name
        self._later: list[tuple[float, str]] = []
        self._tries: Counter[str] = Counter()
        self._deaths: Counter[str] = Counter()
        self._open = set(self._jobs)
        for name, needs in self._blocked.items():
            if not needs:
                self._release(name)

    @property
    def finished(self) -> bool:
        return not self._open

    def __len__(self) -> int:
        """Jobs that are neither done nor given up."""
        return len(self._open)

    def next(self) -> Job | None:
        """A job that may start now; None while there is none."""
        now = time.monotonic()
        due = [name for at, name in self._later if at <= now]
        self._later = [(at, name) for at, name in self._later if at > now]
        for name in due:
            self._release(name)
        return self._jobs[heapq.heappop(self._ready)[-1]] if self._ready else None

    def settle(self, outcome: Outcome) -> None:
        """Take note of what came of a job."""
        name = outcome.job
        if outcome.state == "full":
            raise StoreFull(self._store)
        self._tell(outcome)
        self._tries[name] += 1
        if outcome.state == "busy":
            self._later.append((time.monotonic() + PATIENCE, name))
        elif outcome.state == "lost":
            self._deaths[name] += 1
            if self._deaths[name] <= RETRIES:
                self._release(name)
            else:
                self._give_up(name, f"the worker died {self._deaths[name]} times; the last time: {outcome.reason}")
        elif outcome.state == "failed":
            self._close(name, outcome.reason)
        elif outcome.state == "done":
            self._close(name, None)

    def _release(self, name: str) -> None:
        """A job may start; one that was tried before comes after those that were not."""
        heapq.heappush(self._ready, (self._tries[name], self._place[name], name))

    def _give_up(self, name: str, reason: str) -> None:
        self._tell(Outcome(name, "failed", reason))
        self._close(name, reason)

    def _close(self, name: str, error: str | None) -> None:
        self._open.discard(name)
        for other in self._followers.get(name, ()):
            if other not in self._open:
                continue
            self._blocked[other].discard(name)
            if error is not None:
                self._give_up(other, f"needs '{self._jobs[name].label}', which failed: {error}")
            elif not self._blocked[other]:
                self._release(other)


def longest_ways(times: Mapping[str, float], followers: Mapping[str, Collection[str]]) -> dict[str, float]:
    """From the start of each job to the end of the longest chain of jobs that begins with it.

    >>> longest_ways({"a": 2.0, "b": 3.0, "c": 4.0}, {"a": ["c"]})
    {'c': 4.0, 'a': 6.0, 'b': 3.0}
    """
    ways: dict[str, float] = {}
    for first in times:
        stack = [first]
        while stack:  # no recursion: chains may be longer than the interpreter could follow
            after = followers.get(stack[-1], ())
            if left := [name for name in after if name not in ways]:
                stack += left
                continue
            name = stack.pop()
            ways[name] = times[name] + max((ways[one] for one in after), default=0.0)
    return ways
