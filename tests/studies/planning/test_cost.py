from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from toy_driver import STUDY

from isogloss.core.bundled import SHIPPED
from isogloss.corpora.lab.laboratory import Laboratory
from isogloss.models.bilstm.baseline import BILSTM, bilstm
from isogloss.models.bilstm.networks import BilstmParser, BilstmTagger
from isogloss.models.loading.load import load_model
from isogloss.studies.planning import cost
from isogloss.studies.planning.cost import estimate, network_bytes, weighed_jobs
from isogloss.studies.planning.parameter_counts import (
    BILSTM_WEIGHTS,
    UNKNOWN,
    folder_weights,
    pretrained_weights,
    weights_of,
)
from isogloss.studies.planning.planner import Plan, plan_study
from isogloss.studies.schema.references import LAB
from isogloss.studies.schema.study_file import read_study, study_of
from isogloss.tasks import TASKS
from isogloss.training.language_modeling.settings import DEFAULT_BUDGET, LanguageModelSettings

PRETRAIN = {"texts": {"qla": "lab:qla/train/100"}, "layers": 4, "width": 128, "vocabulary": 2000}


def planned(model: Any, **changes: Any) -> Plan:
    data = {key: value for key, value in STUDY.items() if key != "model"}
    return plan_study(study_of({**data, "models": {"m": model}, "changes": {"REF": []}, **changes}))


def weights(plan: Plan) -> set[float]:
    return {weights_of(stage.recipe, plan.stages) for stage in plan.stages.values()}


def seconds(plan: Plan, kind: str | None = None) -> float:
    return estimate(plan, [one for one in plan.stages.values() if kind in (None, one.kind)], None).seconds


def count(network: torch.nn.Module) -> int:
    return sum(one.numel() for one in network.parameters())


def test_weights_are_those_of_the_file(tmp_path: Path) -> None:
    half = {"a": torch.zeros(3, 5, dtype=torch.float16), "b": torch.zeros(7), "c": torch.zeros(())}
    save_file(half, tmp_path / "one.safetensors", {"format": "pt"})
    save_file({"d": torch.zeros(2, 2, dtype=torch.int8)}, tmp_path / "two.safetensors")
    assert folder_weights(tmp_path) == 3 * 5 + 7 + 1 + 4
    (tmp_path / "one.safetensors").write_bytes(b"\xff" * 9)
    assert folder_weights(tmp_path) == 4
    assert folder_weights(tmp_path / "nowhere") == 0


def test_models_that_are_here_are_counted(bert: Path) -> None:
    assert weights(planned("laboratory")) == {folder_weights(SHIPPED["laboratory"])}
    assert weights(planned(str(bert))) == {folder_weights(bert)}
    body = count(load_model("laboratory", device="cpu").body)
    assert body <= folder_weights(SHIPPED["laboratory"]) < 2 * body


def test_what_is_not_here_is_taken_for_mbert(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isogloss.studies.planning.fingerprints._commit", lambda name: "commit")
    assert weights(planned("some/model")) == {UNKNOWN}


def test_the_baseline_by_its_sizes() -> None:
    assert weights(planned(BILSTM)) == {BILSTM_WEIGHTS}
    body: Any = bilstm(device="cpu").body
    for network in (BilstmTagger(body, 2000, 50, 17), BilstmParser(body, 2000, 50, 40)):
        assert count(network) == pytest.approx(BILSTM_WEIGHTS, rel=0.15)


def test_a_model_to_be_pretrained_by_its_sizes() -> None:
    plan = planned({"pretrain": PRETRAIN})
    assert weights(plan) == {pretrained_weights(**PRETRAIN)} == {2000 * 128 + 4 * 12 * 128**2}
    model, tuned = (one for one in plan.stages.values() if one.kind in ("model", "finetuned"))
    assert network_bytes(model, plan) == network_bytes(tuned, plan) == 4 * pretrained_weights(**PRETRAIN)


def test_an_adapted_model_has_the_weights_of_its_base(bert: Path) -> None:
    adapt = {"adapt": {"text": "lab:qlb/train/10", "epochs": 3}}
    plan = planned({"base": str(bert), "changes": [adapt]})
    assert weights(plan) == {folder_weights(bert)}
    assert seconds(plan, "model") == pytest.approx(6 * folder_weights(bert) * 10 * cost.SENTENCE * 3 / 2e10)


def test_language_models_read_as_much_as_they_are_told() -> None:
    step = LanguageModelSettings()
    assert {"batch": step.batch, "length": step.length} == cost.STEP
    assert DEFAULT_BUDGET.steps == cost.STEPS
    per_token = 6 * pretrained_weights(**PRETRAIN) / 2e10
    told: list[tuple[dict[str, Any], int]] = [
        ({}, 10_000 * 32 * 128),
        ({"steps": 100}, 100 * 32 * 128),
        ({"steps": 100, "settings": {"length": 64}}, 100 * 32 * 64),
        ({"tokens": 12_345}, 12_345),
    ]
    for more, tokens in told:
        plan = planned({"pretrain": {**PRETRAIN, **more}})
        assert seconds(plan, "model") == pytest.approx(tokens * per_token)


def test_a_sentence_of_the_laboratory() -> None:
    words = [len(one.words) for one in Laboratory().treebank("qla", "train", 200)]
    assert sum(words) / len(words) == pytest.approx(cost.SENTENCE, rel=0.2)


def test_settings_of_a_model_show_in_its_cost() -> None:
    once, more = (planned("laboratory", settings={"m": {"epochs": epochs}}) for epochs in (1, 7))
    assert seconds(more, "finetuned") == pytest.approx(7 * seconds(once, "finetuned"))


@pytest.mark.parametrize("name", ["table-1-pos", "table-1-ner", "figures-2-6-7-8", "unseen-easy"])
def test_twins_of_the_laboratory_cost_minutes(name: str) -> None:
    plan = plan_study(read_study(Path(__file__).parents[3] / "studies" / "lab" / f"{name}.yaml"))
    assert 60 < seconds(plan) < 3600


def test_networks_trained_as_one_take_less_than_one_by_one_on_a_gpu(bert: Path) -> None:
    columns = {"REF": [], "1": [{"reinit": 1}], "2": [{"reinit": 2}]}
    data = {**STUDY, "model": str(bert), "changes": columns, "seeds": 1, "task": "pos", "settings": {"batch": 8}}
    plan = plan_study(study_of(data), device="cuda")
    alone, (stack,) = weighed_jobs(plan, None), weighed_jobs(plan, None, together=3)
    tuned = [one for one in plan.stages.values() if one.kind == "finetuned"]
    sentences = int(LAB.fullmatch(STUDY["sources"]["qla"]["train"])["number"])
    epochs, weights = TASKS["pos"].defaults.epochs, folder_weights(bert)
    steps, operations = epochs * sentences / 8, 6 * weights * epochs * sentences * cost.SENTENCE
    rest = sum(job.seconds for job in alone) - estimate(plan, tuned, None).seconds
    by_hand = steps * (0.004 + 3 * (0.0009 + 58 * weights / 4.2e12)) + 3 * operations / 3.5e14
    assert stack.seconds == pytest.approx(by_hand + rest)
    assert stack.seconds < sum(job.seconds for job in alone) == pytest.approx(seconds(plan))
    here = plan_study(study_of(data), device="cpu")
    assert weighed_jobs(here, None, together=3)[0].seconds == pytest.approx(seconds(here)), "nothing is gained on a CPU"


def test_the_rule_for_networks_as_one_is_near_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Milliseconds of a step on an H200, from docs/performance.md: networks, weights, tokens a step."""
    measured = {(3, 91.6e6, 357): 12.7, (7, 91.6e6, 357): 24.3, (7, 34.0e6, 714): 15.2}
    for (networks, weights, tokens), milliseconds in measured.items():
        monkeypatch.setattr(cost, "weights_of", lambda *_, number=weights: number)
        monkeypatch.setattr(cost, "_taught", lambda *_, number=6 * weights * tokens: (1.0, number))
        plan = planned("laboratory", seeds=networks)
        tuned = [one for one in plan.stages.values() if one.kind == "finetuned"]
        assert len(tuned) == networks
        assert 1000 * cost._as_one_by_rule(tuned, plan) == pytest.approx(milliseconds, rel=0.1)
