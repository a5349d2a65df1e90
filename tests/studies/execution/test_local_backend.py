from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from toy_makers import square

from isogloss.core.errors import IsoglossError, UsageError
from isogloss.store.entries import Store, StoreFull
from isogloss.store.locks import this_process
from isogloss.studies.execution.backends import Outcome
from isogloss.studies.execution.backends.local import LocalBackend
from isogloss.studies.execution.backends.queue import Queue
from isogloss.studies.execution.run_job import run_job
from isogloss.studies.planning.job import Job


def done(store: Path) -> dict[str, int]:
    kept = Store(store)
    return {id: json.loads(kept.need(id).file("square.json").read_bytes()) for id in kept.ids()}


def run(jobs: Sequence[Job], store: Path, workers: int = 2) -> dict[str, list[Outcome]]:
    told: dict[str, list[Outcome]] = {job.name: [] for job in jobs}
    Store(store)
    LocalBackend(workers, device="cpu").run(jobs, str(store), lambda outcome: told[outcome.job].append(outcome))
    return told


def last(told: dict[str, list[Outcome]]) -> dict[str, str]:
    return {name: outcomes[-1].state for name, outcomes in told.items()}


def match(tmp_path: Path, name: str) -> str:
    (tmp_path / name).touch()
    return str(tmp_path / name)


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_jobs_are_done_after_those_they_need(tmp_path: Path, workers: int) -> None:
    jobs = [square(3, ("2",)), square(2, ("1",)), square(1), square(5)]
    assert set(last(run(jobs, tmp_path, workers)).values()) == {"done"}
    assert done(tmp_path) == {"toy-1": 1, "toy-2": 5, "toy-3": 14, "toy-5": 25}


def test_an_error_in_one_run_does_not_stop_the_others(tmp_path: Path) -> None:
    jobs = [square(1, trouble={"failed": 0}), square(2, ("1",)), square(3)]
    told = run(jobs, tmp_path)
    assert last(told) == {"toy-1": "failed", "toy-2": "failed", "toy-3": "done"}
    assert "no such square" in told["toy-1"][-1].reason
    assert told["toy-2"][-1].reason.startswith("needs 'square of 1', which failed")
    assert done(tmp_path) == {"toy-3": 9}


@pytest.mark.parametrize("workers", [0, 1])
def test_our_own_warnings_are_told_once(tmp_path: Path, workers: int) -> None:
    """Those of a worker too, whose standard error nobody reads."""
    told = run([square(1, trouble={"warned": 0}), square(2)], tmp_path, workers)
    assert told["toy-1"][-1].warnings == ("odd numbers in __init__.py",)
    assert told["toy-2"][-1].warnings == ()


def test_a_worker_that_dies_loses_nothing(tmp_path: Path) -> None:
    jobs = [square(n, trouble={"killed": match(tmp_path, f"match{n}")} if n == 2 else {}) for n in range(5)]
    told = run(jobs, tmp_path / "store")
    assert [outcome.state for outcome in told["toy-2"]] == ["started", "lost", "started", "done"]
    assert "SIGKILL" in told["toy-2"][1].reason
    assert done(tmp_path / "store") == {f"toy-{n}": n * n for n in range(5)}


def test_a_job_that_kills_every_worker_is_given_up_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isogloss.studies.execution.backends.queue.MAX_RETRIES", 1)
    told = run([square(1, trouble={"killed": 0}), square(2)], tmp_path)
    assert last(told) == {"toy-1": "failed", "toy-2": "done"}
    assert "died 2 times" in told["toy-1"][-1].reason


def test_workers_that_cannot_start_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(IsoglossError, match="workers died one after the other"):
        run([square(n) for n in range(100)], tmp_path)


def test_what_is_there_is_not_made_again(tmp_path: Path) -> None:
    jobs = [square(n, log=str(tmp_path / "log")) for n in range(4)]
    run(jobs, tmp_path / "store", 0)
    run(jobs, tmp_path / "store", 0)
    assert sorted((tmp_path / "log").read_text().split()) == ["0", "1", "2", "3"]


def test_a_stage_that_another_process_makes_is_waited_for(tmp_path: Path) -> None:
    """The lock belongs to us, a living process; a moment later the entry is there and the lock is gone."""
    store = Store(tmp_path)
    lock = store.lock("toy-1")
    assert lock
    assert run_job(square(1), str(tmp_path)).state == "busy"

    def finish() -> None:
        with store.making("toy-1", {}) as folder:
            (folder / "square.json").write_text("1")
        lock.release()

    threading.Timer(0.2, finish).start()
    told = run([square(1, trouble={"failed": 0}), square(2)], tmp_path, 0)
    assert last(told) == {"toy-1": "done", "toy-2": "done"}


def test_a_full_disk_stops_everything_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from isogloss.store import entries as module

    real, calls = module.fsync_path, Counter[str]()

    def filling(path: Path) -> None:
        calls["all"] += 1
        if calls["all"] > 10:
            raise OSError(28, "No space left on device")
        real(path)

    jobs = [square(n) for n in range(6)]
    with monkeypatch.context() as patch:
        patch.setattr(module, "fsync_path", filling)
        with pytest.raises(StoreFull, match="repeat the command"):
            run(jobs, tmp_path, 0)
    before = done(tmp_path)
    assert 0 < len(before) < 6
    assert not any((tmp_path / "temporary").iterdir())
    assert set(last(run(jobs, tmp_path, 0)).values()) == {"done"}
    assert done(tmp_path) == {f"toy-{n}": n * n for n in range(6)}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a Unix device")
def test_a_full_disk_in_a_worker_is_told_too(tmp_path: Path) -> None:
    """The maker's own write fails: its log is a device that is always full."""
    with pytest.raises(StoreFull):
        run([square(1, log="/dev/full")], tmp_path, 1)


def test_a_damaged_entry_that_a_job_needs_is_set_aside(tmp_path: Path) -> None:
    run([square(1)], tmp_path, 0)
    (tmp_path / "entries/toy/toy-1/square.json").write_text("7")
    told = run([square(2, ("1",))], tmp_path, 0)
    assert last(told) == {"toy-2": "failed"}
    assert "damaged" in told["toy-2"][-1].reason
    assert Store(tmp_path).ids() == set()
    assert len(Store(tmp_path).quarantined()) == 1


def test_an_interrupt_stops_the_workers(tmp_path: Path) -> None:
    jobs = [square(n, seconds=60, log=str(tmp_path / "log")) for n in range(2)]

    def press() -> None:
        while not (tmp_path / "log").exists() or len((tmp_path / "log").read_text().split()) < 2:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run(jobs, tmp_path / "store")
    assert time.monotonic() - begun < 30
    assert list((tmp_path / "store/locks").iterdir()) == []
    assert list((tmp_path / "store/temporary").iterdir()) == []


def _alive(pid: int) -> bool:
    from isogloss.store.locks import _exists

    return _exists(pid)


DRIVER = """
import sys
from toy_makers import square
from isogloss.studies.execution.backends.local import LocalBackend
def tell(outcome):
    print(outcome.state, outcome.where, flush=True)
LocalBackend(1, device="cpu").run([square(1, seconds=60)], sys.argv[1], tell)
"""


def test_workers_leave_when_their_driver_is_killed(tmp_path: Path) -> None:
    Store(tmp_path)
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert driver.stdout
    state, pid = driver.stdout.readline().split()
    assert state == "started"
    while not list((tmp_path / "locks").iterdir()):
        time.sleep(0.05)
    driver.kill()
    driver.wait()
    deadline = time.monotonic() + 20
    while _alive(int(pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(int(pid))
    assert set(last(run([square(1)], tmp_path, 0)).values()) == {"done"}


TWO = """
import sys
from toy_makers import square
from isogloss.studies.execution.backends.local import LocalBackend
jobs = [square(n, seconds=0.03, log=sys.argv[2]) for n in range(20)]
LocalBackend(0).run(jobs, sys.argv[1], lambda outcome: None)
"""


def test_two_processes_share_the_work(tmp_path: Path) -> None:
    store, log = tmp_path / "store", tmp_path / "log"
    command = [sys.executable, "-c", TWO, str(store), str(log)]
    Store(store)
    assert [process.wait(60) for process in [subprocess.Popen(command) for _ in range(2)]] == [0, 0]
    assert done(store) == {f"toy-{n}": n * n for n in range(20)}
    assert sorted(map(int, log.read_text().split())) == list(range(20)), "each was made once"


def test_queue_gives_back_what_is_busy_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isogloss.studies.execution.backends.queue.BUSY_RETRY_SECONDS", 0.05)
    queue = Queue([square(1), square(2)], "store", lambda outcome: None)
    first = queue.next()
    assert first
    queue.settle(Outcome(first.name, "busy"))
    second = queue.next()
    assert second
    assert second.name == "toy-2"
    assert queue.next() is None
    queue.settle(Outcome(second.name, "done"))
    time.sleep(0.06)
    again = queue.next()
    assert again == first
    assert len(queue) == 1
    queue.settle(Outcome(first.name, "done"))
    assert queue.finished


def test_the_longest_comes_first_and_one_that_killed_its_worker_after_the_others() -> None:
    """Else a few long jobs that end their workers would end the study before the others had their turn."""
    times = {1: 2.0, 2: 9.0, 3: 2.0, 4: 9.0, 5: 5.0}
    queue = Queue([replace(square(n), seconds=time) for n, time in times.items()], "store", lambda outcome: None)
    first = queue.next()
    assert first
    queue.settle(Outcome(first.name, "lost"))
    rest = list(iter(queue.next, None))
    assert [one.name for one in [first, *rest]] == [f"toy-{n}" for n in (2, 4, 5, 1, 3, 2)]


@pytest.mark.parametrize("options", [{"workers": -1}, {"per_gpu": 0}])
def test_numbers_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        LocalBackend(**options)


@pytest.mark.parametrize(
    ("options", "gpus", "devices"),
    [
        ({"device": "cpu", "workers": 3}, 0, ["cpu"] * 3),
        ({}, 2, ["cuda:0", "cuda:1"]),
        ({"per_gpu": 2}, 2, ["cuda:0", "cuda:1"] * 2),
        ({"workers": 3}, 2, ["cuda:0", "cuda:1", "cuda:0"]),
        ({"device": "cuda:1", "per_gpu": 2}, 2, ["cuda:1"] * 2),
        ({}, 0, ["cpu"] * 4),
    ],
)
def test_every_worker_has_a_device(
    options: dict[str, Any], gpus: int, devices: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from isogloss.studies.execution.backends import local

    monkeypatch.setattr(local, "gpus", lambda: gpus)
    monkeypatch.setattr(local, "cores", lambda: 4)
    assert LocalBackend(**options)._devices([square(n) for n in range(9)]) == devices


def test_this_process_is_alive() -> None:
    assert this_process().alive()


def test_memory_of_a_shared_gpu_goes_back_before_every_stage_and_after_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    given_back: list[str] = []
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: given_back.append("once"))
    Store(tmp_path)
    assert run_job(square(1), str(tmp_path)).state == "done"
    assert len(given_back) == 2
    assert run_job(square(2, trouble={"failed": 0}), str(tmp_path)).state == "failed"
    assert len(given_back) == 4
