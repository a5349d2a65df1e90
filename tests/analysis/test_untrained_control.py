"""Controls of similarity curves: untrained networks of the same architecture, computed once."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import tiny_models
import torch
from transformers import AutoModel

import isogloss as ig
from isogloss.analysis import untrained_control
from isogloss.analysis.layer_measurements import CurveInputs
from isogloss.analysis.untrained_control import control_curves, control_identity
from isogloss.core.errors import UsageError
from isogloss.corpora.parallel import ParallelSet
from isogloss.indexes.named import named_index
from isogloss.models.interventions.reinit import reinitialise_all
from isogloss.models.loading.loaded_model import LoadedModel, clone, wrap_network

TEXT = [f"{one} {two}" for one in tiny_models.SENTENCES for two in tiny_models.SENTENCES[:3]]


def parallel_set(lines: list[str] = TEXT) -> ParallelSet:
    texts = {"en": tuple(lines), "fr": tuple(line + " x" for line in lines)}
    return ParallelSet(texts, ids=tuple(map(str, range(len(lines)))))


def inputs_of(model: LoadedModel, text: ParallelSet | None = None) -> CurveInputs:
    indexes = (named_index("cka"), named_index("anc"))
    return CurveInputs(text or parallel_set(), (("en", "fr"),), indexes, "mean", False, model.layer_names)


@pytest.fixture
def model(tmp_path: Path) -> LoadedModel:
    return ig.load_model(tiny_models.build("bert", tmp_path / "bert"), device="cpu")


@pytest.mark.parametrize("family", tiny_models.CONFIGS)
def test_every_family_has_a_control_of_new_weights(family: str, tmp_path: Path) -> None:
    model = ig.load_model(tiny_models.build(family, tmp_path / "model"), device="cpu")
    network = reinitialise_all(clone(model), seed=0)
    for (name, before), after in zip(model.body.named_parameters(), network.body.parameters(), strict=True):
        if before.ndim > 1:
            assert not torch.equal(before, after), name
    curves = control_curves(model, inputs_of(model), 2, cache=tmp_path)
    assert {len(curve) for drawn in curves.values() for curve in drawn} == {model.layers + 1}
    assert curves["en", "fr", "cka"][0] != curves["en", "fr", "cka"][1]


def test_a_control_is_what_similarity_gives_for_the_untrained_network(model: LoadedModel, tmp_path: Path) -> None:
    curves = control_curves(model, inputs_of(model), 2, cache=tmp_path)
    network = reinitialise_all(clone(model), seed=untrained_control.derive_seed(1, "control"))
    states = [ig.similarity(network, parallel_set(), indexes=["cka"], bootstrap=0).frame["value"].to_list()]
    assert np.allclose(curves["en", "fr", "cka"][1], states[0], atol=1e-12)


def test_identity_follows_architecture_and_text_but_not_weights(model: LoadedModel, tmp_path: Path) -> None:
    identity = control_identity(model, inputs_of(model))
    assert control_identity(reinitialise_all(clone(model), seed=3), inputs_of(model)) == identity
    other_family = ig.load_model(tiny_models.build("distilbert", tmp_path / "other"), device="cpu")
    other_init = clone(model)
    other_init.body.config.initializer_range = 0.1
    others = [
        control_identity(other_family, inputs_of(other_family)),
        control_identity(other_init, inputs_of(model)),
        control_identity(model, inputs_of(model, parallel_set(TEXT[:-1]))),
        control_identity(model, replace(inputs_of(model), pool="cls")),
        control_identity(model, replace(inputs_of(model), layers=(0, 1, 2))),
        control_identity(model, replace(inputs_of(model), indexes=(named_index("cka"),))),
    ]
    assert len({identity, *others}) == 1 + len(others)


def test_controls_are_computed_once(model: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = control_curves(model, inputs_of(model), 3, cache=tmp_path)
    computed: list[str] = []
    measure = untrained_control._measure
    monkeypatch.setattr(
        untrained_control, "_measure", lambda *arguments: computed.append(arguments[2]) or measure(*arguments)
    )
    assert control_curves(reinitialise_all(clone(model), seed=5), inputs_of(model), 3, cache=tmp_path) == first
    assert not computed, "another model of this architecture shares the control"
    assert len(control_curves(model, inputs_of(model), 4, cache=tmp_path)["en", "fr", "cka"]) == 4
    assert computed == ["untrained network 4 of 4, "]
    damaged = sorted(tmp_path.glob("*-1.json"))[0]
    damaged.write_text(damaged.read_text()[:20])
    assert control_curves(model, inputs_of(model), 3, cache=tmp_path) == first
    assert len(computed) == 2
    assert not list(tmp_path.glob("*.lock"))


def test_a_cache_that_cannot_be_written_costs_only_time(model: LoadedModel, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    curves = control_curves(model, inputs_of(model), 2, cache=tmp_path / "file" / "cache")
    assert len(curves["en", "fr", "cka"]) == 2


def test_the_model_is_left_as_it_is(model: LoadedModel, tmp_path: Path) -> None:
    before = {name: weights.clone() for name, weights in model.body.state_dict().items()}
    control_curves(model, inputs_of(model), 2, cache=tmp_path)
    assert all(torch.equal(before[name], weights) for name, weights in model.body.state_dict().items())


@pytest.mark.slow
def test_no_verdict_is_yes_without_a_control(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrained_control, "MAX_CONTROL_PARAMETERS", 10)
    model, text = ig.load_model("laboratory", device="cpu"), ig.Laboratory(0).parallel(["qla", "qlc"], 60)
    measure = partial(ig.similarity, model, text, indexes=["matching"], control_cache=tmp_path)
    for options, reason in (({"control": False}, "switched off"), ({}, "3 million parameters; ")):
        row = measure(**options).shapes.row(0, named=True)
        assert row["effect"] > 0.02
        assert (row["verdict"], row["control_bound"]) == ("undecided", None)
        assert row["reason"].startswith(f"not compared with an untrained network ({reason}")
    row = measure(control=True).shapes.row(0, named=True)
    assert (row["verdict"], row["reason"], row["control_draws"]) == ("yes", "", 5)
    stored = [json.loads(path.read_text()) for path in sorted(tmp_path.glob("*.json"))]
    effects = [max(curve) - max(curve[0], curve[-1]) for drawn in stored for *_, curve in drawn]
    assert row["control_effect"] == pytest.approx(np.mean(effects))
    assert row["control_bound"] >= max(effects)


@pytest.mark.parametrize(("control", "limit", "reason"), [(False, 1e9, "switched off"), (None, 10, "0 million param")])
def test_the_reason_for_no_control(control: bool | None, limit: float, reason: str, model: LoadedModel, tmp_path: Path,
                                   monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr(untrained_control, "MAX_CONTROL_PARAMETERS", limit)
    untrained = untrained_control.untrained_control(model, inputs_of(model), control, 2, cache=tmp_path)
    assert untrained.curves is None
    assert untrained.missing.startswith(f"not compared with an untrained network ({reason}")
    assert not list(tmp_path.glob("*.json"))
    requested = untrained_control.untrained_control(model, inputs_of(model), True, 2, cache=tmp_path)
    assert requested.curves and not requested.missing


def test_requested_controls_that_cannot_be_computed_are_an_error(model: LoadedModel, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least 2 control draws, got 1"):
        ig.similarity(model, parallel_set(), control=True, control_draws=1, control_cache=tmp_path)


@pytest.mark.parametrize("family", ["bert", "distilbert", "gpt_neox", "llama"])
def test_untrained_networks_do_not_align(family: str, tmp_path: Path) -> None:
    """Networks as the model library creates them get no yes, whatever their peaks look like."""
    model = ig.load_model(tiny_models.build(family, tmp_path / family), device="cpu")
    verdicts = []
    for seed in range(2):
        torch.manual_seed(seed)
        network = AutoModel.from_config(model.body.config)
        untrained = wrap_network("untrained", network, network, model.tokenizer)
        verdicts += ig.similarity(untrained, parallel_set(), control_cache=tmp_path).shapes["verdict"].to_list()
    assert len(verdicts) == 2 * 3
    assert "yes" not in verdicts
