"""Training in processes of its own: killed at random moments and resumed, and done by two workers together."""

from __future__ import annotations

import multiprocessing
import random
import socket
import time
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
import torch
from toy import tiny_bert
from train_toy import train_toy

pytestmark = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs POSIX")
ALONE = {"WORLD_SIZE": "1"}


def start(
    model: Path, out: Path, steps: int | None = None, dropout: float = 0.1, environment: dict[str, str] = ALONE
) -> BaseProcess:
    """A fork, which has everything imported, so that it is at work at once."""
    context = multiprocessing.get_context("fork")
    out.mkdir(exist_ok=True)
    process = context.Process(target=train_toy, args=(str(model), str(out), steps, dropout, environment))
    process.start()
    return process


def finish(*processes: BaseProcess) -> None:
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * len(processes)


def final(out: Path, rank: int = 0) -> Any:
    return torch.load(out / f"final-{rank}.pt", weights_only=True)


def newest(out: Path) -> int:
    return max((int(p.name.partition("-")[2]) for p in (out / "checkpoints").glob("checkpoint-*")), default=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_killed_at_random_moments_it_ends_the_same(tmp_path: Path, seed: int) -> None:
    model, out, chance = tmp_path / "model", tmp_path / "killed", random.Random(seed)
    tiny_bert(model)
    finish(start(model, tmp_path / "whole"))
    killed_at = []
    for _ in range(6):
        before, process = newest(out), start(model, out, 1)
        while process.is_alive() and newest(out) <= before:
            time.sleep(0.002)
        time.sleep(chance.random() * 0.1)  # in a step, in a save, between the two
        if process.is_alive():
            process.kill()
            killed_at.append(newest(out))
        process.join()
    finish(start(model, out, 1))
    assert killed_at, "it was never running when it was killed"
    expected, found = final(tmp_path / "whole"), final(out)
    assert found["scores"] == expected["scores"], killed_at
    for name, value in expected["network"].items():
        assert torch.equal(value, found["network"][name]), (name, killed_at)


@pytest.mark.slow
def test_two_workers_do_what_one_does(tmp_path: Path) -> None:
    """Without dropout, which each worker draws for itself, and but for the keys' biases.

    These do not change what attention computes: their gradient is rounding error, which Adam blows up.
    """
    model = tmp_path / "model"
    tiny_bert(model)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        group = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1])}
    workers = [start(model, tmp_path / "two", None, 0.0, {**group, "RANK": str(rank)}) for rank in range(2)]
    finish(*workers, start(model, tmp_path / "one", None, 0.0))
    one, two, other = final(tmp_path / "one"), final(tmp_path / "two"), final(tmp_path / "two", 1)
    assert two["losses"] == pytest.approx(one["losses"], rel=1e-4)
    assert two["scores"] == other["scores"] == pytest.approx(one["scores"], abs=0.02)
    for name, value in one["network"].items():
        assert torch.equal(two["network"][name], other["network"][name]), "the workers went apart"
        if not name.endswith("key.bias"):
            torch.testing.assert_close(two["network"][name], value, atol=1e-4, rtol=1e-3, msg=lambda m, n=name: n + m)
