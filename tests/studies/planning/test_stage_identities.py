"""Identities of stages: results in a store are found by them, so they may change only with what a stage computes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from isogloss.core.hashing import digest
from isogloss.studies.planning import fingerprints
from isogloss.studies.planning.fingerprints import Fingerprints
from isogloss.studies.planning.planner import Plan, plan_study
from isogloss.studies.schema.study_file import read_study, study_of

LAB_STUDIES = Path(__file__).parents[3] / "studies" / "lab"
RECORDED = Path(__file__).with_name("stage_identities.json")
EVERY_KIND: dict[str, Any] = {
    "name": "every-kind",
    "models": {
        "lab": {"base": "laboratory", "text": [{"transliterate": {"langs": ["qlb"]}}]},
        "new": {"pretrain": {"texts": {"qla": "lab:qla/train/10"}, "steps": 3, "settings": {"batch": 2}}},
        "bilstm": "bilstm",
    },
    "changes": {
        "REF": [],
        "1-2": [{"reinit": "1-2"}, "lora"],
        "adapted": [{"adapt": {"text": "lab:qlb/train/10", "mix": {"qla": "lab:qla/train/5"}}}, {"reinit": 1}],
        "adjusted": [{"adjust": {"bitext": "lab:qla,qlb/train/10", "seed": "run", "settings": {"epochs": 2}}}],
        "added": [{"extend_vocabulary": {"text": "lab:qlb/train/10", "size": 9}}, "task_adapter"],
        "adapter": [{"language_adapter": {"text": "lab:qlb/train/10", "steps": 2}}],
    },
    "tasks": ["pos", "nli"],
    "sources": {"qla": {"train": ["lab:qla/train/10", "lab:qla/train/5@1"], "dev": "lab:qla/dev/10"}},
    "targets": {"qlb": "lab:qlb/test/10", "mixed": {"nli": "mixed:lab:qla/test/9|lab:qlb/test/9"}},
    "text": {"": [], "noisy": [{"noise": {"rate": 0.1}}], "order": [{"reorder": "SOV"}]},
    "continual": {"": None, "replay": {"bitext": "lab:qla,qlb/train/10"}, "late": {"bitext": "lab:qla,qlb/train/9",
                  "anchor": "adjusted", "changes": ["adjusted"], "settings": {"words": "first"}}},
    "settings": {"epochs": 2, "nli": {"batch": 4}, "lab": {"learning_rate": 1e-4}},
    "seeds": [0, 3],
    "measure": {"parallel": {"qla": "lab:qla/test/10", "qlb": "lab:qlb/test/10"}, "changes": ["REF", "1-2", "adapted"]},
    "distances": {"bitext": "lab:qla,qlb/test/10", "seeds": "all", "sentences": 4},
}  # fmt: skip


@pytest.fixture
def fixed_contents(monkeypatch: pytest.MonkeyPatch) -> None:
    """The content of files and of the package in identities replaced by names."""
    monkeypatch.setattr(fingerprints, "LABORATORY_VERSION", "laboratory")
    monkeypatch.setattr(fingerprints, "__version__", "0")
    monkeypatch.setattr(Fingerprints, "_path_hash", lambda self, path: path.name)


def summary(plan: Plan) -> dict[str, list[object]]:
    """The number of stages of each kind, and of runs, with one hash of their identities."""
    ids = {"run": [run.name for run in plan.runs]}
    for id in plan.stages:
        ids.setdefault(id.partition("-")[0], []).append(id)
    return {kind: [len(names), digest(sorted(names))] for kind, names in sorted(ids.items())}


@pytest.mark.usefixtures("fixed_contents")
def test_identities_are_those_recorded() -> None:
    studies = [study_of(EVERY_KIND), *map(read_study, sorted(LAB_STUDIES.glob("*.yaml")))]
    summaries = {study.name: summary(plan_study(study)) for study in studies}
    assert summaries == json.loads(RECORDED.read_text(encoding="utf-8"))
