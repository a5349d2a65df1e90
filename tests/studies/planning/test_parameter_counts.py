from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from toy_driver import STUDY

from isogloss.core.bundled import SHIPPED
from isogloss.models.bilstm.baseline import BILSTM, bilstm
from isogloss.models.bilstm.networks import BilstmParser, BilstmTagger
from isogloss.models.loading.load import load_model
from isogloss.studies.planning.explain import explain
from isogloss.studies.planning.parameter_counts import (
    BILSTM_PARAMETERS,
    folder_parameters,
    model_parameters,
    network_bytes,
    pretrained_parameters,
)
from isogloss.studies.planning.planner import Plan, plan_study
from isogloss.studies.planning.stages import StageOfModel
from isogloss.studies.schema.study_file import study_of

PRETRAIN = {"texts": {"qla": "lab:qla/train/100"}, "layers": 4, "width": 128, "vocabulary": 2000}


def planned(model: Any, **changes: Any) -> Plan:
    data = {key: value for key, value in STUDY.items() if key != "model"}
    return plan_study(study_of({**data, "models": {"m": model}, "changes": {"REF": []}, **changes}))


def parameters(plan: Plan) -> set[float | None]:
    return {
        model_parameters(stage.model, plan.stages) for stage in plan.stages.values() if isinstance(stage, StageOfModel)
    }


def count(network: torch.nn.Module) -> int:
    return sum(one.numel() for one in network.parameters())


def test_weights_are_those_of_the_file(tmp_path: Path) -> None:
    half = {"a": torch.zeros(3, 5, dtype=torch.float16), "b": torch.zeros(7), "c": torch.zeros(())}
    save_file(half, tmp_path / "one.safetensors", {"format": "pt"})
    save_file({"d": torch.zeros(2, 2, dtype=torch.int8)}, tmp_path / "two.safetensors")
    assert folder_parameters(tmp_path) == 3 * 5 + 7 + 1 + 4
    (tmp_path / "one.safetensors").write_bytes(b"\xff" * 9)
    assert folder_parameters(tmp_path) == 4
    assert folder_parameters(tmp_path / "nowhere") == 0


def test_models_that_are_here_are_counted(bert: Path) -> None:
    assert parameters(planned("laboratory")) == {folder_parameters(SHIPPED["laboratory"])}
    assert parameters(planned(str(bert))) == {folder_parameters(bert)}
    body = count(load_model("laboratory", device="cpu").body)
    assert body <= folder_parameters(SHIPPED["laboratory"]) < 2 * body


def test_models_that_are_not_here_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isogloss.studies.planning.fingerprints._commit", lambda name: "commit")
    plan = planned("some/model")
    assert parameters(plan) == {None}
    assert dict(explain(plan, None))["disk"].startswith("1 networks of unknown size")


def test_the_baseline_by_its_sizes() -> None:
    assert parameters(planned(BILSTM)) == {BILSTM_PARAMETERS}
    body: Any = bilstm(device="cpu").body
    for network in (BilstmTagger(body, 2000, 50, 17), BilstmParser(body, 2000, 50, 40)):
        assert count(network) == pytest.approx(BILSTM_PARAMETERS, rel=0.15)


def test_a_model_to_be_pretrained_by_its_sizes() -> None:
    plan = planned({"pretrain": PRETRAIN})
    expected = pretrained_parameters(2000, 4, 128)
    assert parameters(plan) == {expected} == {2000 * 128 + 4 * 12 * 128**2}
    model, tuned = (one for one in plan.stages.values() if one.kind in ("model", "finetuned"))
    assert network_bytes(model, plan.stages) == network_bytes(tuned, plan.stages) == 4 * expected


def test_an_adapted_model_has_the_weights_of_its_base(bert: Path) -> None:
    adapt = {"adapt": {"text": "lab:qlb/train/10", "epochs": 3}}
    plan = planned({"base": str(bert), "changes": [adapt]})
    assert parameters(plan) == {folder_parameters(bert)}
