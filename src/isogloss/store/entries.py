"""A folder of results, shared by studies and by processes: an entry is complete, or it does not exist.

    entries/KIND/ID/     the result of a stage, with a manifest of every file's hash
    temporary/           entries being written; they are moved to `entries` by renaming
    work/ID/             checkpoints of an unfinished stage; they survive a kill
    locks/ID             the process that is computing an entry
    quarantine/          entries whose bytes differ from the manifest
    running/ studies/    running jobs, and the record of each study

Every file is hashed when it is written and again when it is read.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from isogloss.core.errors import InputError, IsoglossError, UsageError
from isogloss.core.files import fsync_path
from isogloss.core.hashing import file_hash, hash_bytes
from isogloss.store.locks import Lock, acquire, held

MANIFEST, MARK = "manifest.json", "isogloss-store.json"
STORE_VERSION = 1
Manifest = Mapping[str, Any]  # the note of an entry, with its id, its seconds and the hashes of its files
DISK_FULL_ERRORS = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


class Damaged(IsoglossError):
    """An entry's bytes differ from those that were written."""

    def __init__(self, id: str, reason: str):
        self.id = id
        super().__init__(f"the stored entry '{id}' is damaged ({reason})")


class StoreFull(IsoglossError):
    """No space left on the disk.

    >>> str(StoreFull("runs")).partition(";")[0]
    'no space left on the disk of the store runs'
    """

    def __init__(self, store: str | os.PathLike[str]):
        super().__init__(
            f"no space left on the disk of the store {os.fspath(store)}; finished results are kept: free some space "
            "(isogloss gc lists what can be removed) and repeat the command"
        )


@dataclass(frozen=True)
class Entry:
    """A finished entry; a file is checked when it is read."""

    id: str
    folder: Path
    manifest: Manifest

    def file(self, name: str) -> Path:
        """The path of a file, after checking its bytes."""
        recorded, path = self.manifest["files"].get(name), self.folder / name
        if recorded is None:
            raise Damaged(self.id, f"no {name}")
        try:
            if path.stat().st_size != recorded["size"] or file_hash(path) != recorded["hash"]:
                raise Damaged(self.id, f"the bytes of {name} have changed")
        except OSError as error:
            raise Damaged(self.id, f"{name}: {error.strerror}") from None
        return path

    def checked_folder(self) -> Path:
        """The folder, after checking every file."""
        for name in self.manifest["files"]:
            self.file(name)
        return self.folder


class Store:
    """The store in a folder, which is created if it does not exist.

    >>> import tempfile
    >>> Store(tempfile.mkdtemp()).ids()
    set()
    """

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder).absolute()
        try:
            for name in ("entries", "temporary", "work", "locks", "quarantine", "running", "studies"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(folder, "a folder that can be written to", error.strerror or str(error)) from None
        self._check_version()

    def _check_version(self) -> None:
        mark = self.folder / MARK
        if not mark.exists():
            write_atomically(mark, json.dumps({"store": STORE_VERSION}).encode())
        try:
            version = json.loads(mark.read_bytes())["store"]
        except (ValueError, KeyError, TypeError):
            raise InputError(mark, '{"store": 1}', "something else") from None
        if version != STORE_VERSION:
            raise UsageError(f"{self.folder} is a store of version {version}; expected version {STORE_VERSION}")

    def ids(self) -> set[str]:
        """The ids of all finished entries, from folder names alone."""
        kinds = [kind for kind in os.scandir(self.folder / "entries") if kind.is_dir()]
        return {entry.name for kind in kinds for entry in os.scandir(kind.path)}

    def place(self, id: str) -> Path:
        return self.folder / "entries" / id.partition("-")[0] / id

    def get(self, id: str) -> Entry | None:
        """A finished entry, or None; raises `Damaged` if its manifest is damaged."""
        folder = self.place(id)
        for _ in range(2):  # an entry that appears between the two checks is complete and is read again
            try:
                return Entry(id, folder, _unsealed(id, (folder / MANIFEST).read_bytes()))
            except (FileNotFoundError, NotADirectoryError):
                if not folder.exists():
                    return None
        raise Damaged(id, "no manifest")

    def need(self, id: str) -> Entry:
        """A finished entry that must exist."""
        entry = self.get(id)
        if entry is None:
            raise Damaged(id, "it is missing")
        return entry

    @contextlib.contextmanager
    def making(self, id: str, note: Mapping[str, object]) -> Iterator[Path]:
        """A folder that becomes the entry when the block ends without an error, and is removed otherwise.

        If another process has finished the same entry meanwhile, that entry stays.
        """
        folder = self.folder / "temporary" / f"{id}.{secrets.token_hex(6)}"
        start = time.time()
        try:
            folder.mkdir(parents=True)
            yield folder
            _seal(folder, {**note, "id": id, "seconds": time.time() - start, "made": start})
            self.place(id).parent.mkdir(parents=True, exist_ok=True)
            try:
                folder.rename(self.place(id))
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
            fsync_path(self.place(id).parent)
        except OSError as error:
            raise self.explained(error) from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def explained(self, error: Exception) -> Exception:
        """`StoreFull` if the error means that the disk is full, otherwise the error itself."""
        full = isinstance(error, OSError) and error.errno in DISK_FULL_ERRORS
        messages = ("No space left", "Disk quota exceeded", "PytorchStreamWriter failed writing")
        return StoreFull(self.folder) if full or any(message in str(error) for message in messages) else error

    def work(self, id: str) -> Path:
        """The folder of a stage's checkpoints."""
        return self.folder / "work" / id

    def remove_checkpoints(self, id: str) -> None:
        shutil.rmtree(self.work(id), ignore_errors=True)

    def lock(self, id: str) -> Lock | None:
        """The lock of an entry; None while another process holds it."""
        try:
            return acquire(self.folder / "locks" / id)
        except OSError as error:
            raise self.explained(error) from error

    def locked(self, id: str) -> bool:
        return held(self.folder / "locks" / id)

    def quarantine(self, id: str, reason: str) -> None:
        """Move a damaged entry to the quarantine, so that it is recomputed."""
        target = self.folder / "quarantine" / f"{id}.{secrets.token_hex(4)}"
        with contextlib.suppress(FileNotFoundError):  # moved by another process
            self.place(id).rename(target)
            with contextlib.suppress(OSError):
                target.with_suffix(".txt").write_text(reason + "\n", encoding="utf-8")

    def quarantined(self) -> dict[str, str]:
        """The quarantined entries, with the reasons."""
        notes = sorted((self.folder / "quarantine").glob("*.txt"))
        return {note.stem: note.read_text(encoding="utf-8").strip() for note in notes}

    def remove(self, id: str) -> None:
        """Remove an entry: it is renamed first, so that no process sees a part of it."""
        removed = self.folder / "temporary" / f"{id}.{secrets.token_hex(6)}"
        with contextlib.suppress(FileNotFoundError):
            self.place(id).rename(removed)
            shutil.rmtree(removed, ignore_errors=True)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a small file completely or not at all, without waiting for the disk: it may be lost with the power."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _seal(folder: Path, note: Mapping[str, object]) -> None:
    """Write the manifest, and wait until all files are on the disk."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    hashes = {
        path.relative_to(folder).as_posix(): {"size": path.stat().st_size, "hash": file_hash(path)} for path in files
    }
    body = json.dumps({**note, "files": hashes}, ensure_ascii=False)
    (folder / MANIFEST).write_text(json.dumps({"seal": _seal_of(body), "body": body}), encoding="utf-8")
    folders = [path for path in folder.rglob("*") if path.is_dir()]
    for _ in _disk_threads().map(fsync_path, [*files, folder / MANIFEST, *folders, folder]):
        pass  # an error is raised here


def _seal_of(body: str) -> str:
    return hash_bytes(body.encode(), 16).hex()


def _unsealed(id: str, content: bytes) -> Manifest:
    try:
        outer = json.loads(content)
        body: str = outer["body"]
        if outer["seal"] != _seal_of(body):
            raise Damaged(id, "the manifest has changed")
        manifest: Manifest = json.loads(body)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Damaged(id, "the manifest cannot be read") from None
    if manifest.get("id") != id:
        raise Damaged(id, f"it is the entry '{manifest.get('id')}' in the wrong place")
    return manifest


@cache
def _disk_threads() -> ThreadPoolExecutor:
    """Threads that wait for the disk: many files take hardly longer than one."""
    return ThreadPoolExecutor(8, thread_name_prefix="fsync")
