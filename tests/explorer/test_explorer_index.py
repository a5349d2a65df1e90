"""What the explorer knows of a store, and that it notices what changes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from report_inputs import SCORES, small
from stores import parsed, runs_of, write_store

from isogloss.core.errors import InputError, UnknownName, UsageError
from isogloss.explorer import store_index
from isogloss.explorer.run_results import curve_rows, read_runs, score_rows
from isogloss.explorer.runs import facets, filter_rows, overview, run_rows, sort_rows, task_metrics
from isogloss.explorer.store_index import MAX_RUNS, StoreIndex
from isogloss.results.rows.study_reader import read_study_results
from isogloss.store.entries import Store
from isogloss.store.study_records import read_record


def test_only_a_store_is_opened_and_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a store"):
        StoreIndex(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_rows_are_those_of_the_store(tmp_path: Path) -> None:
    store = write_store(tmp_path, small(), parsed(), planned=2)
    snapshot = StoreIndex(tmp_path).now()
    for name in ("s", "trees"):
        record = read_record(store, name)
        owned, whole = [(record, run) for run in record.runs], read_study_results(record, store)
        assert score_rows(snapshot, owned).equals(whole.frame)
        assert curve_rows(snapshot, owned, store).equals(whole.curves.frame)
        found = read_runs(snapshot, owned, store).distances
        assert (len(found.frame) > 0) == (name == "s")
        for frame in ("frame", "summary", "shares"):
            one, other = getattr(found, frame), getattr(whole.distances, frame)
            assert one.select(sorted(one.columns)).equals(other.select(sorted(other.columns)))


def test_summaries_are_means_over_other_languages(tmp_path: Path) -> None:
    write_store(tmp_path, small())
    snapshot = StoreIndex(tmp_path).now()
    run = snapshot.record("s").runs[1]
    others = [SCORES["REF", target][1] for target in ("fr", "ug", "de", "ar")]
    summary = snapshot.summaries[run.evaluation]["accuracy"]
    assert summary.source_score == SCORES["REF", "en"][1]
    assert summary.other_score == pytest.approx(sum(others) / 4)


def test_new_studies_and_runs_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_store(tmp_path, small())
    index = StoreIndex(tmp_path)
    before = index.now()
    write_store(tmp_path, parsed(), planned=1)
    after = index.now()
    assert (before.records.keys(), after.records.keys()) == ({"s"}, {"s", "trees"})
    assert len(after.rows) == len(before.rows) + 4
    monkeypatch.setattr(store_index, "MTIME_RESOLUTION_SECONDS", 0.0)
    assert index.now() is index.now(), "nothing is read again where nothing has changed"


def test_a_finished_run_is_noticed_among_results(tmp_path: Path) -> None:
    store = write_store(tmp_path, parsed(), planned=1)
    index = StoreIndex(tmp_path)
    assert index.results(["open 0"]).frame.is_empty()
    done = runs_of(parsed())[0]
    files = store.need(done.evaluation).checked_folder()
    with store.making("evaluation-open0", {}) as entry:
        for name in ("rows.parquet", "predictions.parquet"):
            (entry / name).write_bytes((files / name).read_bytes())
    found = index.results(["open 0"])
    assert set(found.frame["run"]) == {"open 0"}
    assert set(found.predictions.collect()["run"]) == {"open 0"}


def test_what_is_damaged_is_said_and_does_not_end_the_rest(tmp_path: Path) -> None:
    store = write_store(tmp_path, small())
    first = runs_of(small())[0]
    (store.place(first.evaluation) / "rows.parquet").write_bytes(b"other bytes")
    snapshot = StoreIndex(tmp_path).now()
    assert "rows.parquet have changed" in snapshot.damaged[first.evaluation]
    states = [row.state for row in run_rows(snapshot, snapshot.record("s"), ())]
    assert states == ["damaged", *["done"] * 5]


def test_runs_of_several_studies_come_in_the_order_asked_for(tmp_path: Path) -> None:
    write_store(tmp_path, small(), parsed())
    index = StoreIndex(tmp_path)
    names = [runs_of(parsed())[1].name, runs_of(small())[0].name]
    found = index.results(names)
    assert found.frame["run"].unique(maintain_order=True).to_list() == names
    assert set(found.predictions.select("run", "target").collect()["run"]) == set(names)
    with pytest.raises(UnknownName, match="no such run"):
        index.results(["../../etc/passwd"])
    with pytest.raises(UsageError, match=f"1 to {MAX_RUNS} runs"):
        index.results([])


def test_lists_filter_and_sort(tmp_path: Path) -> None:
    write_store(tmp_path, small(), planned=3)
    snapshot = StoreIndex(tmp_path).now()
    every = run_rows(snapshot, snapshot.record("s"), {"finetuned-open1"})
    assert facets(every) == {"state": ["done", "open", "running"], "changes": ["REF", "1-2"]}
    assert [row.run.name for row in filter_rows(every, {"state": "running"})] == ["open 1"]
    assert len(filter_rows(every, {"changes": "1-2", "state": "done"}, text="SEED 2")) == 1
    rising = [row.other_score for row in sort_rows(every, "other_score", descending=False)]
    known = [value for value in rising if value is not None]
    assert known == sorted(known)
    assert rising[-3:] == [None] * 3
    assert sort_rows(every, "other_score", descending=True)[0].other_score == max(known)
    with pytest.raises(UnknownName, match="did you mean 'seed'"):
        sort_rows(every, "sede", descending=False)


def test_the_overview_is_the_table_of_the_results(tmp_path: Path) -> None:
    store = write_store(tmp_path, small())
    snapshot = StoreIndex(tmp_path).now()
    every = run_rows(snapshot, snapshot.record("s"), ())
    assert task_metrics(snapshot, every) == {"pos": ["accuracy"]}
    shown = overview(snapshot, every, "pos", "accuracy", 1)
    table = read_study_results(read_record(store, "s"), store).table()
    for one in shown.experiments:
        own = table.filter(pl.col("changes") == one.properties[0])
        assert one.scores == pytest.approx(dict(own.select("target", "mean").iter_rows()))
        assert len(one.runs) == 3
    assert overview(snapshot, every, "pos", "accuracy", 2).experiments == []


def test_an_empty_store(tmp_path: Path) -> None:
    Store(tmp_path)
    assert StoreIndex(tmp_path).now().records == {}
