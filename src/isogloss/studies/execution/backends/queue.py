"""The order of jobs: each after those it needs; retried if its worker died, postponed if another process computes it.

Of the jobs that may start, the first is the one that starts the longest chain of dependent jobs, so that no long job is
left for the end, when most workers are idle. Jobs with the same or unknown times keep the order of the plan.
"""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from isogloss.store.entries import StoreFull
from isogloss.studies.execution.backends import BUSY_RETRY_SECONDS, MAX_RETRIES, OnOutcome, Outcome
from isogloss.studies.planning.job import Job


class Queue:
    """Jobs that wait, may start, or are running; `on_outcome` is called for each change."""

    def __init__(self, jobs: Sequence[Job], store: str, on_outcome: OnOutcome):
        self._store, self._on_outcome = store, on_outcome
        self._jobs = {job.name: job for job in jobs}
        self._blocked = {job.name: {name for name in job.needs if name in self._jobs} for job in jobs}
        self._dependents: dict[str, list[str]] = {}
        for name, needs in self._blocked.items():
            for needed in needs:
                self._dependents.setdefault(needed, []).append(name)
        chains = longest_chains({job.name: job.seconds for job in jobs}, self._dependents)
        by_chain = sorted(self._jobs, key=lambda name: -chains[name])
        self._priority = {name: position for position, name in enumerate(by_chain)}
        self._ready: list[tuple[int, int, str]] = []  # a heap: number of attempts, priority, name
        self._postponed: list[tuple[float, str]] = []
        self._attempts: Counter[str] = Counter()
        self._deaths: Counter[str] = Counter()
        self._open = set(self._jobs)
        for name, needs in self._blocked.items():
            if not needs:
                self._release(name)

    @property
    def finished(self) -> bool:
        return not self._open

    def __len__(self) -> int:
        """Jobs that are neither done nor failed."""
        return len(self._open)

    def next(self) -> Job | None:
        """A job that may start now; None while there is none."""
        now = time.monotonic()
        due = [name for at, name in self._postponed if at <= now]
        self._postponed = [(at, name) for at, name in self._postponed if at > now]
        for name in due:
            self._release(name)
        return self._jobs[heapq.heappop(self._ready)[-1]] if self._ready else None

    def settle(self, outcome: Outcome) -> None:
        """Record the outcome of a job."""
        name = outcome.job
        if outcome.state == "full":
            raise StoreFull(self._store)
        self._on_outcome(outcome)
        self._attempts[name] += 1
        if outcome.state == "busy":
            self._postponed.append((time.monotonic() + BUSY_RETRY_SECONDS, name))
        elif outcome.state == "lost":
            self._deaths[name] += 1
            if self._deaths[name] <= MAX_RETRIES:
                self._release(name)
            else:
                self._fail(name, f"the worker died {self._deaths[name]} times; the last time: {outcome.reason}")
        elif outcome.state == "failed":
            self._close(name, outcome.reason)
        elif outcome.state == "done":
            self._close(name, None)

    def _release(self, name: str) -> None:
        """Let a job start; jobs that were tried before come last."""
        heapq.heappush(self._ready, (self._attempts[name], self._priority[name], name))

    def _fail(self, name: str, reason: str) -> None:
        self._on_outcome(Outcome(name, "failed", reason))
        self._close(name, reason)

    def _close(self, name: str, error: str | None) -> None:
        self._open.discard(name)
        for dependent in self._dependents.get(name, ()):
            if dependent not in self._open:
                continue
            self._blocked[dependent].discard(name)
            if error is not None:
                self._fail(dependent, f"needs '{self._jobs[name].label}', which failed: {error}")
            elif not self._blocked[dependent]:
                self._release(dependent)


def longest_chains(times: Mapping[str, float], dependents: Mapping[str, Collection[str]]) -> dict[str, float]:
    """The time of the longest chain of dependent jobs that starts with each job.

    >>> longest_chains({"a": 2.0, "b": 3.0, "c": 4.0}, {"a": ["c"]})
    {'c': 4.0, 'a': 6.0, 'b': 3.0}
    """
    chains: dict[str, float] = {}
    for first in times:
        stack = [first]
        while stack:  # without recursion: chains may be longer than the recursion limit
            following = dependents.get(stack[-1], ())
            if open_jobs := [name for name in following if name not in chains]:
                stack += open_jobs
                continue
            name = stack.pop()
            chains[name] = times[name] + max((chains[other] for other in following), default=0.0)
    return chains
