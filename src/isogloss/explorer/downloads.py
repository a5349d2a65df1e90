"""Tables to download: of a study, or of a few runs."""

from __future__ import annotations

import polars as pl

from isogloss.explorer.run_results import curve_rows, score_rows
from isogloss.explorer.store_index import StoreIndex

CONTENT_TYPES = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
TABLES = ("rows", "curves", "predictions")


def download_frame(index: StoreIndex, table: str, study: str | None, runs: list[str]) -> pl.DataFrame:
    """One of `TABLES`, of a study or of runs. Of a study, `predictions` would be too large: it has curves instead."""
    snapshot = index.now()
    if study is not None:
        record = snapshot.record(study)
        recorded = [(record, run) for run in record.runs]
        return score_rows(snapshot, recorded) if table == "rows" else curve_rows(snapshot, recorded, index.store)
    results = index.results(runs)
    if table == "predictions":
        return results.predictions.collect()
    return results.frame if table == "rows" else results.curves.frame
