"""A study of 200 tiny runs, killed twenty times at random: driver or worker, at any moment."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from isogloss.store.entries import Store

SUPPORT = Path(__file__).parents[2] / "support"
RUNS, KILLS = 200, 20


def start(store: Path, out: Path, seconds: float, log: Path, networks: str = "keep") -> subprocess.Popen[bytes]:
    path = os.pathsep.join([str(SUPPORT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "TOY_SECONDS": str(seconds), "TOY_LOG": str(log)}
    command = [sys.executable, str(SUPPORT / "toy_driver.py"), str(store), str(RUNS // 2), str(out), networks]
    return subprocess.Popen(command, env=environment)


def children(pid: int) -> list[int]:
    """Worker processes of a driver (Linux)."""
    try:
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the workers through Linux's /proc")
def test_a_study_survives_twenty_kills(tmp_path: Path) -> None:
    assert start(tmp_path / "whole", tmp_path / "whole.parquet", 0, tmp_path / "whole.log").wait(120) == 0
    chance, killed, drivers = random.Random(11), 0, 0
    store, out, log = tmp_path / "store", tmp_path / "rows.parquet", tmp_path / "log"
    driver = start(store, out, 0.2, log)
    deadline = time.monotonic() + 240
    while driver.poll() is None and time.monotonic() < deadline:
        time.sleep(chance.uniform(0.3, 1.0))
        workers = children(driver.pid)
        if killed < KILLS and workers:
            drivers += (whole := chance.random() < 0.4)
            os.kill(driver.pid if whole else chance.choice(workers), signal.SIGKILL)
            killed += 1
            if whole:
                driver.wait()
                driver = start(store, out, 0.2 if killed < KILLS else 0, log)
    assert driver.wait(60) == 0
    assert killed == KILLS, "the study ended before it was killed often enough"
    assert drivers >= 3
    assert pl.read_parquet(out).equals(pl.read_parquet(tmp_path / "whole.parquet"))
    for id in Store(tmp_path / "whole").ids():
        mine, whole_one = Store(store).need(id), Store(tmp_path / "whole").need(id)
        assert {n: f["hash"] for n, f in mine.manifest["files"].items()} == {
            n: f["hash"] for n, f in whole_one.manifest["files"].items()
        }
    assert Store(store).ids() == Store(tmp_path / "whole").ids()
    made = log.read_text().split()
    assert len(set(made)) == RUNS
    assert len(made) <= RUNS + 3 * KILLS, "what was done is not done again"


@pytest.mark.slow
@pytest.mark.parametrize("networks", ["keep", "discard"])
def test_two_drivers_at_once(tmp_path: Path, networks: str) -> None:
    drivers = [start(tmp_path / "store", tmp_path / f"{n}.parquet", 0.02, tmp_path / "log", networks) for n in "01"]
    assert [driver.wait(120) for driver in drivers] == [0, 0]
    assert pl.read_parquet(tmp_path / "0.parquet").equals(pl.read_parquet(tmp_path / "1.parquet"))
    made = (tmp_path / "log").read_text().split()
    assert len(made) == len(set(made)) == RUNS, "nothing was made twice"
