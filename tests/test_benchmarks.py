"""The benchmarks count operations and bytes rightly and, slowly, all parts of `make bench-gpu` run at a small size."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from benchmarks import floor
from benchmarks.gpu import PARTS
from tiny_models import SIZES, build

from isogloss.models.loading.load import load_model

ROOT = Path(__file__).parents[1]


def test_operations_are_those_that_are_counted(tmp_path: Path) -> None:
    """Against PyTorch's own counter of operations, which sees every matrix product."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    model = load_model(build("bert", tmp_path), device="cpu")
    ids = torch.ones(1, 24, dtype=torch.int64)
    plain = sdpa_kernel(SDPBackend.MATH)  # attention as products that the counter knows
    with plain, FlopCounterMode(display=False) as counter, torch.no_grad():
        model.body(input_ids=ids, attention_mask=torch.ones_like(ids))
    assert floor.reading(model, [24]).operations == counter.get_total_flops()
    width, inner, layers = SIZES["hidden_size"], SIZES["intermediate_size"], SIZES["num_hidden_layers"]
    by_hand = layers * (24 * 2 * (4 * width**2 + 2 * width * inner) + 4 * 24**2 * width)
    assert floor.reading(model, [24]).operations == by_hand
    assert floor.reading(model, [24, 24]).operations == 2 * by_hand


def test_a_step_goes_over_everything_three_times_and_over_the_weights_once(tmp_path: Path) -> None:
    model = load_model(build("bert", tmp_path), device="cpu")
    weights = sum(one.numel() for one in model.body.parameters())
    step = floor.training(model, [5, 9], steps=1)
    assert step.operations == 3 * floor.reading(model, [5, 9]).operations
    assert step.traffic == 28 * weights
    assert floor.training(model, [5, 9], steps=10).traffic == 10 * step.traffic


def test_a_floor_is_operations_and_bytes_over_speeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(floor, "matrix_speed", lambda dtype: 1e12)
    monkeypatch.setattr(floor, "copy_speed", lambda: 1e9)
    work = floor.Work(2e12, 3e9)
    assert work.seconds(torch.float32) == 5
    said = floor.told(work, torch.float32, seconds=10, steps=10, unit="of a step")
    assert said == "floor of a step: 0.200 TFLOP and 0.30 GB = 500.00 ms; measured 1000.00 ms, 2.0 × the floor"


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_parts_of_the_gpu_benchmark_run_at_a_small_size(part: str) -> None:
    command = [sys.executable, "-m", "benchmarks", part, "--quick"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    ratio = {"table_1": "of fine-tuning", "extraction": "×", "pretraining": "Trainer"}.get(part, " × ")
    assert ratio in ended.stdout
    if part in ("finetuning", "extraction", "adjustment", "replay"):
        assert "× the floor" in ended.stdout
