"""The current snapshot of a store, and the results of a few of its runs.

The modification times of a few folders show whether anything was written since the last snapshot.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from isogloss.core.errors import InputError, UsageError
from isogloss.explorer.run_results import read_runs
from isogloss.explorer.snapshot import Snapshot, update_snapshot
from isogloss.results.rows.study_results import StudyResults
from isogloss.store.entries import MARK, Store
from isogloss.store.study_records import read_records

MAX_RUNS = 32  # in one comparison
MTIME_RESOLUTION_SECONDS = 2.0  # a second write within this time may leave a folder's modification time unchanged


class StoreIndex:
    """The snapshots of a store; `now` returns the latest."""

    def __init__(self, folder: str | os.PathLike[str]):
        if not (Path(folder) / MARK).is_file():
            raise InputError(folder, f"a store (with {MARK})", "none", advice="isogloss run creates one")
        self.store = Store(folder)
        self._lock = threading.Lock()
        self._times: dict[str, object] = {}
        self._snapshot = Snapshot()
        self._cached_results = lru_cache(maxsize=32)(self._read_results)

    def now(self) -> Snapshot:
        with self._lock:
            times = {name: _modification_times(self.store.folder / name) for name in ("studies", "entries")}
            if times != self._times:
                if times["studies"] == self._times.get("studies"):
                    records = self._snapshot.records
                else:
                    records = {record.name: record for record in read_records(self.store)}
                self._snapshot = update_snapshot(self._snapshot, records, self.store)
                self._times = times
            return self._snapshot

    def results(self, names: Iterable[str]) -> StudyResults:
        """Rows, curves and lazy predictions of a few runs, from one study or several."""
        runs, snapshot = tuple(dict.fromkeys(names)), self.now()
        if not 1 <= len(runs) <= MAX_RUNS:
            raise UsageError(f"choose 1 to {MAX_RUNS} runs to compare, got {len(runs)}")
        goals = [goal for name in runs for goal in snapshot.run(name)[1].goals]
        return self._cached_results(runs, tuple(goal in snapshot.done for goal in goals))

    def _read_results(self, names: tuple[str, ...], done: tuple[bool, ...]) -> StudyResults:
        """`done` is part of the cache key: results change when a run finishes."""
        return read_runs(self._snapshot, [self._snapshot.run(name) for name in names], self.store)


def _modification_times(folder: Path) -> object:
    """The times of the entries of a folder; a recent time makes the value unique, so that it is read again."""
    times = []
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        with contextlib.suppress(FileNotFoundError):  # a temporary file that was renamed since
            times.append((entry.name, entry.stat().st_mtime_ns))
    newest = max((nanoseconds for _, nanoseconds in times), default=0) / 1e9
    return times, time.time() if time.time() - newest < MTIME_RESOLUTION_SECONDS else None
