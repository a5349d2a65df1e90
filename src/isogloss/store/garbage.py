"""What can be removed from a store, and why: nothing that is being worked on, and nothing finished unless asked."""

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
    """Leftovers; with `keep` also entries that none of these studies uses, with `older` those made that many days ago.

    With both, an entry goes if it is old and none of the studies uses it.
    """
    records = {record.name: record for record in read_records(store)}
    used = {id for name in keep for id in records[check_name(name, records, "study of this store")].stages}
    found = list(_leftovers(store))
    if keep or older is not None:
        found += _entries(store, used, older)
    return [Garbage(path, _size(path), why) for path, why in found]


def remove_garbage(store: Store, found: Iterable[Garbage]) -> None:
    """Remove what was found. Entries vanish by renaming first, so that no half of one is ever read."""
    for one in found:
        if one.path.parent.parent.name == "entries":
            store.remove(one.path.name)
        elif one.path.is_dir():
            shutil.rmtree(one.path, ignore_errors=True)
        else:
            one.path.unlink(missing_ok=True)


def _leftovers(store: Store) -> Iterator[tuple[Path, str]]:
    done = store.ids()
    for path in _inside(store, "temporary"):
        if not store.locked(path.name.rpartition(".")[0]):
            yield path, "left by a process that died"
    for path in _inside(store, "quarantine"):
        yield path, "damaged, and set aside"
    for path in _inside(store, "work"):
        if path.name in done and not store.locked(path.name):
            yield path, "checkpoints of a stage that is done"
    for path in _inside(store, "locks"):
        if not held(path):
            yield path, "lock of a process that died"
    alive = {f"{one['node'].partition(':')[0]}-{one['pid']}.json" for one in running(store)}
    for path in _inside(store, "running"):
        if path.name not in alive:
            yield path, "notice of a process that died"


def _entries(store: Store, used: set[str], older: float | None) -> Iterator[tuple[Path, str]]:
    for id in sorted(store.ids() - used):
        path = store.place(id)
        days = (time.time() - path.stat().st_mtime) / DAY_SECONDS
        if older is None or days >= older:
            yield path, "of no study that is kept" if older is None else f"made {days:.0f} days ago"


def _inside(store: Store, name: str) -> list[Path]:
    return sorted((store.folder / name).iterdir())


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size
