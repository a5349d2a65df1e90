"""Lock files: the holder writes its host and process into the file and touches it regularly.

The lock of a dead process is broken: immediately if the process ran on this machine, otherwise when the file has not
been touched for a minute. On one machine this is exact. On a shared file system it relies on `O_EXCL` (NFS 3 and later,
Lustre, GPFS) and on heartbeats; if these fail, two processes may compute the same entry, and the first result stays.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import secrets
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

HEARTBEAT_SECONDS = 10.0
STALE_SECONDS = 60.0  # since the last touch, before a holder on another machine counts as dead


@dataclass(frozen=True)
class Owner:
    """A process; its start time distinguishes it from a later process with the same number."""

    node: str
    pid: int
    started: str

    def alive(self) -> bool | None:
        """Whether the process is alive; None if it ran on another machine."""
        if self.node != node():
            return None
        return _exists(self.pid) and started(self.pid) == self.started


class Lock:
    """A lock, held until `release`."""

    def __init__(self, path: Path, content: bytes):
        self.path, self._content = path, content
        _HELD[self] = None
        _start_heartbeat()

    def release(self) -> None:
        _HELD.pop(self, None)
        with contextlib.suppress(OSError):
            if self.path.read_bytes() == self._content:  # it may have been broken
                self.path.unlink()


_HELD: dict[Lock, None] = {}
_heartbeat: threading.Thread | None = None


def acquire(path: Path) -> Lock | None:
    """The lock, or None if a process that is alive holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = json.dumps({**vars(this_process()), "token": secrets.token_hex(8)}).encode()
    for _ in range(2):
        try:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        except FileExistsError:
            if not break_stale_lock(path):
                return None
            continue
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return Lock(path, content)
    return None


def held(path: Path) -> bool:
    """Whether a process that is alive holds the lock."""
    try:
        return not _dead(path, path.read_bytes())
    except FileNotFoundError:
        return False


def this_process() -> Owner:
    return Owner(node(), os.getpid(), started(os.getpid()))


def node() -> str:
    """This machine; on Linux also this boot and this container."""
    parts = [platform.node()]
    with contextlib.suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8])
        parts.append(os.readlink("/proc/self/ns/pid").strip("pid:[]"))
    return ":".join(parts)


def started(pid: int) -> str:
    """The start time of a process, if the system reports it."""
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return ""


def _exists(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # signal 0 would end the process; heartbeats decide
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _zombie(pid)


def _zombie(pid: int) -> bool:
    """Whether a dead process has not been reaped by its parent yet."""
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return False


def _dead(path: Path, content: bytes) -> bool:
    try:
        owner = json.loads(content)
        alive = Owner(owner["node"], owner["pid"], owner["started"]).alive()
    except (ValueError, KeyError, TypeError):
        alive = None  # its holder is writing it, or died while writing
    return _age(path) > STALE_SECONDS if alive is None else not alive


def _age(path: Path) -> float:
    """Seconds since the last touch, by the clock of the file system."""
    probe = path.with_name(f".clock-{secrets.token_hex(8)}")
    try:
        probe.touch()
        now = probe.stat().st_mtime
    finally:
        probe.unlink(missing_ok=True)
    return now - path.stat().st_mtime


def break_stale_lock(path: Path) -> bool:
    """Remove the lock if its holder is dead; only one of several processes does, and never a new lock."""
    guard = path.with_name(f"{path.name}.takeover")
    try:
        if not _dead(path, path.read_bytes()):
            return False
        os.close(os.open(guard, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except FileNotFoundError:
        return True  # removed in the meantime
    except FileExistsError:
        with contextlib.suppress(FileNotFoundError):
            if _age(guard) > STALE_SECONDS:  # the process that broke the lock died
                guard.unlink()
        return False
    try:
        with contextlib.suppress(FileNotFoundError):
            if _dead(path, path.read_bytes()):
                path.unlink()
        return True
    finally:
        guard.unlink(missing_ok=True)


def _start_heartbeat() -> None:
    global _heartbeat
    if _heartbeat is None or not _heartbeat.is_alive():
        _heartbeat = threading.Thread(target=_touch_locks, name="lock heartbeat", daemon=True)
        _heartbeat.start()


def _touch_locks() -> None:
    while True:
        time.sleep(HEARTBEAT_SECONDS)
        for lock in list(_HELD):
            with contextlib.suppress(OSError):
                os.utime(lock.path)
