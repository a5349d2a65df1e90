"""Language models trained by two workers together."""

from __future__ import annotations

import multiprocessing
import os
import socket
from pathlib import Path

import pytest
import torch
from language_toy import TEXT, with_head

from isogloss.training.engine.budget import Budget
from isogloss.training.language_modeling.packing import pack
from isogloss.training.language_modeling.settings import LanguageModelSettings
from isogloss.training.language_modeling.train import train_language_model

pytestmark = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs POSIX")


def train(folder: Path, out: Path, environment: dict[str, str]) -> None:
    os.environ.update(environment)
    torch.set_num_threads(1)
    model = with_head("bert", folder)
    settings = LanguageModelSettings(batch=6, length=24, learning_rate=3e-3, budget=Budget(steps=8))
    evaluate = lambda model: [{"value": 1.0}]  # noqa: E731
    train_language_model(model, pack(model, {"en": TEXT}, 24), settings, evaluate=evaluate, evaluations=1)
    torch.save(model.network.state_dict(), out / f"{environment['RANK']}-of-{environment['WORLD_SIZE']}.pt")


@pytest.mark.slow
def test_two_workers_do_what_one_does(tmp_path: Path) -> None:
    """But for the keys' biases, whose gradient is rounding error."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1])}
    context = multiprocessing.get_context("fork")
    places = [("0", "1"), ("0", "2"), ("1", "2")]
    processes = []
    for rank, count in places:
        environment = {"RANK": rank, "WORLD_SIZE": count, "LOCAL_RANK": rank, **address}
        folder = tmp_path / f"model-{rank}-{count}"
        processes.append(context.Process(target=train, args=(folder, tmp_path, environment)))
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    alone, first, second = (torch.load(tmp_path / f"{r}-of-{c}.pt", weights_only=True) for r, c in places)
    for name, value in alone.items():
        assert torch.equal(first[name], second[name]), name
        assert "key.bias" in name or torch.allclose(value, first[name], atol=2e-4), name
