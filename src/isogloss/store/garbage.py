"""What can be removed from a store, with the reason: nothing in use, and finished entries only on request."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from isogloss.core.registry import check_name
from isogloss.store.entries import Store
from isogloss.store.locks import held
from isogloss.store.running_jobs import running
from isogloss.store.study_records import read_records

DAY_SECONDS = 24 * 60 * 60


@dataclass(frozen=True)
class Garbage:
    path: Path
    size: int  # bytes
    why: str


def garbage(store: Store, *, keep: Sequence[str] = (), older: float | None = None) -> list[Garbage]:
    """Leftovers; with `keep` also entries that none of these studies uses, with `older` entries of that many days ago.

    With both, an entry is removable if it is old and none of the studies uses it.
    """
    records = {record.name: record for record in read_records(store)}
    used = {id for name in keep for id in records[check_name(name, records, "study of this store")].stages}
    removable = list(_leftovers(store))
    if keep or older is not None:
        removable += _unused_entries(store, used, older)
    return [Garbage(path, _size(path), why) for path, why in removable]


def remove_garbage(store: Store, items: Iterable[Garbage]) -> None:
    """Remove garbage. Entries are renamed first, so that no process reads a part of one."""
    for item in items:
        if item.path.parent.parent.name == "entries":
            store.remove(item.path.name)
        elif item.path.is_dir():
            shutil.rmtree(item.path, ignore_errors=True)
        else:
            item.path.unlink(missing_ok=True)


def _leftovers(store: Store) -> Iterator[tuple[Path, str]]:
    done = store.ids()
    for path in _inside(store, "temporary"):
        if not store.locked(path.name.rpartition(".")[0]):
            yield path, "left by a process that died"
    for path in _inside(store, "quarantine"):
        yield path, "damaged, in quarantine"
    for path in _inside(store, "work"):
        if path.name in done and not store.locked(path.name):
            yield path, "checkpoints of a stage that is done"
    for path in _inside(store, "locks"):
        if not held(path):
            yield path, "lock of a process that died"
    alive = {f"{notice['node'].partition(':')[0]}-{notice['pid']}.json" for notice in running(store)}
    for path in _inside(store, "running"):
        if path.name not in alive:
            yield path, "notice of a process that died"


def _unused_entries(store: Store, used: set[str], older: float | None) -> Iterator[tuple[Path, str]]:
    for id in sorted(store.ids() - used):
        path = store.place(id)
        days = (time.time() - path.stat().st_mtime) / DAY_SECONDS
        if older is None or days >= older:
            yield path, "used by no study to keep" if older is None else f"computed {days:.0f} days ago"


def _inside(store: Store, name: str) -> list[Path]:
    return sorted((store.folder / name).iterdir())


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size
