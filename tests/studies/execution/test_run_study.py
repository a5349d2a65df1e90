from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_driver import STUDY

import isogloss as ig
from isogloss.core.errors import InputError, UnknownName, UsageError
from isogloss.corpora.corpus import AnyCorpus
from isogloss.report.inputs import inputs_from_store
from isogloss.report.page import facts_line
from isogloss.results.rows.study_reader import read_published
from isogloss.results.rows.study_results import StudyResults
from isogloss.store.entries import Store
from isogloss.store.study_records import environments, read_record
from isogloss.studies.execution import corpus_loader, finetuning, measurements
from isogloss.studies.execution import run_job as work
from isogloss.studies.execution.checks import check_inputs
from isogloss.studies.execution.checks.findings import Findings
from isogloss.studies.execution.run_study import planned, run_study
from isogloss.studies.planning import job as planned_job
from isogloss.studies.schema import text_changes
from isogloss.studies.schema.text_changes.arguments import TextArguments

SETTINGS = {"epochs": 2, "batch": 8, "learning_rate": 3e-3}
SMALL: dict[str, Any] = {
    "sources": {"qla": {"train": "lab:qla/train/16", "dev": "lab:qla/dev/8"}},
    "targets": {"qla": "lab:qla/test/9", "qlb": "lab:qlb/test/7"},
    "settings": SETTINGS,
    "seeds": 2,
}


@pytest.fixture(autouse=True)
def _fresh_memory() -> None:
    work._worker_context.cache_clear()


def study(bert: Path, **changes: Any) -> dict[str, Any]:
    return {**STUDY, **SMALL, "model": str(bert), **changes}


def run(data: dict[str, Any], store: Path, **options: Any) -> StudyResults:
    return run_study(data, store=store, device="cpu", workers=0, **options)


def never(*_: object, **__: object) -> None:
    raise AssertionError("this was done before")


def test_a_study_gives_what_transfer_gives(bert: Path, tmp_path: Path) -> None:
    results = run(study(bert), tmp_path)
    assert not results.failed
    lab, model = ig.Laboratory(), ig.load_model(bert, device="cpu")
    test = {lang: lab.treebank(lang, "test", n) for lang, n in (("qla", 9), ("qlb", 7))}
    for column, before in {"REF": [], "1": [ig.reinit("1")]}.items():
        told = ig.transfer(
            model,
            "pos",
            lab.treebank("qla", "train", 16),
            lab.treebank("qla", "dev", 8),
            test,
            before=before,
            seeds=range(2),
            **SETTINGS,
        )
        rows = results.frame.filter(pl.col("changes") == column)
        compared = ["task", "source", "target", "split", "metric", "seed", "value", "n"]
        assert rows.select(compared).equals(told.frame.select(compared))
        names = ["seed", "target", "item", "gold", "prediction", "accuracy.correct"]
        mine = results.predictions.filter(pl.col("changes") == column).select(names).collect()
        assert mine.equals(told.predictions.select(names).collect())
    assert results.frame["study"].unique().to_list() == ["toys"]
    assert results.frame["run"].n_unique() == 4
    assert set(results.deltas()["change"]) == {"1"}


@pytest.fixture(scope="module")
def finished(bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a study of one seed, all done."""
    store = tmp_path_factory.mktemp("finished")
    run(study(bert, seeds=1), store)
    return store


@pytest.fixture
def done(finished: Path, tmp_path: Path) -> Path:
    """The same, to be changed at will."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_what_is_done_is_not_done_again(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(study(bert, seeds=1), tmp_path)
    monkeypatch.setattr(finetuning, "finetune", never)
    monkeypatch.setattr(measurements, "evaluate_targets", never)
    again = run(study(bert, seeds=1), tmp_path)
    assert again.frame.equals(first.frame)
    assert again.predictions.collect().equals(first.predictions.collect())
    renamed = run(study(bert, seeds=1, name="other", changes={"A": [], "B": [{"reinit": 1}]}, reference="A"), tmp_path)
    assert renamed.frame["value"].equals(first.frame["value"])
    assert renamed.frame["changes"].unique(maintain_order=True).to_list() == ["A", "B"]
    assert not set(renamed.frame["run"]) & set(first.frame["run"])


def test_new_targets_are_scored_with_the_networks_at_hand(
    bert: Path, done: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(study(bert, seeds=1), done)
    monkeypatch.setattr(finetuning, "finetune", never)
    more = run(study(bert, seeds=1, targets={**SMALL["targets"], "qlc": "lab:qlc/test/5"}), done)
    old = more.frame.filter(pl.col("target") != "qlc")
    assert old["value"].equals(first.frame["value"])


def test_networks_may_be_discarded(bert: Path, finished: Path, tmp_path: Path) -> None:
    kept = run(study(bert, seeds=1), finished)
    discarded = run(study(bert, seeds=1, networks="discard"), tmp_path / "b")
    assert kept.frame.equals(discarded.frame)
    kinds = {id.partition("-")[0] for id in Store(tmp_path / "b").ids()}
    assert kinds == {"evaluation"}
    assert not any((tmp_path / "b/work").iterdir())


def test_an_interrupted_run_goes_on_from_its_checkpoint(
    bert: Path, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(study(bert, seeds=1), finished)
    monkeypatch.setattr(finetuning, "MIN_CHECKPOINT_SECONDS", 0.0)
    seen: list[int] = []

    def interrupting(report: Any, site: Any) -> None:
        seen.append(report.epoch)
        if report.epoch == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(finetuning, "report_progress", interrupting)
        with pytest.raises(KeyboardInterrupt):
            run(study(bert, seeds=1), tmp_path / "store")
    assert len(list((tmp_path / "store/work").rglob("state.pt"))) == 1
    assert not any((tmp_path / "store/locks").iterdir())
    epochs: list[int] = []
    monkeypatch.setattr(finetuning, "report_progress", lambda report, site: epochs.append(report.epoch))
    again = run(study(bert, seeds=1), tmp_path / "store")
    assert again.frame.equals(whole.frame)
    assert epochs[0] == 2, "the first epoch is not done again"
    assert not any((tmp_path / "store/work").iterdir())


@pytest.mark.parametrize("name", ["rows.parquet", "predictions.parquet", "manifest.json"])
def test_a_damaged_entry_is_made_again_and_told(bert: Path, done: Path, name: str) -> None:
    first = run(study(bert, seeds=1), done)
    predicted = first.predictions.collect()
    store = Store(done)
    id = planned(study(bert, seeds=1), store, device="cpu").runs[0].evaluation
    (store.place(id) / name).write_bytes(b"something else")
    work._worker_context.cache_clear()
    if name == "predictions.parquet":  # read when it is asked for
        again = run(study(bert, seeds=1), done)
        with pytest.raises(Exception, match="damaged"):
            again.predictions.collect()
        store.quarantine(id, "damaged")
        again = run(study(bert, seeds=1), done)
    else:
        with pytest.warns(UserWarning, match="damaged.*quarantined"):
            again = run(study(bert, seeds=1), done)
    assert again.frame.equals(first.frame)
    assert again.predictions.collect().equals(predicted)
    assert len(store.quarantined()) == 1


@pytest.mark.parametrize("networks", ["keep", "discard"])
def test_a_damaged_model_is_made_again(bert: Path, tmp_path: Path, networks: str) -> None:
    data = study(
        bert, seeds=1, networks=networks, changes={"REF": [{"adapt": {"text": "lab:qlb/train/20", "steps": 1}}]}
    )
    first = run(data, tmp_path)
    store = Store(tmp_path)
    one = planned(data, store, device="cpu").runs[0]
    for id in (one.evaluation, one.finetuned):
        store.remove(id)
    (model,) = [id for id in store.ids() if id.startswith("model-")]
    next(store.place(model).rglob("*.safetensors")).write_bytes(b"1")
    work._worker_context.cache_clear()
    with pytest.warns(UserWarning, match="model-.*damaged"):
        again = run(data, tmp_path)
    assert not again.failed
    assert again.frame.equals(first.frame)


def test_a_damaged_network_is_made_again(bert: Path, done: Path) -> None:
    first = run(study(bert, seeds=1), done)
    store = Store(done)
    one = planned(study(bert, seeds=1), store, device="cpu").runs[0]
    store.remove(one.evaluation)
    weights = next(store.place(one.finetuned).rglob("*.safetensors"))
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x7f")
    with pytest.warns(UserWarning, match="damaged"):
        again = run(study(bert, seeds=1), done)
    assert not again.failed
    assert again.frame.equals(first.frame)


def test_similarity_before_and_after(bert: Path, tmp_path: Path) -> None:
    measure = {"parallel": {"qla": "lab:qla/test/12", "qlb": "lab:qlb/test/12"}, "indexes": ["cka"]}
    results = run(study(bert, seeds=1, measure=measure), tmp_path)
    curves = results.curves.frame
    assert not results.failed
    lab, model = ig.Laboratory(), ig.load_model(bert, device="cpu")
    alone = ig.similarity(model, lab.parallel(["qla", "qlb"], 12), source="qla", indexes=["cka"], bootstrap=0)
    before = curves.filter(when="before", changes="REF")
    assert before["value"].to_list() == pytest.approx(alone.frame["value"].to_list())
    bounds = before.filter(pl.col("value") < 1)
    assert len(bounds) and bounds.select((pl.col("low") < pl.col("high")).all()).item(), "intervals are the default"
    after = curves.filter(when="after", changes="REF")
    assert after["value"].to_list() != before["value"].to_list()
    assert set(curves["run"]) == set(results.frame["run"])
    assert set(curves["source"]) == {"qla"}
    assert len(curves) == 2 * 2 * len(alone.frame)
    again = run(study(bert, seeds=1, measure=measure, networks="discard"), tmp_path / "discarded")
    assert again.curves.frame["value"].equals(curves["value"]), "in memory or read back is the same"


def test_nothing_but_similarity(bert: Path, tmp_path: Path) -> None:
    measure = {"parallel": "lab:qla,qlb,qlc/test/12", "indexes": ["cka", "anc"], "when": ["before"], "source": "qla"}
    data = {
        "name": "m",
        "models": {"tiny": str(bert)},
        "changes": {"REF": [], "1": [{"reinit": 1}]},
        "measure": measure,
    }
    results = run(data, tmp_path)
    assert not results.failed
    assert results.frame.is_empty()
    assert not any(id.startswith(("finetuned", "evaluation")) for id in Store(tmp_path).ids())
    alone = ig.similarity(
        ig.load_model(bert, device="cpu"),
        ig.Laboratory().parallel(["qla", "qlb", "qlc"], 12),
        source="qla",
        indexes=["cka", "anc"],
        bootstrap=0,
    )
    table = results.curves.table("anc")
    assert table.columns[:4] == ["model", "changes", "source", "target"]
    assert table.filter(changes="REF").drop("model", "changes").equals(alone.table("anc").drop("model"))
    results.write(tmp_path / "rows.csv")
    assert len(pl.read_csv(tmp_path / "rows.csv")) == 2 * len(alone.frame)
    results.write(tmp_path / "table.md")
    assert "best layer" in (tmp_path / "table.md").read_text()
    assert environments(read_record(Store(tmp_path)), Store(tmp_path))[0][1] == 2
    assert facts_line(inputs_from_store(tmp_path)) == "2 runs · 1 model · 2 conditions · 1 source · 2 targets"
    assert run(data, tmp_path).curves.frame.equals(results.curves.frame)


def test_adapted_models_are_made_once_and_kept(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = {"learning_rate": 0.01}
    adapt = {"adapt": {"text": "lab:qlb/train/20", "steps": 4, "seed": 3, "settings": fast}}
    data = study(bert, changes={"REF": [], "adapted": [adapt], "both": [adapt, {"reinit": 2}]})
    results = run(data, tmp_path)
    assert not results.failed
    store = Store(tmp_path)
    assert [id.partition("-")[0] for id in store.ids()].count("model") == 1
    assert not any((tmp_path / "work").iterdir())
    model = next(id for id in store.ids() if id.startswith("model"))
    adapted = ig.load_model(store.need(model).checked_folder() / "model", device="cpu")
    alone = ig.adapt(str(bert), ig.Laboratory().text("qlb", 20), steps=4, seed=3, device="cpu", **fast)
    for name, weights in alone.body.state_dict().items():
        assert adapted.body.state_dict()[name].equal(weights), name
    values = results.frame.filter(pl.col("target") == "qlb").group_by("changes").agg("value")
    assert values["value"].n_unique() == 3


def test_a_model_may_be_pretrained_on_the_way(tmp_path: Path) -> None:
    model = {
        "pretrain": {"texts": {"qla": "lab:qla/train/60"}, "layers": 2, "width": 16, "vocabulary": 200, "steps": 2}
    }
    data = {key: value for key, value in {**STUDY, **SMALL, "seeds": 1}.items() if key != "model"}
    results = run({**data, "models": {"tiny": model}, "changes": {"REF": []}}, tmp_path)
    assert not results.failed
    assert results.frame["model"].unique().to_list() == ["tiny"]


class Shout(TextArguments):
    louder: bool = False

    def apply(self, corpus: AnyCorpus) -> AnyCorpus:
        return corpus[: len(corpus) // 2]


def test_text_changes_are_done_where_they_are_told(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    added = {**text_changes.TEXT_CHANGES, "shout": Shout}
    monkeypatch.setattr(text_changes, "TEXT_CHANGES", added)
    text = {"plain": [], "half": [{"shout": {"on": ["test"]}}], "less": [{"shout": {"on": ["train", "dev"]}}]}
    results = run(study(bert, seeds=1, text=text, changes={"REF": []}), tmp_path)
    assert not results.failed
    sizes = {(row["changes"], row["split"], row["target"]): row["n"] for row in results.frame.iter_rows(named=True)}
    assert sizes["REF", "test", "qla"] == 9
    assert sizes["REF half", "test", "qla"] == 4
    assert sizes["REF less", "test", "qla"] == 9
    assert (sizes["REF", "dev", "qla"], sizes["REF half", "dev", "qla"], sizes["REF less", "dev", "qla"]) == (8, 8, 4)


def test_a_failing_run_is_told_and_the_others_go_on(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_inputs, "check_inputs", lambda *_: Findings())  # it would be refused before any work
    results = run(study(bert, seeds=1, changes={"REF": [], "99": [{"reinit": "99"}]}), tmp_path)
    assert list(results.failed) == ["bert 99 pos qla seed 0"]
    assert "the layers of 'bert' are 1-3, got 99" in results.failed["bert 99 pos qla seed 0"]
    assert results.frame["changes"].unique().to_list() == ["REF"]


def test_a_failing_target_costs_its_cell_and_is_tried_again(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = corpus_loader.read_corpora

    def fail_for_qlb(references: Any, kind: str, *, lang: str | None = None) -> AnyCorpus:
        if lang == "qlb":
            raise OSError("the disk was unplugged")
        return load(references, kind, lang=lang)

    monkeypatch.setattr(corpus_loader, "read_corpora", fail_for_qlb)
    data = study(bert, seeds=1, changes={"REF": []})
    results = run(data, tmp_path / "store")
    assert results.failed == {"bert REF pos qla seed 0, target qlb": "OSError: the disk was unplugged"}
    complete = run(study(bert, seeds=1, changes={"REF": []}, targets={"qla": "lab:qla/test/9"}), tmp_path / "other")
    columns = ["target", "split", "metric", "value", "n"]
    assert results.frame.select(columns).equals(complete.frame.select(columns))
    assert inputs_from_store(tmp_path / "store").results.failed == results.failed
    note = "Failed, so not in this table: bert REF pos qla seed 0, target qlb."
    assert note in results.paper_table().notes
    ig.write_report(tmp_path / "store", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert note in page and "the disk was unplugged" in page

    monkeypatch.setattr(corpus_loader, "read_corpora", load)
    monkeypatch.setattr(finetuning, "finetune", never)  # the network is stored
    again = run(data, tmp_path / "store")
    assert not again.failed and again.tests["target"].to_list() == ["qla", "qlb"]


def test_several_tasks_and_the_baseline(bert: Path, tmp_path: Path) -> None:
    data = study(bert, seeds=1, tasks=["pos", "ner"], changes={"REF": []}, networks="discard")
    data = {key: value for key, value in data.items() if key not in ("task", "model")}
    results = run({**data, "models": {"tiny": str(bert), "lstm": "bilstm"}, "settings": {"epochs": 1}}, tmp_path)
    assert not results.failed
    assert set(results.frame.select("model", "task").unique().rows()) == {
        ("tiny", "pos"), ("tiny", "ner"), ("lstm", "pos"), ("lstm", "ner"),
    }  # fmt: skip
    predictions = results.predictions.collect()
    assert len(predictions) == 2 * 2 * (9 + 7)
    for rows in (0, 1, 20, 16, 99):
        assert results.predictions.head(rows).collect().equals(predictions.head(rows))
    lstm = pl.col("model") == "lstm"
    assert results.predictions.head(40).filter(lstm).collect().equals(predictions.head(40).filter(lstm))
    assert results.predictions.filter(lstm).head(20).collect().equals(predictions.filter(lstm).head(20))
    assert {"accuracy.correct", "f1.predicted"} <= set(predictions.columns) or len(predictions.columns) > 12


def test_what_is_missing_is_told_before_any_work(bert: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"/nowhere: expected a file that can be read"):
        run(study(bert, targets={"fr": "/nowhere"}), tmp_path)
    with pytest.raises(UnknownName, match="unknown backend 'lokal'; did you mean 'local'"):
        run_study(study(bert), store=tmp_path, backend="lokal")
    with pytest.raises(UsageError, match="set: expected a study file or a mapping"):
        run_study(planned(study(bert), device="cpu").study, store=tmp_path, set={"seeds": 1})


def test_tables_are_written(bert: Path, tmp_path: Path) -> None:
    published = tmp_path / "published.csv"
    published.write_text("task,source,target,change,metric,value\npos,qla,qlb,REF,accuracy,79.37\n")
    results = run(study(bert, published=str(published)), tmp_path / "store")
    for name in ("rows.csv", "rows.parquet", "table.md", "table.tex"):
        results.write(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 100
    assert "79.37" in (tmp_path / "table.md").read_text()
    assert len(pl.read_parquet(tmp_path / "rows.parquet")) == len(results.frame)
    one = run(study(bert, changes={"REF": []}, published=str(published)), tmp_path / "store").paper_table()
    assert one.head == ("source-target", "mean", "sd", "gap to source test", "seeds")
    assert [row[1].published for row in one.body] == ["", "79.37"]
    assert one.mismatches == ["the model, data and recipe of the published value are not declared"]
    other = study(bert, changes={"1": [{"reinit": "1"}]}, reference="1", published=str(published))
    assert not any(row[1].published for row in run(other, tmp_path / "store").paper_table().body)


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "", "task,source,target,change,metric,value\np,e,f,R,a,much\n"])
def test_published_values_that_are_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(InputError, match=r"p\.csv"):
        read_published(tmp_path / "p.csv")


@pytest.mark.slow
def test_the_number_of_workers_does_not_show(bert: Path, tmp_path: Path) -> None:
    measure = {"parallel": "lab:qla,qlb/test/40", "bootstrap": 5}
    data = study(bert, measure=measure, sources={"qla": {"train": "lab:qla/train/80", "dev": "lab:qla/dev/20"}})
    found = [run_study(data, store=tmp_path / str(n), device="cpu", workers=n) for n in (1, 2, 4)]
    for other in found[1:]:
        assert other.frame.equals(found[0].frame)
        assert other.curves.frame.equals(found[0].curves.frame)
        assert other.predictions.collect().equals(found[0].predictions.collect())
    stores = [Store(tmp_path / str(n)) for n in (1, 2, 4)]
    for id in stores[0].ids():
        weights = [
            {n: f["hash"] for n, f in s.need(id).manifest["files"].items() if "safetensors" in n} for s in stores
        ]
        assert weights[0] == weights[1] == weights[2]


@settings(max_examples=8)
@given(st.data())
def test_toy_studies_of_any_shape_are_gathered_in_full(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    seeds = data.draw(st.integers(1, 3))
    columns = data.draw(st.lists(st.sampled_from("abc"), min_size=1, unique=True))
    sources = data.draw(st.lists(st.sampled_from(["qla", "qlb", "en-x"]), min_size=1, unique=True))
    shape = {
        "seeds": seeds,
        "changes": {name: [{"reinit": 1}] * i for i, name in enumerate(columns)},
        "sources": dict.fromkeys(sources, STUDY["sources"]["qla"]),
        "reference": columns[0],
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planned_job, "STAGE_FUNCTIONS_MODULE", "toy_makers")
        results = run({**STUDY, **shape}, tmp_path_factory.mktemp("store"))
    assert len(results.frame) == seeds * len(columns) * len(sources) * 2
    assert results.frame["run"].n_unique() == seeds * len(columns) * len(sources)
    assert results.frame["value"].n_unique() == len(results.frame)
    assert planned_job.STAGE_FUNCTIONS_MODULE == "isogloss.studies.execution.stages"
