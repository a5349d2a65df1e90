from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from language_toy import TEXT, with_head
from toy import fingerprint

from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.training.engine import trainer
from isogloss.training.engine.budget import Budget
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.progress import DivergenceError
from isogloss.training.language_modeling.batches import BatchSampler
from isogloss.training.language_modeling.packing import pack
from isogloss.training.language_modeling.settings import LanguageModelSettings
from isogloss.training.language_modeling.step import LanguageModelStepper
from isogloss.training.language_modeling.train import StepMetrics, TrainingHistory, train_language_model

SETTINGS = LanguageModelSettings(batch=4, length=24, learning_rate=3e-3, budget=Budget(steps=12))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return with_head("bert", tmp_path_factory.mktemp("bert"))


def fresh(model: LoadedModel, dropout: float = 0.0) -> LoadedModel:
    network, body = copy.deepcopy((model.network, model.body))
    for module in network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = dropout
    return replace(model, network=network, body=body)


def trained(
    model: LoadedModel,
    settings: LanguageModelSettings = SETTINGS,
    checkpoints: Checkpoints | None = None,
    progress: Callable[[StepMetrics], None] | None = None,
    dropout: float = 0.0,
    evaluate: Any = None,
) -> tuple[LoadedModel, TrainingHistory]:
    ours = fresh(model, dropout)
    words = settings.masking == "words"
    sequences = pack(ours, {"en": TEXT, "fr": TEXT[:3]}, settings.length, by_line=settings.by_line, words=words)
    options: dict[str, Any] = {"checkpoints": checkpoints, "progress": progress, "evaluate": evaluate}
    return ours, train_language_model(ours, sequences, settings, seed=3, evaluations=2, **options)


class Killed(Exception):
    pass


def killed_at(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The training dies in the given step, after its gradients."""
    original = LanguageModelStepper.step

    def step_or_die(self: LanguageModelStepper, number: int, learning_rate: float) -> int:
        if number == step:
            raise Killed
        return original(self, number, learning_rate)

    monkeypatch.setattr(LanguageModelStepper, "step", step_or_die)


@pytest.mark.parametrize(
    "variant", [{}, {"by_line": True}, {"masking": "words"}, {"masking": "spans"}, {"optimizer": "muon"}]
)
def test_resumed_it_ends_bit_by_bit_the_same(
    bert: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variant: dict[str, Any]
) -> None:
    settings = replace(SETTINGS, **variant)
    whole, told = trained(bert, settings, dropout=0.2)
    for step in (5, 9):
        with monkeypatch.context() as patch:
            killed_at(step, patch)
            with pytest.raises(Killed):
                trained(bert, settings, Checkpoints(tmp_path, "run", steps=2), dropout=0.2)
    resumed, history = trained(bert, settings, Checkpoints(tmp_path, "run", steps=2), dropout=0.2)
    assert fingerprint(resumed.network) == fingerprint(whole.network)
    assert [pace.loss for pace in history.log] == [pace.loss for pace in told.log]


def test_a_damaged_checkpoint_is_passed_over_for_the_one_before(
    bert: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _ = trained(bert)
    with monkeypatch.context() as patch:
        killed_at(9, patch)
        with pytest.raises(Killed):
            trained(bert, checkpoints=Checkpoints(tmp_path, "run", steps=2))
    state = tmp_path / "checkpoint-8" / "state.pt"
    state.write_bytes(state.read_bytes()[:-100])
    (tmp_path / ".checkpoint-9.part").mkdir()
    with pytest.warns(UserWarning, match="checkpoint-8 is damaged"):
        resumed, _ = trained(bert, checkpoints=Checkpoints(tmp_path, "run", steps=2))
    assert fingerprint(resumed.network) == fingerprint(whole.network)


def test_the_loop_is_plain_adamw(bert: LoadedModel) -> None:
    """Against a loop written out: the same batches, the model library's loss, torch's own optimizer."""
    settings = replace(SETTINGS, budget=Budget(steps=4))
    found, _ = trained(bert, settings)
    other = fresh(bert)
    network: Any = other.network.train()
    batches = BatchSampler(other, pack(other, {"en": TEXT, "fr": TEXT[:3]}, 24), settings, 3)
    matrices, vectors = ([p for p in network.parameters() if (p.ndim > 1) == wanted] for wanted in (True, False))
    groups = [{"params": matrices, "weight_decay": 0.01}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1.0)
    rates = [0.0, *(3e-3 * (1 + math.cos(math.pi * (share - 0.05) / 0.95)) / 2 for share in (0.25, 0.5, 0.75))]
    for step, rate in enumerate(rates):
        batch = batches.at(step)
        assert batch.positions is not None
        labels = torch.full_like(batch.ids, -100).scatter(1, batch.positions, batch.labels)
        network(input_ids=batch.ids, labels=labels).loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        optimizer.zero_grad()
    for (name, ours), theirs in zip(found.network.named_parameters(), network.parameters(), strict=True):
        if "key.bias" not in name:  # their gradient is rounding error
            assert torch.allclose(ours, theirs, atol=2e-5), name


def test_a_step_in_parts_is_the_whole_step(bert: LoadedModel) -> None:
    one, _ = trained(bert)
    parts, _ = trained(bert, replace(SETTINGS, accumulate=3))
    for (name, a), b in zip(one.network.named_parameters(), parts.network.parameters(), strict=True):
        assert "key.bias" in name or torch.allclose(a, b, atol=1e-4), name


def test_bf16_computes_in_bf16_and_keeps_weights_in_fp32(bert: LoadedModel) -> None:
    exact, told = trained(bert, replace(SETTINGS, precision="fp32"))
    rough, history = trained(bert, replace(SETTINGS, precision="bf16"))
    assert {p.dtype for p in rough.network.parameters()} == {torch.float32}
    assert history.log[-1].loss == pytest.approx(told.log[-1].loss, rel=0.02)
    assert history.log[-1].loss != told.log[-1].loss
    change = [
        float((a - b).detach().norm())
        for a, b in zip(exact.network.parameters(), rough.network.parameters(), strict=True)
    ]
    assert max(change) > 0


@pytest.mark.parametrize("family", ["llama", "xlm-roberta"])
def test_it_learns(tmp_path: Path, family: str) -> None:
    model = with_head(family, tmp_path)
    objective = "clm" if model.family.causal else "mlm"
    settings = replace(SETTINGS, objective=objective, learning_rate=1e-2, budget=Budget(steps=100))
    _, history = trained(model, settings)
    assert [(pace.step, pace.share) for pace in history.log] == [(50, 0.5), (100, 1.0)]
    assert history.log[-1].loss < history.log[0].loss - 0.3


def test_evaluations_come_before_on_the_way_and_after(bert: LoadedModel) -> None:
    _, history = trained(bert, evaluate=lambda model: [{"training": model.network.training}])
    assert history.evaluations == [{"step": step, "training": False} for step in (0, 4, 8, 12)]


def test_budgets_of_tokens_and_minutes_end_it(bert: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    _, by_tokens = trained(bert, replace(SETTINGS, budget=Budget(tokens=500)))
    assert by_tokens.log[-1].step == 6  # of 4 × 24 tokens
    clock = itertools.count(step=0.5)
    monkeypatch.setattr(trainer.time, "perf_counter", lambda: next(clock))
    _, by_time = trained(bert, replace(SETTINGS, budget=Budget(minutes=0.25)))
    assert 5 < by_time.log[-1].step < 31
    assert by_time.log[-1].share == 1.0


def test_training_that_diverges_is_told(bert: LoadedModel) -> None:
    with pytest.raises(DivergenceError, match="diverged"):
        trained(bert, replace(SETTINGS, learning_rate=1e30, clip=1e30, decay="constant", warmup=0.0))
