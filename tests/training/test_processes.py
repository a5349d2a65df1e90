"""Training in processes of its own: killed at random moments and resumed, and done by two workers together."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from toy import tiny_bert

PROGRAM = [sys.executable, str(Path(__file__).parent / "train_toy.py")]


def start(*arguments: object, **environment: str) -> subprocess.Popen[bytes]:
    out = Path(str(arguments[1]))
    out.mkdir(exist_ok=True)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": open(out / "errors.txt", "ab")}  # noqa: SIM115
    return subprocess.Popen([*PROGRAM, *map(str, arguments)], env={**os.environ, **environment}, **quiet)  # type: ignore[call-overload, no-any-return]


def final(out: Path, rank: int = 0) -> Any:
    assert (out / f"final-{rank}.pt").exists(), (out / "errors.txt").read_text()
    return torch.load(out / f"final-{rank}.pt", weights_only=True)


def killed_often(model: Path, out: Path, times: int, seed: int) -> int:
    """Start training again and again, kill it a random moment after it began to save, then let it end."""
    chance, killed = random.Random(seed), 0
    for _ in range(times):
        process = start(model, out, 1)
        newest = _newest(out)
        while process.poll() is None and _newest(out) <= newest:
            time.sleep(0.005)
        time.sleep(chance.random() * 0.15)
        killed += process.poll() is None
        process.kill()
        process.wait()
    assert start(model, out, 1).wait() == 0
    return killed


def _newest(out: Path) -> int:
    return max((int(p.name.partition("-")[2]) for p in (out / "checkpoints").glob("checkpoint-*")), default=0)


def check_kills(folder: Path, times: int, seed: int) -> None:
    model = folder / "model"
    tiny_bert(model)
    whole = start(model, folder / "whole", 1000)
    assert whole.wait() == 0
    assert killed_often(model, folder / "killed", times, seed) >= 1, "it was never running when it was killed"
    expected, found = final(folder / "whole"), final(folder / "killed")
    assert found["scores"] == expected["scores"]
    for name, value in expected["network"].items():
        assert torch.equal(value, found["network"][name]), name


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_killed_at_random_moments_it_ends_the_same(tmp_path: Path, seed: int) -> None:
    check_kills(tmp_path, 6, seed)


@pytest.mark.slow
def test_two_workers_do_what_one_does(tmp_path: Path) -> None:
    model = tmp_path / "model"
    tiny_bert(model)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    group = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    processes = [start(model, tmp_path / "two", RANK=str(rank), **group) for rank in range(2)]
    processes.append(start(model, tmp_path / "one"))
    assert [process.wait() for process in processes] == [0, 0, 0], (tmp_path / "two" / "errors.txt").read_text()
    one, two, other = final(tmp_path / "one"), final(tmp_path / "two"), final(tmp_path / "two", 1)
    assert two["scores"] == other["scores"] == pytest.approx(one["scores"], abs=0.05)
    for name, value in one["network"].items():
        assert torch.equal(two["network"][name], other["network"][name]), "the workers went apart"
        torch.testing.assert_close(two["network"][name], value, atol=2e-3, rtol=2e-2)
