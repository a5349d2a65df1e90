"""The loop on a network of one layer: against a plain PyTorch loop, interrupted everywhere, and gone astray."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from toy import fingerprint, regression
from transformers import get_linear_schedule_with_warmup

from isogloss.core.errors import UsageError
from isogloss.core.settings import declared_settings
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.epoch_order import epoch_batches
from isogloss.training.engine.epochs import train
from isogloss.training.engine.progress import DivergenceError, EpochMetrics
from isogloss.training.engine.settings import TrainingSettings

SETTINGS = TrainingSettings(epochs=4, batch=4, learning_rate=0.02)
STEPS = 24


class Killed(Exception):
    """Stands for the end of the process."""


def kill_at(call: int) -> Callable[[int], None]:
    def watch(number: int) -> None:
        if number == call:
            raise Killed

    return watch


def test_the_same_as_a_plain_loop() -> None:
    """AdamW, warm-up and clipping as anyone would write them, over the same batches."""
    network, objective = regression(dropout=0.0)
    reference, same = regression(dropout=0.0)
    log = train(network, replace(objective, score=lambda _: 0.0), SETTINGS, seed=3)
    groups = [{"params": [p for p in reference.parameters() if p.ndim > 1]}]
    groups.append({"params": [p for p in reference.parameters() if p.ndim == 1], "weight_decay": 0.0})
    optimizer = torch.optim.AdamW(groups, lr=0.02, weight_decay=0.01, foreach=False, fused=False)
    schedule = get_linear_schedule_with_warmup(optimizer, 2, STEPS)
    losses = []
    for epoch in range(4):
        for items in epoch_batches(objective.lengths, batch=4, tokens=None, seed=3, epoch=epoch):
            loss = same.loss(reference, items)
            loss.backward()
            nn.utils.clip_grad_norm_(reference.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            losses.append(loss.item())
        if epoch == 0:  # all epochs score alike, so the first is kept
            kept = {name: value.clone() for name, value in reference.state_dict().items()}
    assert [report.loss for report in log] == pytest.approx(np.reshape(losses, (4, 6)).mean(1).tolist(), abs=1e-5)
    for name, value in network.state_dict().items():
        torch.testing.assert_close(value, kept[name], atol=1e-6, rtol=1e-5)


def test_the_seed_decides_every_bit_and_outside_randomness_nothing() -> None:
    prints = []
    for seed, noise in [(0, 1), (0, 2), (1, 1)]:
        network, objective = regression()
        torch.manual_seed(noise)
        before = torch.get_rng_state()
        train(network, objective, SETTINGS, seed=seed)
        assert torch.equal(torch.get_rng_state(), before)
        prints.append(fingerprint(network))
    assert prints[0] == prints[1] != prints[2]
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.parametrize("every", [1, 4, None])
def test_killed_anywhere_and_resumed_ends_the_same(tmp_path: Path, every: int | None) -> None:
    network, objective = regression()
    whole = train(network, objective, SETTINGS, seed=0)
    expected = fingerprint(network)
    for call in (0, 1, 5, 6, 13, 23):  # the first steps, both sides of an epoch's end, the last step
        folder = tmp_path / f"{call}"
        broken, objective = regression(watch=kill_at(call))
        with pytest.raises(Killed):
            train(broken, objective, SETTINGS, seed=0, checkpoints=Checkpoints(folder, "run", steps=every))
        resumed, objective = regression()
        log = train(resumed, objective, SETTINGS, seed=0, checkpoints=Checkpoints(folder, "run", steps=every))
        assert fingerprint(resumed) == expected
        assert [(r.epoch, r.step, r.score, r.best) for r in log] == [(r.epoch, r.step, r.score, r.best) for r in whole]
        assert [r.loss for r in log] == pytest.approx([r.loss for r in whole], rel=1e-12)


def test_a_finished_run_is_not_run_again(tmp_path: Path) -> None:
    network, objective = regression()
    train(network, objective, SETTINGS, seed=0, checkpoints=Checkpoints(tmp_path, "run"))
    again, objective = regression(watch=kill_at(0))
    train(again, objective, SETTINGS, seed=0, checkpoints=Checkpoints(tmp_path, "run"))
    assert fingerprint(again) == fingerprint(network)


def test_control_c_ends_the_step_and_saves(tmp_path: Path) -> None:
    def press(call: int) -> None:
        if call == 9:
            os.kill(os.getpid(), signal.SIGINT)

    network, objective = regression(watch=press)
    with pytest.raises(KeyboardInterrupt):
        train(network, objective, SETTINGS, seed=0, checkpoints=Checkpoints(tmp_path, "run"))
    assert (tmp_path / "checkpoint-10").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    resumed, objective = regression()
    train(resumed, objective, SETTINGS, seed=0, checkpoints=Checkpoints(tmp_path, "run"))
    whole, objective = regression()
    train(whole, objective, SETTINGS, seed=0)
    assert fingerprint(resumed) == fingerprint(whole)


@pytest.mark.parametrize("accumulate", [2, 3, 4, 9])
def test_a_step_in_parts_is_the_whole_step(accumulate: int) -> None:
    """Items have unlike numbers of terms, so a plain mean of the parts' means would be wrong."""
    networks = []
    for settings in (SETTINGS, replace(SETTINGS, accumulate=accumulate)):
        network, objective = regression(dropout=0.0)
        train(network, objective, settings, seed=0)
        networks.append(network)
    for one, other in zip(networks[0].parameters(), networks[1].parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=2e-5, rtol=2e-4)


def test_a_step_in_parts_has_other_dropout_masks() -> None:
    """As the documentation says: with dropout, parts of a step give another result, reproducibly."""
    fingerprints = []
    for accumulate in (1, 3, 3):
        network, objective = regression(dropout=0.2)
        train(network, objective, replace(SETTINGS, accumulate=accumulate), seed=0)
        fingerprints.append(fingerprint(network))
    assert fingerprints[0] != fingerprints[1] == fingerprints[2]
    help_text = declared_settings(TrainingSettings)["accumulate"].setting.help
    assert "with dropout, the masks and so the result differ" in help_text


def test_items_without_terms_are_passed_over() -> None:
    network, objective = regression()
    train(network, replace(objective, terms=np.zeros_like(objective.terms)), SETTINGS, seed=0)
    assert fingerprint(network) == fingerprint(regression()[0])


def test_the_best_epoch_is_kept_and_patience_ends_the_run() -> None:
    scores = iter([0.1, 0.5, 0.3, 0.5, 0.4, 0.9])
    kept: dict[int, str] = {}

    def score(network: nn.Module) -> float:
        kept[len(kept)] = fingerprint(network)
        return next(scores)

    network, objective = regression()
    settings = replace(SETTINGS, epochs=6, patience=3)
    log = train(network, replace(objective, score=score), settings, seed=0)
    assert [report.score for report in log] == [0.1, 0.5, 0.3, 0.5, 0.4]
    assert log[-1].best == 0.5
    assert fingerprint(network) == kept[1]
    assert not network.training


def test_a_second_loss_takes_part_in_every_step() -> None:
    steps = []

    def extra(network: nn.Module, step: int) -> torch.Tensor:
        steps.append(step)
        return 1000 * network[0].weight.square().sum()  # type: ignore[union-attr, operator]

    network, objective = regression()
    train(network, replace(objective, extra=extra), replace(SETTINGS, accumulate=2), seed=0)
    plain, objective = regression()
    train(plain, objective, SETTINGS, seed=0)
    assert steps == list(range(STEPS))
    assert network[0].weight.norm() < 0.8 * plain[0].weight.norm()  # type: ignore[operator, index]


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_ends_the_run_and_is_not_saved(tmp_path: Path, wrong: float) -> None:
    network, objective = regression()
    calls = [0]

    def loss(network: nn.Module, items: np.ndarray) -> torch.Tensor:
        calls[0] += 1
        return objective.loss(network, items) * (wrong if calls[0] == 8 else 1.0)

    checkpoints = Checkpoints(tmp_path, "run", steps=1)
    with pytest.raises(DivergenceError, match=r"by step 8 \(learning rate 0\.0155\).*lower learning_rate"):
        train(network, replace(objective, loss=loss), SETTINGS, seed=0, checkpoints=checkpoints)
    state = checkpoints.latest()
    assert state is not None
    assert state["trainer"]["step"] == 7
    assert all(torch.isfinite(value).all() for value in state["network"].values())


def test_a_gradient_that_is_no_number_is_found_without_checkpoints() -> None:
    network, objective = regression()

    def loss(network: nn.Module, items: np.ndarray) -> torch.Tensor:
        value = objective.loss(network, items)
        return value + (value - value).abs().sqrt()  # the slope of a root at 0

    with pytest.raises(DivergenceError, match="by step 6"):
        train(network, replace(objective, loss=loss), SETTINGS, seed=0)


def test_reports_tell_what_happens() -> None:
    reports: list[EpochMetrics] = []
    network, objective = regression(items=100)
    log = train(network, objective, SETTINGS, seed=0, progress=reports.append)
    assert [(r.epoch, r.score) for r in reports if r.score is not None] == [(r.epoch, r.score) for r in log]
    assert [r.step for r in reports] == [20, 25, 25, 45, 50, 50, 70, 75, 75, 95, 100, 100]
    assert all(r.steps == 100 and r.tokens_per_second > 0 and r.peak_memory > 1e6 for r in reports)
    assert log[-1].loss < log[0].loss


def test_bf16_keeps_weights_in_fp32_and_learns() -> None:
    network, objective = regression()
    log = train(network, objective, replace(SETTINGS, precision="bf16"), seed=0)
    assert {parameter.dtype for parameter in network.parameters()} == {torch.float32}
    exact, objective = regression()
    other = train(exact, objective, SETTINGS, seed=0)
    assert log[0].loss != other[0].loss
    assert log[-1].loss == pytest.approx(other[-1].loss, rel=0.05)


def test_nothing_to_train_on_is_an_error() -> None:
    network, objective = regression()
    with pytest.raises(UsageError, match="empty"):
        train(network, replace(objective, lengths=np.array([], dtype=int)), SETTINGS, seed=0)


def test_no_attention_of_cudnn() -> None:
    """Its gradients are not always numbers; what was switched on before is on again after."""
    network, objective = regression()
    seen: list[bool] = []

    def score(_: nn.Module) -> float:
        seen.append(torch.backends.cuda.cudnn_sdp_enabled())
        return 0.0

    before = torch.backends.cuda.cudnn_sdp_enabled()
    train(network, replace(objective, score=score), SETTINGS, seed=0)
    assert seen == [False] * SETTINGS.epochs
    assert torch.backends.cuda.cudnn_sdp_enabled() == before is True
