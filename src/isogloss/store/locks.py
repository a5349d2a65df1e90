"""Lock files: who holds one writes its host and process into it and touches it as long as it lives.

A lock whose holder is dead is taken over: at once where the holder ran on this machine, and elsewhere when it has not
been touched for a minute. On one machine this is exact. On a shared file system it rests on `O_EXCL` (true of NFS 3 and
later, Lustre, GPFS) and on heartbeats; where they fail, two processes may do the same work, and both results are the
same, for what is stored appears by renaming and the first one stays.
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

BEAT, STALE = 10.0, 60.0  # seconds between touches; since the last, before a holder elsewhere is taken for dead


@dataclass(frozen=True)
class Owner:
    """A process, told apart from a later one with the same number."""

    node: str
    pid: int
    started: str

    def alive(self) -> bool | None:
        """None where this machine cannot know."""
        if self.node != node():
            return None
        return _exists(self.pid) and started(self.pid) == self.started


class Lock:
    """A lock that is held until `release`."""

    def __init__(self, path: Path, content: bytes):
        self.path, self._content = path, content
        _HELD[self] = None
        _start_heart()

    def release(self) -> None:
        _HELD.pop(self, None)
        with contextlib.suppress(OSError):
            if self.path.read_bytes() == self._content:  # it may have been taken over
                self.path.unlink()


_HELD: dict[Lock, None] = {}
_heart: threading.Thread | None = None


def acquire(path: Path) -> Lock | None:
    """The lock if nobody alive holds it."""
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
    """Whether somebody alive holds the lock."""
    try:
        return not _dead(path, path.read_bytes())
    except FileNotFoundError:
        return False


def this_process() -> Owner:
    return Owner(node(), os.getpid(), started(os.getpid()))


def node() -> str:
    """This machine, and on Linux this boot and this container of it."""
    parts = [platform.node()]
    with contextlib.suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8])
        parts.append(os.readlink("/proc/self/ns/pid").strip("pid:[]"))
    return ":".join(parts)


def started(pid: int) -> str:
    """When a process began, where the system tells."""
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return ""


def _exists(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # signal 0 would end it; the heartbeat has to do
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _zombie(pid)


def _zombie(pid: int) -> bool:
    """Dead, and not yet buried by its parent."""
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return False


def _dead(path: Path, content: bytes) -> bool:
    try:
        told = json.loads(content)
        alive = Owner(told["node"], told["pid"], told["started"]).alive()
    except (ValueError, KeyError, TypeError):
        alive = None  # its holder is just writing it, or died doing so
    return _age(path) > STALE if alive is None else not alive


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
    """Remove the lock if its holder is dead; of several that try, one does, and never a lock that is new."""
    guard = path.with_name(f"{path.name}.takeover")
    try:
        if not _dead(path, path.read_bytes()):
            return False
        os.close(os.open(guard, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except FileNotFoundError:
        return True  # gone in the meantime
    except FileExistsError:
        with contextlib.suppress(FileNotFoundError):
            if _age(guard) > STALE:  # whoever took over died doing so
                guard.unlink()
        return False
    try:
        with contextlib.suppress(FileNotFoundError):
            if _dead(path, path.read_bytes()):
                path.unlink()
        return True
    finally:
        guard.unlink(missing_ok=True)


def _start_heart() -> None:
    global _heart
    if _heart is None or not _heart.is_alive():
        _heart = threading.Thread(target=_beat, name="lock heartbeat", daemon=True)
        _heart.start()


def _beat() -> None:
    while True:
        time.sleep(BEAT)
        for lock in list(_HELD):
            with contextlib.suppress(OSError):
                os.utime(lock.path)
