"""Rows to take away: of a whole study, or of a few runs."""

from __future__ import annotations

import io

import polars as pl

from isogloss.explorer.run_results import curve_rows, score_rows
from isogloss.explorer.store_index import StoreIndex

FORMS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
WHAT = ("rows", "curves", "predictions")


def rows_of(index: StoreIndex, what: str, study: str | None, runs: list[str]) -> pl.DataFrame:
    """`what` is one of `WHAT`; of a study (predictions of a whole study would be too many), or of runs."""
    snapshot = index.now()
    if study is not None:
        record = snapshot.record(study)
        owned = [(record, run) for run in record.runs]
        return score_rows(snapshot, owned) if what == "rows" else curve_rows(snapshot, owned, index.store)
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
