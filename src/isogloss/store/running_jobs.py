"""What is being done in a store now: every working process keeps a small file there that anybody may read."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isogloss.store.entries import Store, write_atomically
from isogloss.store.locks import STALE, Owner, this_process

MIN_NOTICE_SECONDS = 0.5  # seconds between two notices of one process


class Notice:
    """This process's own file. Telling never fails and never waits: a full disk must not end a run through it."""

    def __init__(self, store: Store):
        owner = this_process()
        self._facts: dict[str, Any] = vars(owner)
        host = owner.node.partition(":")[0]
        self._path = store.folder / "running" / f"{host}-{owner.pid}.json"
        self._told = 0.0

    def write(self, facts: Mapping[str, Any], *, now: bool = False) -> None:
        """Say what is being done: `label` of the run, `stage`, `step` of `steps`, `loss`, `best` …"""
        if now or time.monotonic() - self._told >= MIN_NOTICE_SECONDS:
            self._told = time.monotonic()
            with contextlib.suppress(OSError):
                write_atomically(self._path, json.dumps({**self._facts, **facts, "told": time.time()}).encode())

    def clear(self) -> None:
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)


def running(store: Store) -> list[dict[str, Any]]:
    """The notices of the processes that are alive, as far as can be known."""
    found = []
    for path in sorted((store.folder / "running").glob("*.json")):
        notice = _read(path)
        if notice is not None and _alive(notice):
            found.append(notice)
    return found


def _read(path: Path) -> dict[str, Any] | None:
    try:
        notice = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return notice if isinstance(notice, dict) and {"node", "pid", "started", "told"} <= notice.keys() else None


def _alive(notice: Mapping[str, Any]) -> bool:
    alive = Owner(notice["node"], notice["pid"], notice["started"]).alive()
    return time.time() - notice["told"] < STALE if alive is None else alive
