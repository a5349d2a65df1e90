from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from isogloss.store import locks
from isogloss.store.entries import Store
from isogloss.store.locks import acquire, held, this_process
from isogloss.store.running_jobs import Notice, running

HOLDER = """
import sys, time
from pathlib import Path
from isogloss.store.locks import acquire
lock = acquire(Path(sys.argv[1]))
print("held" if lock else "refused", flush=True)
time.sleep(60)
"""


def holder(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    return process


def test_only_one_holds_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "x"
    first = acquire(path)
    assert first
    assert acquire(path) is None
    assert held(path)
    first.release()
    assert not held(path)
    second = acquire(path)
    assert second
    first.release()  # a second time: the lock is another's now
    assert held(path)
    second.release()
    assert not path.exists()


def test_the_lock_of_a_dead_process_is_taken_over_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x"
    process = holder(path)
    assert acquire(path) is None
    process.send_signal(signal.SIGKILL)  # it stays a zombie until we wait for it
    deadline = time.monotonic() + 20
    while (lock := acquire(path)) is None and time.monotonic() < deadline:
        time.sleep(0.05)
    process.wait()
    assert lock
    assert not list(tmp_path.glob("*.takeover"))
    lock.release()


def test_a_number_that_another_process_has_now_is_not_taken_for_its_owner(tmp_path: Path) -> None:
    path, me = tmp_path / "x", this_process()
    path.write_text(json.dumps({"node": me.node, "pid": os.getpid(), "started": "another time", "token": "t"}))
    assert not held(path)
    assert acquire(path)


@pytest.mark.parametrize("content", ['{"node": "elsewhere", "pid": 1, "started": "1", "token": "t"}', "", "{", "[]"])
def test_a_lock_from_elsewhere_is_stale_when_its_heart_stands_still(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x"
    path.write_text(content)
    assert held(path)
    assert acquire(path) is None
    long_ago = time.time() - locks.STALE_SECONDS - 5
    os.utime(path, (long_ago, long_ago))
    assert not held(path)
    assert acquire(path)


def test_a_guard_whose_owner_died_goes_away(tmp_path: Path) -> None:
    path, guard = tmp_path / "x", tmp_path / "x.takeover"
    path.write_text("{")
    long_ago = time.time() - locks.STALE_SECONDS - 5
    os.utime(path, (long_ago, long_ago))
    guard.touch()
    assert acquire(path) is None
    os.utime(guard, (long_ago, long_ago))
    assert acquire(path) is None, "the guard goes first"
    assert acquire(path)


def test_the_heart_beats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "HEARTBEAT_SECONDS", 0.01)
    monkeypatch.setattr(locks, "_heartbeat", None)
    lock = acquire(tmp_path / "x")
    assert lock
    os.utime(lock.path, (0, 0))
    deadline = time.monotonic() + 10
    while lock.path.stat().st_mtime == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert lock.path.stat().st_mtime > 0
    lock.release()


MANY = """
import sys, time
from pathlib import Path
from isogloss.store.locks import acquire
path, log = Path(sys.argv[1]), Path(sys.argv[2])
entries = 0
while entries < 15:
    lock = acquire(path)
    if lock:
        entries += 1
        with open(log, "a") as file:
            file.write("in\\n")
            file.flush()
            time.sleep(0.001)
            file.write("out\\n")
        lock.release()
"""


def test_nobody_is_in_while_another_is(tmp_path: Path) -> None:
    """Four processes at one lock, which at first belongs to a dead one."""
    path, log = tmp_path / "x", tmp_path / "log"
    path.write_text(json.dumps({"node": locks.node(), "pid": 2**22 + 1, "started": "0", "token": "t"}))
    processes = [subprocess.Popen([sys.executable, "-c", MANY, str(path), str(log)]) for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0] * 4
    assert log.read_text().split() == ["in", "out"] * 60


def test_a_full_disk_leaves_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(locks.os, "fdopen", full)
    with pytest.raises(OSError, match="No space"):
        acquire(tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_notices_of_the_living(tmp_path: Path) -> None:
    store = Store(tmp_path)
    notice = Notice(store)
    notice.write({"label": "run 1", "step": 3, "steps": 10}, now=True)
    notice.write({"label": "run 1", "step": 4, "steps": 10})  # too soon
    dead = {"node": locks.node(), "pid": 2**22 + 1, "started": "0", "told": time.time()}
    (tmp_path / "running" / "dead.json").write_text(json.dumps(dead))
    (tmp_path / "running" / "half.json").write_text("{")
    assert [(one["label"], one["step"]) for one in running(store)] == [("run 1", 3)]
    notice.clear()
    assert running(store) == []


def test_a_notice_never_ends_a_run(tmp_path: Path) -> None:
    store = Store(tmp_path)
    notice = Notice(store)
    (tmp_path / "running").rmdir()
    notice.write({"label": "x"}, now=True)
    notice.clear()
