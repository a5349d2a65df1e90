from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from toy_driver import STUDY

from isogloss.store.entries import Store
from isogloss.studies.planning import fingerprints
from isogloss.studies.planning.explain import explain
from isogloss.studies.planning.fingerprints import Fingerprints
from isogloss.studies.planning.planner import Plan, plan_study
from isogloss.studies.schema.study_file import study_of

MEASURED = {"measure": {"parallel": "lab:qla,qlb/test/10", "seeds": [0, 1]}}


def planned(device: str = "cpu", **changes: Any) -> Plan:
    return plan_study(study_of({**STUDY, "seeds": 2, **changes}), device=device)


def ids(plan: Plan, kind: str) -> list[str]:
    return [getattr(run, kind) for run in plan.runs]


def test_runs_are_the_product() -> None:
    plan = planned(task=["pos", "parse"])
    assert len(plan.runs) == 2 * 2 * 2
    assert len({run.name for run in plan.runs}) == 8
    assert [run.label for run in plan.runs[:3]] == [
        "bilstm REF pos qla seed 0", "bilstm REF pos qla seed 1", "bilstm REF parse qla seed 0",
    ]  # fmt: skip
    assert len(plan.jobs(())) == 8
    assert all([stage.kind for stage in job.stages] == ["finetuned", "evaluation"] for job in plan.jobs(()))


def test_the_same_content_has_the_same_identity_wherever_it_lies(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text("1")
    (tmp_path / "b.conllu").write_text("1")
    (tmp_path / "c.conllu").write_text("2")
    plans = {
        name: planned(sources={"en": {"train": str(tmp_path / f"{name}.conllu"), "dev": "lab:qla/dev/1"}})
        for name in "abc"
    }
    assert ids(plans["a"], "finetuned") == ids(plans["b"], "finetuned")
    assert not set(ids(plans["a"], "finetuned")) & set(ids(plans["c"], "finetuned"))


@pytest.mark.parametrize(
    "change",
    [
        {"settings": {"epochs": 9}},
        {"settings": {"pos": {"batch": 9}}},
        {"settings": {"bilstm": {"batch": 9}}},
        {"settings": {"bilstm": {"pos": {"batch": 9}}}},
        {"threads": 2},
        {"sources": {"qla": {"train": "lab:qla/train/11", "dev": "lab:qla/dev/10"}}},
        {"sources": {"qla": {"train": "lab:qla/train/10@1", "dev": "lab:qla/dev/10"}}},
        {"sources": {"qla": {"train": "lab:qla/train/10", "dev": "lab:qla/dev/11"}}},
        {"task": "parse"},
        {"model": "laboratory"},
        {"device": "cuda"},
    ],
)
def test_what_matters_is_in_the_identity(change: dict[str, Any]) -> None:
    assert not set(ids(planned(), "finetuned")) & set(ids(planned(**change), "finetuned"))


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other", "description": "x"},
        {"changes": {"BASE": [], "first": [{"reinit": {"layers": 1}}]}, "reference": "BASE"},
        {"models": {"m": "bilstm"}, "model": None},
        {"seeds": [0, 1]},
        {"networks": "discard"},
        {"settings": {"parse": {"epochs": 3}}},
        {"variables": {"X": "1"}},
        MEASURED,
    ],
)
def test_what_does_not_matter_is_not(change: dict[str, Any]) -> None:
    data = {key: value for key, value in {**STUDY, "seeds": 2, **change}.items() if value is not None}
    plan = plan_study(study_of(data))
    assert ids(plan, "finetuned") == ids(planned(), "finetuned")
    assert ids(plan, "evaluation") == ids(planned(), "evaluation")


def test_settings_of_one_model_leave_the_others_as_they_are() -> None:
    models = {"a": "bilstm", "b": "laboratory"}
    data = {**{key: value for key, value in STUDY.items() if key != "model"}, "models": models}
    plain, told = (plan_study(study_of({**data, "settings": given})) for given in ({}, {"a": {"epochs": 9}}))
    same = [one.finetuned == other.finetuned for one, other in zip(plain.runs, told.runs, strict=True)]
    assert same == [run.model == "b" for run in plain.runs]


def test_a_study_that_only_measures() -> None:
    measure = {"parallel": "lab:qla,qlb/test/10", "source": "qla", "when": ["before"]}
    data = {"name": "m", "model": "laboratory", "measure": measure, "seeds": 2}
    plan = plan_study(study_of({**data, "changes": {"REF": [ADAPT], "1": [{"reinit": 1}]}}))
    assert [(run.changes, run.seed, run.task, run.evaluation) for run in plan.runs] == [
        ("REF", 0, "", ""), ("REF", 1, "", ""), ("1", 0, "", ""), ("1", 1, "", ""),
    ]  # fmt: skip
    kinds = [id.partition("-")[0] for id in plan.stages]
    assert (kinds.count("model"), kinds.count("similarity"), len(kinds)) == (1, 1 + 2, 4)
    assert [job.label for job in plan.jobs(())] == [
        "model laboratory REF", "laboratory REF qla seed 0", "laboratory 1 qla seed 0", "laboratory 1 qla seed 1",
    ]  # fmt: skip
    assert plan.jobs(plan.goals) == []
    shown = dict(explain(plan, None))
    assert shown["runs"] == "4 = 1 model × 2 conditions × 2 seeds, only measured"
    assert shown["similarity curves"] == "3, shared by 4 uses; 0 done"
    assert "targets" not in shown
    alone = plan_study(study_of({**STUDY, "model": "laboratory", "changes": {"1": [{"reinit": 1}]}, "reference": "1",
                                 "measure": measure}))  # fmt: skip
    assert alone.runs[0].similarity["before"] == plan.runs[2].similarity["before"], "with tasks or without"


def test_threads_matter_on_a_cpu_only() -> None:
    assert ids(planned(device="cuda"), "finetuned") == ids(planned(device="cuda", threads=2), "finetuned")


def test_a_new_target_keeps_the_networks() -> None:
    more = planned(targets={**STUDY["targets"], "qlc": "lab:qlc/test/10"})
    assert ids(more, "finetuned") == ids(planned(), "finetuned")
    assert not set(ids(more, "evaluation")) & set(ids(planned(), "evaluation"))


def test_a_model_without_random_changes_is_measured_once_for_all_seeds() -> None:
    plan = planned(**MEASURED)
    before = {(run.changes, run.seed): run.similarity["before"] for run in plan.runs}
    assert before["REF", 0] == before["REF", 1]
    assert before["1", 0] != before["1", 1]
    assert len({run.similarity["after"] for run in plan.runs}) == 4
    assert len([id for id in plan.stages if id.startswith("similarity")]) == 3 + 4


@pytest.mark.parametrize(("seeds", "measured"), [(None, 1), ([1], 1), ([0, 2], 2), ("all", 3)])
def test_which_seeds_are_measured(seeds: Any, measured: int) -> None:
    plan = planned(seeds=3, measure={"parallel": "lab:qla,qlb/test/10", "when": ["after"], "seeds": seeds})
    assert sum("after" in run.similarity for run in plan.runs if run.changes == "REF") == measured


def test_only_what_is_asked_for_is_measured() -> None:
    plan = planned(measure={"parallel": "lab:qla,qlb/test/10", "when": ["before"], "changes": ["1"]})
    assert [(run.changes, run.seed, list(run.similarity)) for run in plan.runs if run.similarity] == [
        ("1", 0, ["before"])
    ]


ADAPT = {"adapt": {"text": "lab:qlb/train/10"}}


def test_stored_changes_are_stages_that_runs_share() -> None:
    columns = {"REF": [ADAPT], "1": [ADAPT, {"reinit": 1}], "twice": [ADAPT, {"adapt": {"text": "lab:qlc/train/10"}}]}
    plan = planned(changes=columns)
    models = {id: stage for id, stage in plan.stages.items() if stage.kind == "model"}
    assert len(models) == 2, "the first adaptation is the same for all columns and seeds"
    first, second = models
    assert models[second].needs == (first,)
    assert {plan.stages[run.finetuned].needs for run in plan.runs if run.changes != "twice"} == {(first,)}
    jobs = {job.name: job for job in plan.jobs(())}
    assert jobs[second].needs == (first,)
    assert jobs[plan.runs[0].finetuned].needs == (first,)
    assert jobs[first].label.startswith("model bilstm REF")
    assert not any(job.needs for job in plan.jobs({first, second}))


def test_a_stored_change_after_a_random_one_is_made_for_each_seed() -> None:
    plan = planned(changes={"REF": [{"reinit": 1}, ADAPT]})
    assert len({plan.stages[run.finetuned].needs for run in plan.runs}) == 2


def test_nothing_is_left_to_do_when_the_goals_are_there() -> None:
    plan = planned(**MEASURED)
    assert plan.jobs(plan.stages) == []
    assert plan.jobs(plan.goals) == [], "networks that were removed are not made again for nothing"
    lost = plan.runs[0].evaluation
    (job,) = plan.jobs(plan.goals - {lost})
    assert [stage.id for stage in job.stages] == [plan.runs[0].finetuned, lost]
    (job,) = plan.jobs(set(plan.stages) - {lost})
    assert [stage.id for stage in job.stages] == [lost]


def test_what_is_not_here_is_gathered() -> None:
    plan = planned(sources={"en": {"train": "/nowhere/a", "dev": "/nowhere/b"}})
    assert list(plan.missing) == ["/nowhere/a", "/nowhere/b"]


def test_a_file_is_hashed_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, store = tmp_path / "a", Store(tmp_path / "store")
    file.write_text("1")

    def look() -> list[str]:
        prints = Fingerprints(store)
        found = prints.corpus([str(file)])
        prints.save()
        return found

    first = look()
    with monkeypatch.context() as patch:
        patch.setattr(fingerprints, "file_hash", lambda path: pytest.fail("hashed again"))
        assert look() == first
    file.write_text("22")
    assert look() != first
    (store.folder / fingerprints.CACHE_FILE).write_text("{")
    assert look() != first


def test_a_model_folder_is_known_by_its_files(tmp_path: Path, bert: Path) -> None:
    copy = shutil.copytree(bert, tmp_path / "copy")
    (copy / "README.md").write_text("a card changes nothing")
    assert Fingerprints().model(str(copy)) == Fingerprints().model(str(bert))
    (copy / "config.json").write_text((copy / "config.json").read_text() + " ")
    assert Fingerprints().model(str(copy)) != Fingerprints().model(str(bert))


def test_whoever_plans_needs_no_torch() -> None:
    modules = "isogloss.studies.execution.run_study, isogloss.studies.execution.backends.local"
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_ten_thousand_runs_are_planned() -> None:
    """How fast is told by `python -m benchmarks studies`."""
    assert len(planned(seeds=5000).jobs(())) == 10_000
