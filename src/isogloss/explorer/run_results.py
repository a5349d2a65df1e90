"""The results of a few runs, from one study or several: scores from the snapshot, the rest from files."""

from __future__ import annotations

import polars as pl

from isogloss.explorer.snapshot import Snapshot
from isogloss.results.rows.curves import CURVE_COLUMNS, Curves
from isogloss.results.rows.results import RESULT_COLUMNS
from isogloss.results.rows.stored_rows import with_schema
from isogloss.results.rows.study_reader import RecordedRuns, all_labels, measurements, read_distances, read_entries
from isogloss.results.rows.study_results import RUN_COLUMNS, StudyResults
from isogloss.store.entries import Store
from isogloss.store.study_records import Run


def read_runs(snapshot: Snapshot, recorded: RecordedRuns, store: Store) -> StudyResults:
    """In the order of the runs: the first one is the reference."""
    predictions = [_predictions(store, run) for _, run in recorded if run.evaluation in snapshot.numbers]
    return StudyResults(
        score_rows(snapshot, recorded),
        pl.concat(predictions, how="diagonal_relaxed") if predictions else pl.LazyFrame(),
        Curves(curve_rows(snapshot, recorded, store)),
        distances=read_distances(store, recorded, snapshot.done),
    )


def score_rows(snapshot: Snapshot, recorded: RecordedRuns) -> pl.DataFrame:
    """The scores of all finished runs, as `isogloss run -o` writes them."""
    labels = [
        {**all_labels(run, record), "number": snapshot.numbers[run.evaluation]}
        for record, run in recorded
        if run.evaluation in snapshot.numbers
    ]
    if not labels:
        return pl.DataFrame(schema=RESULT_COLUMNS)
    runs = pl.DataFrame(labels, infer_schema_length=None).with_columns(pl.col("number").cast(pl.UInt32))
    rows = runs.join(snapshot.rows, on="number", maintain_order="left_right")
    return with_schema(rows, RESULT_COLUMNS)


def curve_rows(snapshot: Snapshot, recorded: RecordedRuns, store: Store) -> pl.DataFrame:
    """Similarity by layer, with the labels of each curve's run."""
    entries = measurements(recorded, snapshot.done, "similarity")
    return read_entries(store, entries, "curves.parquet", {**CURVE_COLUMNS, **RUN_COLUMNS})


def _predictions(store: Store, run: Run) -> pl.LazyFrame:
    """The predictions of a run, read lazily; the file is verified now."""
    frame = pl.scan_parquet(store.need(run.evaluation).file("predictions.parquet"))
    missing = [] if "text" in frame.collect_schema() else [pl.lit(None, pl.String).alias("text")]
    return frame.with_columns(pl.lit(run.name).alias("run"), *missing)
