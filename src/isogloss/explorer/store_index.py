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
from isogloss.explorer.run_results import gathered
from isogloss.explorer.snapshot import Snapshot, update_snapshot
from isogloss.results.rows.study_results import StudyResults
from isogloss.store.entries import MARK, Store
from isogloss.store.study_records import read_records

MAX_RUNS = 32  # in one comparison
MTIME_RESOLUTION_SECONDS = 2.0  # a second write within this time may leave a folder's modification time unchanged


class StoreIndex:
    """The snapshots of a store, the newest by `now`."""

    def __init__(self, folder: str | os.PathLike[str]):
        if not (Path(folder) / MARK).is_file():
            raise InputError(folder, f"a store (with {MARK})", "none", advice="isogloss run makes one")
        self.store = Store(folder)
        self._lock = threading.Lock()
        self._seen: dict[str, object] = {}
        self._snapshot = Snapshot()
        self._gathered = lru_cache(maxsize=32)(self._gather)

    def now(self) -> Snapshot:
        with self._lock:
            seen = {name: _times(self.store.folder / name) for name in ("studies", "entries")}
            if seen != self._seen:
                same = seen["studies"] == self._seen.get("studies")
                records = self._snapshot.records if same else {one.name: one for one in read_records(self.store)}
                self._snapshot = update_snapshot(self._snapshot, records, self.store)
                self._seen = seen
            return self._snapshot

    def results(self, names: Iterable[str]) -> StudyResults:
        """Rows, curves and (lazily) predictions of a few runs, of one study or of several."""
        wanted, snapshot = tuple(dict.fromkeys(names)), self.now()
        if not 1 <= len(wanted) <= MAX_RUNS:
            raise UsageError(f"choose 1 to {MAX_RUNS} runs to look at together; these are {len(wanted)}")
        goals = [goal for name in wanted for goal in snapshot.run(name)[1].goals]
        return self._gathered(wanted, tuple(goal in snapshot.done for goal in goals))

    def _gather(self, names: tuple[str, ...], done: tuple[bool, ...]) -> StudyResults:
        """`done` is what makes a later answer another one."""
        return gathered(self._snapshot, [self._snapshot.run(name) for name in names], self.store)


def _times(folder: Path) -> object:
    """The times of what is in a folder, which change when it does; never the same twice while one is very new."""
    found = []
    for one in sorted(os.scandir(folder), key=lambda one: one.name):
        with contextlib.suppress(FileNotFoundError):  # it was being written, and has its own name by now
            found.append((one.name, one.stat().st_mtime_ns))
    newest = max((when for _, when in found), default=0) / 1e9
    return found, time.time() if time.time() - newest < MTIME_RESOLUTION_SECONDS else None
