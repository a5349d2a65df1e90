"""Runs that are trained as one: which come together, and that results are those of runs by themselves."""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_run_study import SMALL, never, run, study
from toy_driver import STUDY

from isogloss.core.errors import UsageError
from isogloss.results.rows.study_results import StudyResults
from isogloss.store.entries import Store
from isogloss.studies.execution import finetuning, measurements
from isogloss.studies.execution import run_job as work
from isogloss.studies.execution.checks import check_inputs
from isogloss.studies.execution.checks.findings import Findings
from isogloss.studies.execution.run_study import planned
from isogloss.studies.planning.explain import explain
from isogloss.studies.planning.job import Job
from isogloss.studies.planning.planner import Plan, plan_study
from isogloss.studies.planning.stacking import largest_stack, stack_jobs
from isogloss.studies.schema.study_file import study_of
from isogloss.training.engine.progress import DivergenceError

ADAPT = {"adapt": {"text": "lab:qlb/train/20", "steps": 4}}
REPLAY = {"bitext": "lab:qla,qlb/train/20", "pairs": 3}


@pytest.fixture(autouse=True)
def _fresh_memory() -> None:
    work._worker_context.cache_clear()


def plan_of(bert: Path, **changes: Any) -> Plan:
    return plan_study(study_of(study(bert, **changes)), device="cpu")


def plan_with(models: dict[str, Any], **changes: Any) -> Plan:
    data = {name: value for name, value in {**STUDY, **SMALL, **changes}.items() if name != "model"}
    return plan_study(study_of({**data, "models": models}), device="cpu")


def jobs_of(plan: Plan) -> list[Job]:
    """All of a plan's jobs, each of which takes a second more than the one before."""
    return [replace(job, seconds=float(place)) for place, job in enumerate(plan.jobs(()), 1)]


def who(job: Job, plan: Plan) -> list[tuple[str, int]]:
    """The columns and seeds that a job trains."""
    runs = {run.finetuned: (run.changes, run.seed) for run in plan.runs}
    return [runs[stage.id] for stage in job.finetunings]


def test_runs_of_one_seed_come_together_first(bert: Path) -> None:
    plan = plan_of(bert, seeds=3)
    found = stack_jobs(jobs_of(plan), 4, plan.stages)
    assert [who(job, plan) for job in found] == [[("REF", 0), ("1", 0), ("REF", 1), ("1", 1)], [("REF", 2), ("1", 2)]]
    assert [len(job.finetunings) for job in stack_jobs(jobs_of(plan), 3, plan.stages)] == [3, 3]
    assert [len(job.finetunings) for job in stack_jobs(jobs_of(plan), 5, plan.stages)] == [5, 1]
    assert [len(job.finetunings) for job in stack_jobs(jobs_of(plan), 99, plan.stages)] == [6]
    assert largest_stack(jobs_of(plan), plan.stages) == 2 and largest_stack([], plan.stages) == 0
    on_gpu = plan_study(plan.study, device="cuda")
    assert dict(explain(on_gpu, None))["stack"].endswith("--stack 2 (BERT-like models) is faster")
    assert "stack" not in dict(explain(plan, None)), "on a CPU it is not"


@pytest.mark.parametrize("networks", ["keep", "discard"])
def test_a_job_of_several_has_all_that_they_have(bert: Path, networks: str) -> None:
    plan = plan_of(bert, networks=networks, changes={"REF": [], "a": [ADAPT], "b": [ADAPT, {"reinit": 1}]}, threads=2)
    jobs = jobs_of(plan)
    single = {job.name: job for job in jobs if job.finetunings}
    (made,) = [job for job in jobs if not job.finetunings]
    found = stack_jobs(jobs, 4, plan.stages)
    assert made in found, "what trains nothing stays as it is"
    found = [job for job in found if job != made]
    assert [len(job.finetunings) for job in found] == [4, 2]
    for job in found:
        parts = [single[stage.id] for stage in job.finetunings]
        assert job.name == parts[0].name
        assert job.label == f"{parts[0].label} and {len(parts) - 1} more"
        assert sorted(stage.id for stage in job.stages) == sorted(stage.id for one in parts for stage in one.stages)
        assert job.stages[: len(parts)] == tuple(job.finetunings), "networks first, then what is measured on them"
        assert job.needs == (made.name,)
        assert job.discard == (tuple(one.name for one in parts) if networks == "discard" else ())
        assert job.seconds == sum(one.seconds for one in parts)
        assert job.threads == 2
    assert len({stage.id for job in found for stage in job.stages}) == sum(len(one.stages) for one in single.values())


def test_other_lessons_stay_apart(bert: Path) -> None:
    corpora, half = SMALL["sources"]["qla"], {"noise": {"rate": 0.5, "on": ["train"]}}
    plan = plan_of(
        bert,
        task=["pos", "parse"],
        sources={"qla": corpora, "qlb": {**corpora, "train": "lab:qlb/train/24"}},
        text={"plain": [], "noisy": [half]},
    )
    facts = {run.finetuned: (run.task, run.source, run.text) for run in plan.runs}
    found = [[facts[stage.id] for stage in job.finetunings] for job in stack_jobs(jobs_of(plan), 99, plan.stages)]
    assert len(found) == len(set(facts.values())) == 2 * 2 * 2
    assert all(len(lessons) == 4 and len(set(lessons)) == 1 for lessons in found)


def test_models_of_one_origin_come_together_if_they_are_taught_alike(bert: Path) -> None:
    models = {"a": str(bert), "b": {"base": str(bert), "changes": [{"reinit": 2}]}}
    for settings, expected in (({"epochs": 2}, [8]), ({"epochs": 2, "b": {"epochs": 3}}, [4, 4])):
        plan = plan_with(models, settings=settings)
        assert [len(job.finetunings) for job in stack_jobs(jobs_of(plan), 99, plan.stages)] == expected


def test_models_of_another_origin_stay_apart(bert: Path, tmp_path: Path) -> None:
    other = shutil.copytree(bert, tmp_path / "other")
    (other / "config.json").write_text((other / "config.json").read_text() + " ")  # the same files are the same model
    pretrained = {"pretrain": {"texts": {"qla": "lab:qla/train/60"}, "steps": 2}}
    plan = plan_with({"a": str(bert), "b": str(other), "c": pretrained, "d": "bilstm"})
    runs = {run.finetuned: run.model for run in plan.runs}
    found = [job for job in stack_jobs(jobs_of(plan), 99, plan.stages) if job.finetunings]
    assert Counter("".join(runs[stage.id] for stage in job.finetunings) for job in found) == {
        "aaaa": 1, "bbbb": 1, "cccc": 1, "d": 4,
    }  # fmt: skip


def test_continual_learning_stays_apart(bert: Path) -> None:
    plan = plan_of(bert, continual=["none", REPLAY])
    runs = {run.finetuned: run.continual for run in plan.runs}
    found = [[runs[stage.id] for stage in job.finetunings] for job in stack_jobs(jobs_of(plan), 99, plan.stages)]
    assert sorted(found) == [["", "", "", ""], *[["continual"]] * 4]


def test_what_trains_nothing_any_more_stays_apart(bert: Path) -> None:
    plan = plan_of(bert)
    tuned = {run.finetuned for run in plan.runs[:2]}
    found = stack_jobs(plan.jobs(tuned), 99, plan.stages)
    assert sorted(len(job.finetunings) for job in found) == [0, 0, 2]


@pytest.mark.parametrize("networks", ["keep", "discard"])
def test_one_at_a_time_changes_nothing(bert: Path, networks: str) -> None:
    """Not even the order, in which jobs that take as long as each other are given out."""
    plan = plan_of(bert, networks=networks, task=["pos", "parse"])
    jobs = jobs_of(plan)
    assert stack_jobs(jobs, 1, plan.stages) == jobs


def test_no_run_at_a_time_is_an_error(bert: Path, tmp_path: Path) -> None:
    for number in (0, -1):
        with pytest.raises(UsageError, match=f"stack: expected a whole number of at least 1, got {number}"):
            run(study(bert), tmp_path, stack=number)


@pytest.fixture(scope="module")
def quiet(bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny BERT without dropout: its masks are the one thing that differs in a stack."""
    folder = shutil.copytree(bert, tmp_path_factory.mktemp("quiet") / "bert")
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture(scope="module")
def apart(quiet: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[StudyResults, Path]:
    """Four runs, each by itself, and their store."""
    work._worker_context.cache_clear()
    store = tmp_path_factory.mktemp("apart")
    return run(study(quiet), store), store


class Trainings:
    """How often, and of how many runs, training was called for."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.single, self.stacks = 0, list[int]()
        finetune, together = finetuning.finetune, finetuning.finetune_stacked

        def one(*arguments: Any, **named: Any) -> Any:
            self.single += 1
            return finetune(*arguments, **named)

        def several(models: Any, *arguments: Any, **named: Any) -> Any:
            self.stacks.append(len(models))
            return together(models, *arguments, **named)

        patch.setattr(finetuning, "finetune", one)
        patch.setattr(finetuning, "finetune_stacked", several)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Trainings:
    return Trainings(monkeypatch)


def assert_same(found: StudyResults, expected: StudyResults) -> None:
    """The same rows, in the same order, with the same scores."""
    assert not found.failed
    assert found.frame.drop("value").equals(expected.frame.drop("value"))
    assert found.frame["value"].to_list() == pytest.approx(expected.frame["value"].to_list(), abs=1e-6)
    names = ["changes", "seed", "target", "item", "gold", "prediction"]
    assert found.predictions.select(names).collect().equals(expected.predictions.select(names).collect())


@pytest.mark.parametrize("networks", ["keep", "discard"])
def test_the_same_scores_as_apart(
    quiet: Path, apart: tuple[StudyResults, Path], tmp_path: Path, counted: Trainings, networks: str
) -> None:
    expected, store = apart
    results = run(study(quiet, networks=networks), tmp_path, stack=3)
    assert (counted.stacks, counted.single) == ([3], 1)
    assert_same(results, expected)
    assert results.frame.filter(pl.col("split") == "test")["value"].n_unique() > 3, "runs differ, or this shows nothing"
    kept = {id for id in Store(store).ids() if networks == "keep" or id.startswith("evaluation")}
    assert Store(tmp_path).ids() == kept
    assert not any((tmp_path / "work").iterdir()) and not any((tmp_path / "locks").iterdir())


def test_adapted_models_are_trained_with_those_they_were_made_from(
    quiet: Path, tmp_path: Path, counted: Trainings
) -> None:
    data = study(quiet, seeds=1, changes={"REF": [], "adapted": [ADAPT]})
    results = run(data, tmp_path / "together", stack=3)
    assert (counted.stacks, counted.single) == ([2], 0)
    assert_same(results, run(data, tmp_path / "apart"))


def test_every_kept_network_is_its_own(quiet: Path, apart: tuple[StudyResults, Path], tmp_path: Path) -> None:
    """What is in the store is what was scored: scores are made again from the networks alone."""
    expected, _ = apart
    run(study(quiet), tmp_path, stack=4)
    store = Store(tmp_path)
    for id in [id for id in store.ids() if id.startswith("evaluation")]:
        store.remove(id)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(finetuning, "finetune", never)
        patch.setattr(finetuning, "finetune_stacked", never)
        work._worker_context.cache_clear()
        assert_same(run(study(quiet), tmp_path, stack=4), expected)
    logs = [(store.place(id) / "log.tsv").read_text().splitlines() for id in store.ids() if id.startswith("finetuned")]
    assert [len(log) for log in logs] == [3] * 4
    assert len({log[1].split("\t")[3] for log in logs}) == 4, "each has its own loss"


def test_what_is_done_is_not_done_again(quiet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(study(quiet, networks="discard"), tmp_path, stack=3)
    for name in ("finetune", "finetune_stacked"):
        monkeypatch.setattr(finetuning, name, never)
    monkeypatch.setattr(measurements, "evaluate_targets", never)
    work._worker_context.cache_clear()
    again = run(study(quiet, networks="discard"), tmp_path, stack=3)
    assert not again.failed
    assert again.frame.equals(first.frame)
    assert run(study(quiet, networks="discard"), tmp_path).frame.equals(first.frame)


def test_what_is_lost_is_trained_again_alone(
    quiet: Path, apart: tuple[StudyResults, Path], tmp_path: Path, counted: Trainings
) -> None:
    data = study(quiet, networks="discard")
    run(data, tmp_path, stack=3)
    plan = planned(data, Store(tmp_path), device="cpu")
    lost = plan.runs[2].evaluation
    for number, again in enumerate(("planned anew", "the same job")):
        counted.single, counted.stacks = 0, []
        Store(tmp_path).remove(lost)
        if number == 0:
            assert_same(run(data, tmp_path, stack=3), apart[0])
        else:
            (job,) = [job for job in stack_jobs(plan.jobs(()), 3, plan.stages) if len(job.finetunings) == 3]
            assert plan.stages[lost] in job.stages
            assert work.run_job(job, os.fspath(tmp_path), "cpu").state == "done"
        assert (counted.single, counted.stacks) == (1, []), again
        assert lost in Store(tmp_path).ids()
    assert_same(run(data, tmp_path, stack=3), apart[0])


def test_what_cannot_be_stacked_is_trained_one_by_one(
    quiet: Path, apart: tuple[StudyResults, Path], tmp_path: Path, counted: Trainings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finetuning, "can_stack", lambda *_: False)
    with pytest.warns(UserWarning, match="3 runs cannot be stacked and are trained one by one"):
        results = run(study(quiet, networks="discard"), tmp_path, stack=3)
    assert (counted.stacks, counted.single) == ([], 4)
    assert not results.failed
    assert results.frame.equals(apart[0].frame)


def astray(*_: Any, **__: Any) -> None:
    raise DivergenceError(3, 0.1)


def test_a_stack_that_goes_astray_is_trained_one_by_one(
    quiet: Path, apart: tuple[StudyResults, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finetuning, "finetune_stacked", astray)
    with pytest.warns(UserWarning, match="diverged.*; the 3 runs of the stack are trained one by one"):
        results = run(study(quiet), tmp_path, stack=3)
    assert not results.failed
    assert results.frame.equals(apart[0].frame)


@pytest.mark.parametrize("why", ["astray", "cannot be"])
def test_a_stack_is_tried_once(quiet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    """Neither trained nor built a second time when the next of its runs comes by."""
    tries: list[str] = []

    def tried(*_: Any, **__: Any) -> bool:
        tries.append(why)
        if why == "astray":
            raise DivergenceError(3, 0.1)
        return False

    monkeypatch.setattr(finetuning, "finetune_stacked" if why == "astray" else "can_stack", tried)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not run(study(quiet, seeds=1), tmp_path, stack=4).failed
    assert len(tries) == 1


@pytest.mark.parametrize("networks", ["keep", "discard"])
def test_a_failing_run_does_not_stop_those_it_is_joined_with(
    quiet: Path, tmp_path: Path, networks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_inputs, "check_inputs", lambda *_: Findings())  # it would be refused before any work
    changes = {"99": [{"reinit": "99"}], "REF": [], "1": [{"reinit": "1"}]}
    results = run(study(quiet, seeds=1, changes=changes, networks=networks, reference="REF"), tmp_path, stack=3)
    assert list(results.failed) == ["bert 99 pos qla seed 0"]
    assert "the layers of 'bert' are 1-3, got 99" in results.failed["bert 99 pos qla seed 0"]
    assert results.frame["changes"].unique(maintain_order=True).to_list() == ["REF", "1"]


def test_one_that_diverges_by_itself_does_not_stop_the_others(
    quiet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finetune = finetuning.finetune

    def alone(*arguments: Any, seed: int, **named: Any) -> Any:
        return finetune(*arguments, seed=seed, **named) if seed else astray()

    monkeypatch.setattr(finetuning, "finetune_stacked", astray)
    monkeypatch.setattr(finetuning, "finetune", alone)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = run(study(quiet, seeds=3, changes={"REF": []}), tmp_path, stack=3)
    assert list(results.failed) == ["bert REF pos qla seed 0"]
    assert results.frame["seed"].unique(maintain_order=True).to_list() == [1, 2]


def test_an_interrupted_stack_goes_on_from_its_checkpoint(
    quiet: Path, apart: tuple[StudyResults, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counted: Trainings
) -> None:
    monkeypatch.setattr(finetuning, "MIN_CHECKPOINT_SECONDS", 0.0)

    def interrupting(report: Any, site: Any) -> None:
        if report.epoch == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(finetuning, "report_progress", interrupting)
        with pytest.raises(KeyboardInterrupt):
            run(study(quiet), tmp_path, stack=4)
    assert len(list((tmp_path / "work").rglob("state.pt"))) == 1
    assert not any((tmp_path / "locks").iterdir())
    epochs: list[int] = []
    monkeypatch.setattr(finetuning, "report_progress", lambda report, site: epochs.append(report.epoch))
    results = run(study(quiet), tmp_path, stack=4)
    assert epochs[0] == 2, "the first epoch is not done again"
    assert (counted.stacks, counted.single) == ([4, 4], 0)
    assert_same(results, apart[0])
    assert not any((tmp_path / "work").iterdir())


@pytest.mark.parametrize("networks", ["keep", "discard"])
def test_a_stack_waits_for_who_makes_one_of_it(
    quiet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, networks: str
) -> None:
    plan = plan_study(study_of(study(quiet, networks=networks)), device="cpu")
    (job,) = stack_jobs(jobs_of(plan), 99, plan.stages)
    store = Store(tmp_path)
    lock = store.lock(job.finetunings[-1].id)
    assert lock
    with monkeypatch.context() as patched:
        patched.setattr(finetuning, "train_stack", never)
        patched.setattr(finetuning, "train_network", never)
        assert work.run_job(job, str(tmp_path), "cpu").state == "busy"
    assert [path.name for path in (tmp_path / "locks").iterdir()] == [lock.path.name], "and holds nothing meanwhile"
    lock.release()
    assert work.run_job(job, str(tmp_path), "cpu").state == "done"
    assert not list((tmp_path / "locks").iterdir())


def test_networks_of_a_stack_outlive_a_failing_evaluation(
    quiet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_study(study_of(study(quiet)), device="cpu")
    (job,) = stack_jobs(jobs_of(plan), 99, plan.stages)
    Store(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(measurements, "evaluate_targets", never)
        assert work.run_job(job, str(tmp_path), "cpu").state == "failed"
    assert {stage.id for stage in job.finetunings} <= set(Store(tmp_path).ids())
    monkeypatch.setattr(finetuning, "train_stack", never)
    assert work.run_job(job, str(tmp_path), "cpu").state == "done"
