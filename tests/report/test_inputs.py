"""What a report is about, read from files, folders and stores."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from report_inputs import LAYERS, SCORES, small
from result_rows import curve_rows, result_rows

from isogloss.core.errors import InputError, UnknownName, UsageError
from isogloss.report.inputs import inputs_from_store, read_inputs
from isogloss.results.rows.files import write_rows
from isogloss.results.rows.results import RESULT_COLUMNS
from isogloss.store.entries import Store
from isogloss.store.study_records import Record, Run, write_record

ROWS = result_rows(SCORES)


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".tsv", ".json"])
def test_rows_come_back_as_they_were_written(tmp_path: Path, suffix: str) -> None:
    odd = result_rows({("", 'a "quoted", name\twith\ttabs'): [0.5]}, model="模型")
    write_rows(pl.concat([ROWS, odd]), tmp_path / f"rows{suffix}")
    read = read_inputs([tmp_path / f"rows{suffix}"])
    assert read.results.frame.equals(pl.concat([ROWS, odd]))
    assert read.title == f"rows{suffix}"


def test_files_are_told_apart_by_their_columns(tmp_path: Path) -> None:
    whole = small()
    write_rows(ROWS, tmp_path / "a.parquet")
    write_rows(curve_rows(LAYERS), tmp_path / "b.parquet")
    write_rows(whole.results.predictions.collect(), tmp_path / "c.parquet")
    write_rows(whole.distances.frame, tmp_path / "d.parquet")
    read = read_inputs([tmp_path / f"{name}.parquet" for name in "abcd"])
    assert len(read.results.frame) == len(ROWS)
    assert len(read.results.curves.frame) == 12
    assert len(read.results.predictions.collect()) == len(whole.results.predictions.collect())
    assert len(read.distances.frame) == 8


def test_a_folder_of_transfer_has_rows_and_predictions(tmp_path: Path) -> None:
    write_rows(ROWS, tmp_path / "results.parquet")
    (tmp_path / "isogloss-store.json").write_text('{"store": 1}')
    place = tmp_path / "entries" / "evaluation" / "evaluation-1" / "predictions.parquet"
    place.parent.mkdir(parents=True)
    write_rows(small().results.predictions.collect(), place)
    read = read_inputs([tmp_path])
    assert len(read.results.frame) == len(ROWS)
    assert len(read.results.predictions.collect()) == 90


def test_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    (tmp_path / "y.parquet").write_bytes(b"no parquet")
    (tmp_path / "z.csv").write_text(",".join(RESULT_COLUMNS) + "\n" + ",".join(["x"] * len(RESULT_COLUMNS)) + "\n")
    for name, said in {
        "x.csv": "expected result rows, curves, predictions or histograms.*columns a, b",
        "y.parquet": "y.parquet: expected rows as .parquet",
        "z.csv": "z.csv: expected numbers in numeric columns",
        "no.csv": "expected an existing file",
        "x.doc": "expected a file of rows",
        "": "expected a store",
    }.items():
        with pytest.raises(InputError, match=said):
            read_inputs([tmp_path / name])
    with pytest.raises(UsageError, match="name a store"):
        read_inputs([])
    with pytest.raises(InputError, match="--study names a study of a store"):
        read_inputs([tmp_path / "x.csv"], "s")


def store_with(folder: Path, *names: str) -> Store:
    """A store with finished evaluations of these studies."""
    store = Store(folder)
    for name in names:
        runs = []
        for change in ("REF", "1-2"):
            run = Run(f"{name} {change}", "bert", change, "", "pos", "en", 0, "", f"evaluation-{name}{change}", {})
            with store.making(run.evaluation, {"with": {"torch": "2.0"}}) as entry:
                rows = ROWS.filter(pl.col("changes") == change, pl.col("seed") == 0)
                rows.write_parquet(entry / "rows.parquet")
                small().results.predictions.head(2).collect().write_parquet(entry / "predictions.parquet")
            runs.append(run)
        write_record(store, Record(name, "words", [*runs, Run(**{**vars(runs[0]), "evaluation": "evaluation-none"})]))
    return store


def test_a_study_of_a_store(tmp_path: Path) -> None:
    store_with(tmp_path, "one")
    found = inputs_from_store(tmp_path)
    assert (found.title, found.description, found.planned) == ("one", "words", 3)
    assert found.versions == [({"torch": "2.0"}, 2)]
    assert found.results.frame["study"].unique().to_list() == ["one"]
    assert found.results.frame["changes"].unique(maintain_order=True).to_list() == ["REF", "1-2"]


def test_one_study_of_several_has_to_be_named(tmp_path: Path) -> None:
    store_with(tmp_path, "one", "two")
    with pytest.raises(UsageError, match="several studies: name one of one, two"):
        read_inputs([tmp_path])
    assert read_inputs([tmp_path], "two").title == "two"
    with pytest.raises(UnknownName, match="did you mean 'two'"):
        read_inputs([tmp_path], "tow")
    Store(tmp_path / "empty")
    with pytest.raises(UsageError, match="no study was run"):
        read_inputs([tmp_path / "empty"])


def test_predictions_of_other_runs_are_not_even_read(tmp_path: Path) -> None:
    store = store_with(tmp_path, "one")
    (store.place("evaluation-one1-2") / "predictions.parquet").write_bytes(b"damaged")
    predictions = inputs_from_store(tmp_path).results.predictions
    assert len(predictions.filter(pl.col("run") == "one REF").collect()) == 2
    with pytest.raises(Exception, match="damaged"):
        predictions.collect()
