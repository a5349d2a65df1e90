"""The running jobs of a store: every worker process writes a small file with the state of its job."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isogloss.store.entries import Store, write_atomically
from isogloss.store.locks import STALE_SECONDS, Owner, this_process

NoticeContent = dict[str, Any]
MIN_NOTICE_SECONDS = 0.5


class Notice:
    """The file of this process. Writing never raises an error: a full disk must not end a run because of it."""

    def __init__(self, store: Store):
        owner = this_process()
        self._facts: dict[str, object] = dict(vars(owner))
        host = owner.node.partition(":")[0]
        self._path = store.folder / "running" / f"{host}-{owner.pid}.json"
        self._written = 0.0

    def write(self, facts: Mapping[str, object], *, now: bool = False) -> None:
        """Write the state of the job (`label`, `stage`, `step`, `steps`, `loss`, `best` …), at most twice a second."""
        if now or time.monotonic() - self._written >= MIN_NOTICE_SECONDS:
            self._written = time.monotonic()
            with contextlib.suppress(OSError):
                write_atomically(self._path, json.dumps({**self._facts, **facts, "told": time.time()}).encode())

    def clear(self) -> None:
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)


def running(store: Store) -> list[NoticeContent]:
    """The notices of the processes that are alive, as far as this machine can know."""
    notices = []
    for path in sorted((store.folder / "running").glob("*.json")):
        notice = _read(path)
        if notice is not None and _alive(notice):
            notices.append(notice)
    return notices


def _read(path: Path) -> NoticeContent | None:
    try:
        notice = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return notice if isinstance(notice, dict) and {"node", "pid", "started", "told"} <= notice.keys() else None


def _alive(notice: NoticeContent) -> bool:
    alive = Owner(notice["node"], notice["pid"], notice["started"]).alive()
    return time.time() - notice["told"] < STALE_SECONDS if alive is None else alive
