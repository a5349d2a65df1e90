"""Distances of words in study files: measured once, stored, gathered, and shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from test_run_study import SETTINGS, never, run, study

import isogloss as ig
from isogloss.core.errors import IsoglossError
from isogloss.report.export import figures
from isogloss.report.inputs import inputs_from_results, inputs_from_store
from isogloss.report.page import page
from isogloss.report.statistics import compute_statistics
from isogloss.report.tables import tables
from isogloss.results.rows.distance_histograms import HISTOGRAM_COLUMNS, SHARE_COLUMNS, SUMMARY_COLUMNS
from isogloss.store.entries import Store
from isogloss.studies.execution import measurements
from isogloss.studies.execution import run_job as work
from isogloss.studies.planning.cost import estimate
from isogloss.studies.planning.explain import explain
from isogloss.studies.planning.planner import plan_study
from isogloss.studies.schema.study_file import study_of
from isogloss.tasks import TASKS
from isogloss.training.engine.settings import settings_for
from isogloss.training.finetuning.finetune import finetune

BITEXT = "lab:qla,qlb/test/20"
ADJUST = {"adjust": {"bitext": "lab:qla,qlb/train/20", "settings": {"batch": 8, "learning_rate": 1e-3}}}
DISTANCES = {"bitext": BITEXT, "links": 60, "bins": 10, "top": [2, 8]}
OPTIONS: dict[str, Any] = {"links": 60, "bins": 10, "top": (2, 8)}


@pytest.fixture(autouse=True)
def _fresh_memory() -> None:
    work._worker_context.cache_clear()


def measured(bert: Path, **changes: Any) -> dict[str, Any]:
    return study(bert, **{"changes": {"REF": []}, "distances": DISTANCES, **changes})


def test_they_are_those_of_the_library(bert: Path, tmp_path: Path) -> None:
    results = run(measured(bert, seeds=1), tmp_path)
    assert not results.failed
    lab, model = ig.Laboratory(), ig.load_model(bert, device="cpu")
    train, dev = lab.treebank("qla", "train", 16), lab.treebank("qla", "dev", 8)
    tuned = finetune(model, TASKS["pos"], train, dev, settings_for(TASKS["pos"].defaults, **SETTINGS), seed=0)
    models = {"REF": model, "REF, fine-tuned (pos)": tuned.encoder}
    told = ig.word_distances(models, lab.bitext("qla", "qlb", 20, "test"), **OPTIONS)
    found = results.distances.labelled()
    assert_frame_equal(found.frame, told.frame)
    assert_frame_equal(found.summary, told.summary)
    assert_frame_equal(found.shares, told.shares)


def test_every_kind_of_the_papers_figure(bert: Path, tmp_path: Path) -> None:
    columns = {"Original": [], "Adjusted": [ADJUST]}
    kinds = {"": "none", "Continual": {"bitext": BITEXT, "pairs": 3, "changes": ["Adjusted"]}}
    data = measured(bert, changes=columns, reference="Original", continual=kinds, seeds=2)
    results = run(data, tmp_path)
    assert not results.failed
    names = results.distances.labelled().summary["model"].unique(maintain_order=True).to_list()
    assert names == [
        "Original",
        "Original, fine-tuned (pos)",
        "Adjusted",
        "Adjusted, fine-tuned (pos)",
        "Adjusted Continual, fine-tuned (pos)",  # before fine-tuning it is "Adjusted"
    ]
    assert results.distances.frame["seed"].unique().to_list() == [0]  # the first alone, unless said
    subject = inputs_from_store(tmp_path)
    shown = {table.name: table.table for table in tables(subject, compute_statistics(subject))}["distances"]
    assert shown.head[-2:] == ("top 2", "top 8")
    assert len(shown.body) == 5 * 2  # l2 and cosine
    html = page(subject)
    assert all(name in html for name in names)
    assert sum(name.startswith("histogram") for name, _ in figures(subject, compute_statistics(subject))) == 5 * 2
    assert inputs_from_results(results, title="x").distances.summary.equals(subject.distances.summary)


def test_stages_are_shared_and_never_made_twice(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = measured(bert, task=["pos", "parse"], distances={**DISTANCES, "when": ["before"], "seeds": [0, 1]})
    first = run(data, tmp_path)
    assert len(list(tmp_path.rglob("distances-*/manifest.json"))) == 1
    assert first.distances.labelled().summary["model"].to_list() == ["REF, seed 0", "REF, seed 0"] + ["REF, seed 1"] * 2
    monkeypatch.setattr(measurements, "word_distances", never)
    again = run({**data, "name": "other"}, tmp_path)
    assert again.distances.frame.drop("study", "run").equals(first.distances.frame.drop("study", "run"))


def test_language_pairs_are_measured_each_by_itself(bert: Path, tmp_path: Path) -> None:
    both = {**DISTANCES, "bitext": [BITEXT, "lab:qla,qlc/test/20"], "when": ["before"], "sentences": 9}
    results = run(measured(bert, distances=both, seeds=1), tmp_path)
    lab, model = ig.Laboratory(), ig.load_model(bert, device="cpu")
    for other in ("qlb", "qlc"):
        told = ig.word_distances({"REF": model}, lab.bitext("qla", other, 20, "test")[:9], **OPTIONS)
        found = results.distances.labelled().frame.filter(pl.col("pair") == told.frame["pair"][0])
        assert_frame_equal(found, told.frame)


def test_a_study_may_measure_nothing_else(bert: Path, tmp_path: Path) -> None:
    data = {"name": "apart", "model": str(bert), "changes": {"REF": [], "1": [{"reinit": "1"}]}}
    data["distances"] = {**DISTANCES, "when": ["before"]}
    results = run(data, tmp_path)
    assert not results.failed
    assert results.distances.labelled().summary["model"].unique(maintain_order=True).to_list() == ["REF", "1"]
    assert [row for row in explain(plan_study(study_of(data)), None) if row[0] == "word distances"] == [
        ("word distances", "2; 0 done")
    ]
    for suffix in ("csv", "md", "svg"):
        results.write(tmp_path / f"out.{suffix}")
        assert (tmp_path / f"out.{suffix}").stat().st_size
    assert "overlap" in (tmp_path / "out.md").read_text(encoding="utf-8")
    with pytest.raises(IsoglossError, match=r"'when: \[before\]' in 'distances'"):
        study_of({**data, "distances": DISTANCES})
    plan = plan_study(study_of(data))
    cost = estimate(plan, list(plan.stages.values()), Store(tmp_path))
    assert cost.seconds > 0 and cost.unknown == 0


@pytest.mark.parametrize(
    ("distances", "said"),
    [
        ({"bitxt": BITEXT}, "did you mean 'bitext'?"),
        ({"bitext": BITEXT, "metrics": ["l3"]}, "expected 'l2' or 'cosine'"),
        ({"bitext": BITEXT, "metrics": []}, "distances.metrics"),
        ({"bitext": BITEXT, "layer": "first"}, "distances.layer"),
        ({"bitext": BITEXT, "links": 0}, "expected greater than or equal to 1"),
        ({"bitext": BITEXT, "changes": ["x"]}, "condition of 'changes' for 'distances.changes'"),
        ({"bitext": BITEXT, "seeds": [7]}, "for 'distances.seeds'"),
    ],
)
def test_what_is_wrong_is_told(distances: dict[str, Any], said: str, bert: Path) -> None:
    with pytest.raises(IsoglossError) as caught:
        study_of(measured(bert, distances=distances))
    assert said in str(caught.value)


@pytest.mark.parametrize("change", [{"links": 50}, {"bins": 9}, {"layer": 1}, {"words": "first"}, {"sentences": 3}])
def test_what_is_asked_is_part_of_the_identity(change: dict[str, Any], bert: Path) -> None:
    plans = [plan_study(study_of(measured(bert, distances=one))) for one in (DISTANCES, {**DISTANCES, **change})]
    ids = [{id for run in plan.runs for id in run.distances.values()} for plan in plans]
    assert not ids[0] & ids[1]


def test_columns_are_declared(bert: Path, tmp_path: Path) -> None:
    labelled = run(measured(bert, seeds=1), tmp_path).distances.labelled()
    for frame, columns in zip(
        (labelled.frame, labelled.summary, labelled.shares),
        (HISTOGRAM_COLUMNS, SUMMARY_COLUMNS, SHARE_COLUMNS),
        strict=True,
    ):
        assert dict(frame.schema) == columns
