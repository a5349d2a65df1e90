"""The order of jobs: each after those it needs, again if its worker died, later if another process is at it."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence

from isogloss.results.store import StoreFull
from isogloss.studies.backends import PATIENCE, RETRIES, Job, Outcome


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
        self._ready = deque(name for name, needs in self._blocked.items() if not needs)
        self._later: list[tuple[float, str]] = []
        self._deaths: Counter[str] = Counter()
        self._open = set(self._jobs)

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
        self._ready.extend(due)
        return self._jobs[self._ready.popleft()] if self._ready else None

    def settle(self, outcome: Outcome) -> None:
        """Take note of what came of a job."""
        name = outcome.job
        if outcome.state == "full":
            raise StoreFull(self._store)
        self._tell(outcome)
        if outcome.state == "busy":
            self._later.append((time.monotonic() + PATIENCE, name))
        elif outcome.state == "lost":
            self._deaths[name] += 1
            if self._deaths[name] <= RETRIES:
                self._ready.append(name)
            else:
                self._give_up(name, f"the worker died {self._deaths[name]} times; the last time: {outcome.reason}")
        elif outcome.state == "failed":
            self._close(name, outcome.reason)
        elif outcome.state == "done":
            self._close(name, None)

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
                self._ready.append(other)
