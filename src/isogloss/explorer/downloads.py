"""Rows to take away: of a whole study, or of a few runs."""

from __future__ import annotations

import io

import polars as pl

from isogloss.explorer.index import Index, Snapshot
from isogloss.results.record import RESULT_COLUMNS
from isogloss.results.study_record import Record
from isogloss.results.study_results import gather, run_labels

FORMS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
WHAT = ("rows", "curves", "predictions")


def study_rows(snapshot: Snapshot, record: Record) -> pl.DataFrame:
    """The scores of all runs of a study that are done, as `isogloss run -o` writes them."""
    known = [run for run in record.runs if run.evaluation in snapshot.numbers]
    facts = [{**run_labels(run, record), "task": run.task, "source": run.source, "seed": run.seed,
              "number": snapshot.numbers[run.evaluation]} for run in known]  # fmt: skip
    if not facts:
        return pl.DataFrame(schema=RESULT_COLUMNS)
    runs = pl.DataFrame(facts).with_columns(pl.col("number").cast(pl.UInt32))
    rows = runs.join(snapshot.rows, on="number", maintain_order="left_right")
    return rows.select(pl.col(name).cast(kind) for name, kind in RESULT_COLUMNS.items())


def rows_of(index: Index, what: str, study: str | None, runs: list[str]) -> pl.DataFrame:
    """`what` is one of `WHAT`; of a study (predictions of a whole study would be too many), or of runs."""
    snapshot = index.now()
    if study is not None:
        record = snapshot.record(study)
        return study_rows(snapshot, record) if what == "rows" else gather(record, index.store).curves.frame
    results = index.results(runs)
    if what == "predictions":
        return results.predictions.collect()
    return results.frame if what == "rows" else results.curves.frame


def written(frame: pl.DataFrame, form: str) -> bytes:
    buffer = io.BytesIO()
    if form == "csv":
        frame.write_csv(buffer)
    else:
        frame.write_parquet(buffer)
    return buffer.getvalue()
