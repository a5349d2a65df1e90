"""Continual learning: Equation 1 over drawn pairs, held to the right model, and part of a run's identity."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from aligned_toy import bitext, doubled, nudged, slow_loss
from test_finetune import corpus_for
from test_stepping import Recorder, stepper
from test_stepping import run as losses_of
from tiny_models import build
from toy import fingerprint, treebank

import isogloss as ig
from isogloss.core.errors import UnknownName, UsageError
from isogloss.core.seeds import Chance
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks import TASKS
from isogloss.training.adjustment.replay import alignment_replay
from isogloss.training.engine import batch_shapes as shapes
from isogloss.training.engine.settings import settings_for
from isogloss.training.finetuning.finetune import finetune

PAIRS = bitext(12)


def drawn(step: int, pairs: int, seed: int) -> Any:
    linked = [pair for pair in PAIRS if pair.alignment.sure]
    chance = Chance(seed, "replay", step)
    return PAIRS.with_items(chance.choose(linked) for _ in range(pairs))


@pytest.mark.parametrize(("weighting", "hold"), [("published", 0.3), ("released", 1.0)])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_it_is_the_weighted_equation(bert: LoadedModel, weighting: Any, hold: float, reduction: Any) -> None:
    original, now = doubled(bert), nudged(doubled(bert))
    plan = alignment_replay(PAIRS, weight=0.3, pairs=5, weighting=weighting, reduction=reduction)
    loss = plan.bind(original, now, seed=4)
    for step in (0, 7):
        chosen, mean = drawn(step, 5, 4), reduction == "mean"
        pull = slow_loss(now, now, chosen, layer=3, mean=mean)  # nothing has moved: the pull alone
        held = slow_loss(now, original, chosen, layer=3, mean=mean) - pull
        torch.testing.assert_close(loss(now.body, step), 0.3 * pull + hold * held, rtol=1e-9, atol=0)
    with torch.no_grad():
        assert float(loss(now.body, 0)) == float(loss(now.body, 0)) != float(loss(now.body, 1))


def test_the_anchor_is_the_one_asked_for(bert: LoadedModel) -> None:
    """A network that is still the adjusted model has moved from the original, and not from the adjusted one."""
    adjusted, other = nudged(bert), nudged(bert, seed=1)

    def held(anchor: Any) -> float:
        return float(alignment_replay(PAIRS, anchor=anchor).bind(bert, adjusted, 0)(adjusted.body, 0))

    alone = held("adjusted")
    assert held("original") > alone < held(other)
    assert held("original") == held(bert) != held(other)


@pytest.mark.parametrize("name", TASKS)
def test_every_task_learns_with_it(bert: LoadedModel, name: str) -> None:
    task, corpus = TASKS[name], corpus_for(TASKS[name].corpus)
    extra = alignment_replay(PAIRS, weight=1.0, pairs=4).bind(bert, bert, 0)
    settings = settings_for(task.defaults, epochs=1, batch=4, learning_rate=1e-4)
    made = [
        fingerprint(finetune(bert, task, corpus, corpus, settings, extra_loss=one).network)
        for one in (extra, extra, None)
    ]
    assert made[0] == made[1] != made[2]


@pytest.mark.parametrize("name", ["pos", "nli"])
def test_recorded_steps_are_the_plain_ones(bert: LoadedModel, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """As on a GPU: pairs of all steps in one shape, beside the task's few."""
    monkeypatch.setattr(shapes, "LAUNCH_MS", 1e6)
    extra = alignment_replay(PAIRS, weight=1.0, pairs=4).bind(bert, nudged(bert), 0)
    recorder = Recorder()
    plain = stepper(nudged(bert), name, extra=extra)
    recorded = stepper(nudged(bert), name, record=recorder, extra=extra)
    alone = losses_of(stepper(nudged(bert), name))
    losses = losses_of(plain)
    np.testing.assert_allclose(losses_of(recorded), losses, rtol=1e-4)
    assert recorder.recorded > 0
    assert not np.allclose(losses, alone, rtol=1e-2), "the second loss is nothing: the test shows nothing"


def test_it_keeps_translations_together(bert: LoadedModel) -> None:
    task, bank = TASKS["pos"], treebank(24)
    settings = settings_for(task.defaults, epochs=3, batch=8, learning_rate=1e-3)
    extra = alignment_replay(PAIRS, weight=5.0, pairs=8).bind(bert, bert, 0)
    tuned = {
        name: finetune(bert, task, bank, bank, settings, extra_loss=one)
        for name, one in (("plain", None), ("kept", extra))
    }
    models = {"original": bert, **{name: one.encoder for name, one in tuned.items()}}
    related = dict(ig.word_distances(models, PAIRS, metrics=["l2"]).summary.select("model", "related").rows())
    assert related["kept"] < min(related["plain"], related["original"])
    network: Any = tuned["kept"].network
    assert tuned["kept"].encoder.body is network.bert


def test_a_head_reads_rotated_states(bert: LoadedModel) -> None:
    task, bank = TASKS["pos"], treebank(8)
    tuned = finetune(bert, task, bank, bank, settings_for(task.defaults, epochs=1, batch=8))
    change = ig.rotation(tuned.encoder, PAIRS)
    ids = torch.tensor([[*bert.prefix, 9, 10, 11, *bert.suffix]])
    network: Any = tuned.network
    with torch.no_grad():
        plain = network.bert(input_ids=ids).last_hidden_state
        with ig.rotated(tuned.encoder, change):
            logits = network(input_ids=ids).logits
        torch.testing.assert_close(logits, network.classifier(change(plain)))
        assert not torch.allclose(logits, network(input_ids=ids).logits)


def run(model: LoadedModel, out: Path, continual: Any, **options: Any) -> pl.DataFrame:
    settings = {"epochs": 1, "batch": 8, "learning_rate": 1e-3}
    banks = {"train": treebank(16), "dev": treebank(8, seed=1), "test": {"fr": treebank(8, "fr")}}
    return ig.transfer(model, "pos", **banks, continual=continual, out=out, **settings, **options).frame


def test_it_is_part_of_a_runs_identity(bert: LoadedModel, tmp_path: Path) -> None:
    change = [partial(ig.adjust, bitext=PAIRS, batch=4, learning_rate=1e-3)]
    plans: list[Any] = [
        None,
        alignment_replay(PAIRS),
        alignment_replay(PAIRS, weight=0.02),
        alignment_replay(PAIRS, weighting="released"),
        alignment_replay(PAIRS, anchor="adjusted"),
        alignment_replay(PAIRS[:11]),
    ]
    frames = [run(bert, tmp_path, plan, before=change) for plan in plans]
    assert len({frame["run"][0] for frame in frames}) == len(plans)
    assert len({frame["changes"][0] for frame in frames}) == len(plans)
    same = run(bert, tmp_path, alignment_replay(PAIRS), before=change)
    assert same.equals(frames[1])
    assert frames[1]["changes"][0].endswith(
        "alignment_replay(en-fr 12, pairs=16, anchor='original', pull=0.01, hold=0.01)"
    )


def test_an_adjusted_model_is_not_taken_for_the_original(tmp_path: Path) -> None:
    model = load_model(build("bert", tmp_path / "m"), device="cpu")
    adjusted = ig.adjust(model, PAIRS, out=tmp_path / "a", batch=4)
    with pytest.raises(UsageError, match="itself an adjusted model"):
        run(adjusted, tmp_path / "runs", alignment_replay(PAIRS))
    run(adjusted, tmp_path / "runs", alignment_replay(PAIRS, anchor="adjusted"))
    run(adjusted, tmp_path / "runs", alignment_replay(PAIRS, anchor=model))
    other = load_model(build("xlm-roberta", tmp_path / "x"), device="cpu")
    with pytest.raises(UsageError, match="differ in tokenizer or size"):
        run(adjusted, tmp_path / "runs", alignment_replay(PAIRS, anchor=other))


def test_what_cannot_be_is_told() -> None:
    with pytest.raises(UsageError, match="weight above 0"):
        alignment_replay(PAIRS, weight=0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'hold'"):
        alignment_replay(PAIRS, hold=1.0)  # type: ignore[call-arg]
    for wrong in ({"anchor": "orginal"}, {"weighting": "publshed"}):
        with pytest.raises(UnknownName, match="did you mean"):
            alignment_replay(PAIRS, **wrong)  # type: ignore[arg-type]
