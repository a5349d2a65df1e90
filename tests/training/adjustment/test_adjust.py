"""Adjustment from bitext to folder: it learns, it can be interrupted, and the same call gives the same model."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from aligned_toy import bitext
from language_toy import with_head
from test_stepping import Recorder, over, run
from tiny_models import build
from toy import fingerprint, without_dropout

import isogloss as ig
from isogloss.core.errors import UsageError
from isogloss.models.interventions.intervention import describe_intervention
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel, clone
from isogloss.models.states.pooling import evaluation_mode
from isogloss.training.adjustment.adjust import adjustment_objective, read_adjustment_log
from isogloss.training.adjustment.loss import AlignmentLoss
from isogloss.training.adjustment.pairs import encode_pairs
from isogloss.training.adjustment.settings import AdjustmentSettings, LossOptions, PairOptions
from isogloss.training.engine import batch_shapes as shapes
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.distributed import WorkerGroup
from isogloss.training.engine.progress import DivergenceError
from isogloss.training.engine.settings import learning_rate_at

PAIRS = bitext(40)
QUICK: dict[str, Any] = {"batch": 8, "learning_rate": 1e-3}


def test_it_pulls_translations_together_and_the_original_stays(bert: LoadedModel, tmp_path: Path) -> None:
    before = fingerprint(bert.body)
    adjusted = ig.adjust(bert, PAIRS, epochs=6, out=tmp_path, **QUICK)
    log = read_adjustment_log(tmp_path)
    assert fingerprint(bert.body) == before != fingerprint(adjusted.body)
    assert log[-1].loss < 0.8 * log[0].loss
    assert [report.score for report in log] == [None] * 6
    assert adjusted.network is adjusted.body and not adjusted.body.training


def test_the_last_epoch_is_kept(bert: LoadedModel) -> None:
    """Not the first, although no score says that the last is better."""
    settings = AdjustmentSettings(epochs=2, batch=8, learning_rate=1e-3)
    examples = encode_pairs(bert, [PAIRS], PairOptions())
    learning = adjustment_objective(bert, examples, AlignmentLoss(bert, [3], LossOptions()))
    steps = over(clone(bert).body, learning, settings, None)
    run(steps)
    assert fingerprint(ig.adjust(bert, PAIRS, epochs=2, **QUICK).body) == fingerprint(steps.trainable.network)


def test_same_seed_same_bits_other_seed_other_bits(bert: LoadedModel) -> None:
    made = [fingerprint(ig.adjust(bert, PAIRS, seed=seed, **QUICK).body) for seed in (0, 0, 1)]
    assert made[0] == made[1] != made[2]


def test_the_recipe_is_the_published_one(bert: LoadedModel) -> None:
    settings = AdjustmentSettings()
    assert (settings.epochs, settings.batch, settings.learning_rate, settings.warmup) == (1, 32, 5e-5, 0.1)
    rates = [learning_rate_at(step, 100, settings) for step in (0, 5, 10, 50, 99)]
    np.testing.assert_allclose(rates, [0, 2.5e-5, 5e-5, 5e-5, 5e-5])
    learning = adjustment_objective(
        bert, encode_pairs(bert, [PAIRS], PairOptions()), AlignmentLoss(bert, [3], LossOptions())
    )
    steps = over(clone(bert).body, learning, settings, None)
    for group in steps.updater.optimizer.param_groups:
        assert (group["betas"], group["eps"], group["weight_decay"]) == ((0.9, 0.98), 1e-9, 0.0)
    body, optimizer = steps.trainable.network, steps.updater.optimizer
    assert isinstance(optimizer, torch.optim.AdamW)
    steps.step(
        0, 0.0
    )  # gradients of a summed loss are large, and are not clipped: Adam's first moments show them whole
    moments = [optimizer.state[p]["exp_avg"].norm() for p in body.parameters() if p in optimizer.state]
    assert float(torch.stack(moments).norm()) > 0.1 * 1.0 * 2


def test_recorded_steps_are_the_plain_ones(bert: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU: other shapes, masks that are always there, fillers in place of missing pairs."""
    monkeypatch.setattr(shapes, "LAUNCH_MS", 1e6)
    settings = AdjustmentSettings(epochs=3, batch=7, learning_rate=1e-3)
    examples = encode_pairs(bert, [PAIRS[:20], bitext(9, lang="en-ru")], PairOptions())

    def steps(record: Any) -> Any:
        learning = adjustment_objective(bert, examples, AlignmentLoss(bert, [1, 3], LossOptions(), 2))
        return over(without_dropout(clone(bert).body), learning, settings, record)

    recorder = Recorder()
    plain, recorded = steps(None), steps(recorder)
    np.testing.assert_allclose(run(recorded), run(plain), rtol=1e-4)
    assert recorder.recorded > 0
    rough = over(
        without_dropout(clone(bert).body),
        adjustment_objective(bert, examples, AlignmentLoss(bert, [3], LossOptions(reduction="mean"), 2)),
        replace(settings, precision="bf16"),
        Recorder(),
    )
    assert np.isfinite(run(rough)).all() and {p.dtype for p in rough.trainable.network.parameters()} == {torch.float32}


@pytest.mark.parametrize("family", ["xlm-roberta", "modernbert", "xglm", "llama", "mt5"])
def test_every_family_is_saved_and_loaded_again(tmp_path: Path, family: str) -> None:
    model = load_model(build(family, tmp_path / "m"), device="cpu")
    out = tmp_path / "out"
    adjusted = ig.adjust(model, PAIRS[:16], out=out, **QUICK)
    log = read_adjustment_log(out)
    assert adjusted.name == str(out)
    assert fingerprint(load_model(out, device="cpu").body) == fingerprint(adjusted.body) != fingerprint(model.body)
    again = ig.adjust(model, PAIRS[:16], out=out, **QUICK)
    assert len(log) == 1 and read_adjustment_log(out) == log and fingerprint(again.body) == fingerprint(adjusted.body)
    with pytest.raises(UsageError, match="another run"):
        ig.adjust(model, PAIRS[:16], out=out, seed=1, **QUICK)


def test_head_and_pooler_are_kept(tmp_path: Path) -> None:
    headed = with_head("bert", tmp_path / "m")
    adjusted = ig.adjust(headed, PAIRS[:16], out=tmp_path / "headed", **QUICK)
    again = ig.adjust(headed, PAIRS[:16], out=tmp_path / "headed", **QUICK)
    assert again.network is not again.body
    assert fingerprint(again.network) == fingerprint(adjusted.network) != fingerprint(headed.network)
    bare = load_model(build("bert", tmp_path / "b"), device="cpu")
    pooler = {f"pooler.dense.{name}": torch.randn(shape) for name, shape in (("weight", (16, 16)), ("bias", (16,)))}
    ig.adjust(replace(bare, pooler=pooler), PAIRS[:16], out=tmp_path / "bare", **QUICK)
    kept = load_model(tmp_path / "bare", device="cpu").pooler
    assert kept.keys() == pooler.keys() and all(torch.equal(kept[name], pooler[name]) for name in pooler)


def test_an_interrupted_adjustment_goes_on(bert: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ig.adjust(bert, PAIRS, epochs=2, **QUICK)
    save = Checkpoints.save

    def once(self: Checkpoints, step: int, state: Any, **options: Any) -> None:
        save(self, step, state, **options)
        if step == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoints, "save", once)
    with pytest.raises(KeyboardInterrupt):
        ig.adjust(bert, PAIRS, epochs=2, out=tmp_path, checkpoint_steps=1, **QUICK)
    monkeypatch.setattr(Checkpoints, "save", save)
    resumed = ig.adjust(bert, PAIRS, epochs=2, out=tmp_path, checkpoint_steps=1, **QUICK)
    assert fingerprint(resumed.body) == fingerprint(whole.body)
    assert not (tmp_path / "unfinished").exists()


def test_several_language_pairs_are_mixed(bert: LoadedModel) -> None:
    russian = bitext(40, lang="en-ru")
    mixed = fingerprint(ig.adjust(bert, [PAIRS, russian], **QUICK).body)
    assert mixed not in (fingerprint(ig.adjust(bert, one, **QUICK).body) for one in (PAIRS, russian))


def test_half_precision_is_adjusted_in_single(bert: LoadedModel) -> None:
    body = clone(bert).body.bfloat16()
    adjusted = ig.adjust(replace(bert, network=body, body=body), PAIRS[:8], **QUICK)
    assert {p.dtype for p in adjusted.body.parameters()} == {torch.float32}
    assert {p.dtype for p in body.parameters()} == {torch.bfloat16}


def test_divergence_is_told(bert: LoadedModel) -> None:
    with pytest.raises(DivergenceError, match="diverged"):
        ig.adjust(bert, PAIRS, batch=8, learning_rate=1e30, epochs=3)


def test_options_reach_what_they_are_for(bert: LoadedModel) -> None:
    plain = fingerprint(ig.adjust(bert, PAIRS, **QUICK).body)
    choices: list[dict[str, Any]] = [
        {"tokens": "words"},
        {"words": "first"},
        {"layers": 1},
        {"reduction": "mean"},
        {"normalise": True},
        {"contrastive": "weak"},
        {"one_to_one": True},
        {"warmup": 0.5},
    ]
    made = [fingerprint(ig.adjust(bert, PAIRS, **QUICK, **one).body) for one in choices]
    assert len({plain, *made}) == len(choices) + 1
    assert fingerprint(ig.adjust(bert, PAIRS, **QUICK, tokens="all").body) == plain


def test_as_a_model_change(bert: LoadedModel) -> None:
    intervention = partial(ig.adjust, bitext=PAIRS, layers=2, **QUICK)
    described = describe_intervention(intervention)
    assert described == "adjust(en-fr 40, batch=8, layers=2, learning_rate=0.001)"
    made = intervention(bert, seed=3)
    assert fingerprint(made.body) == fingerprint(ig.adjust(bert, PAIRS, layers=2, seed=3, **QUICK).body)
    with pytest.raises(TypeError, match="unexpected keyword argument 'reductoin'"):
        partial(ig.adjust, bitext=PAIRS, reductoin="mean")(bert, seed=3)  # type: ignore[call-arg]


def test_what_cannot_be_is_told(bert: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    for options, said in (({"batch": 0}, "batch"), ({"layers": 9}, "0 … 3")):
        with pytest.raises(UsageError, match=said):
            ig.adjust(bert, PAIRS, **options)
    with pytest.raises(UsageError, match="no pretrained layers"):
        ig.adjust(ig.bilstm(device="cpu"), PAIRS)
    monkeypatch.setattr("isogloss.training.adjustment.adjust.init_distributed", lambda: WorkerGroup(0, 2))
    with pytest.raises(UsageError, match="one process"):
        ig.adjust(bert, PAIRS)


def test_evaluation_mode_is_left_as_it_was(bert: LoadedModel) -> None:
    body = clone(bert).body.train()
    with evaluation_mode(body):
        assert not body.training
    assert body.training
