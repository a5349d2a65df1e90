"""The results of a few runs, from one study or several: scores from the snapshot, the rest from files.

Files of one kind are read in one call: a hundred small files, one at a time, would take too long for a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from isogloss.explorer.snapshot import Snapshot
from isogloss.results.rows.curves import CURVE_COLUMNS, Curves
from isogloss.results.rows.distance_histograms import DistanceHistograms
from isogloss.results.rows.results import RESULT_COLUMNS
from isogloss.results.rows.study_reader import DISTANCE_FILES, run_labels
from isogloss.results.rows.study_results import RUN_COLUMNS, Schema, StudyResults
from isogloss.store.entries import Store
from isogloss.store.study_records import Record, Run

RecordedRuns = Sequence[tuple[Record, Run]]  # runs, each with the record of its study
Labels = dict[str, str | int]  # columns that identify a run
LabelledEntry = tuple[str, Labels]  # the id of an entry, and the labels of its rows


def read_runs(snapshot: Snapshot, recorded: RecordedRuns, store: Store) -> StudyResults:
    """In the order of the runs: the first one is the reference."""
    measured = _entries(snapshot, [(record, run, run.distances) for record, run in recorded])
    distances = [
        _read_entries(store, measured, name, {**columns, "source": pl.String})
        for name, columns in DISTANCE_FILES.items()
    ]
    predictions = [_predictions(store, run) for _, run in recorded if run.evaluation in snapshot.numbers]
    return StudyResults(
        score_rows(snapshot, recorded),
        pl.concat(predictions, how="diagonal_relaxed") if predictions else pl.LazyFrame(),
        Curves(curve_rows(snapshot, recorded, store)),
        distances=DistanceHistograms(*distances),
    )


def score_rows(snapshot: Snapshot, recorded: RecordedRuns) -> pl.DataFrame:
    """The scores of all finished runs, as `isogloss run -o` writes them."""
    labels = [
        {**_labels(record, run), "source": run.source, "number": snapshot.numbers[run.evaluation]}
        for record, run in recorded
        if run.evaluation in snapshot.numbers
    ]
    if not labels:
        return pl.DataFrame(schema=RESULT_COLUMNS)
    runs = pl.DataFrame(labels, infer_schema_length=None).with_columns(pl.col("number").cast(pl.UInt32))
    rows = runs.join(snapshot.rows, on="number", maintain_order="left_right")
    return rows.select(pl.col(name).cast(kind) for name, kind in RESULT_COLUMNS.items())


def curve_rows(snapshot: Snapshot, recorded: RecordedRuns, store: Store) -> pl.DataFrame:
    """Similarity by layer, with the labels of each curve's run."""
    measured = _entries(snapshot, [(record, run, run.similarity) for record, run in recorded])
    return _read_entries(store, measured, "curves.parquet", CURVE_COLUMNS)


def _labels(record: Record, run: Run) -> Labels:
    return {**run_labels(run, record), "task": run.task, "seed": run.seed}


def _entries(snapshot: Snapshot, measured: Sequence[tuple[Record, Run, Mapping[str, str]]]) -> list[LabelledEntry]:
    """The finished entries of runs, each with the labels of its rows; `measured` has ids by when they were measured."""
    return [
        (id, {**_labels(record, run), "source": run.source, "when": when})
        for record, run, ids in measured
        for when, id in ids.items()
        if id in snapshot.done
    ]


def _read_entries(store: Store, entries: Sequence[LabelledEntry], name: str, columns: Schema) -> pl.DataFrame:
    schema = {**columns, **RUN_COLUMNS}
    if not entries:
        return pl.DataFrame(schema=schema)
    paths = {id: str(store.need(id).file(name)) for id, _ in entries}  # runs share measurements before fine-tuning
    rows = pl.read_parquet(list(dict.fromkeys(paths.values())), include_file_paths="path")
    files = rows["path"].rle().struct.unnest().select(path="value").with_row_index("file")
    rows = rows.with_columns(file=pl.col("path").rle_id())  # joining by number is much faster than by path
    rows = rows.drop({*RUN_COLUMNS, "model", "path"}, strict=False)  # each study has its names for runs and models
    labels = pl.DataFrame([{"path": paths[id], **labels} for id, labels in entries], infer_schema_length=None)
    labels = labels.join(files, on="path", maintain_order="left").drop({"source"} & set(rows.columns))
    labelled = labels.join(rows, on="file", maintain_order="left_right")
    return labelled.select(pl.col(column).cast(kind) for column, kind in schema.items())


def _predictions(store: Store, run: Run) -> pl.LazyFrame:
    """The predictions of a run, read lazily; the file is verified now."""
    frame = pl.scan_parquet(store.need(run.evaluation).file("predictions.parquet"))
    missing = [] if "text" in frame.collect_schema() else [pl.lit(None, pl.String).alias("text")]
    return frame.with_columns(pl.lit(run.name).alias("run"), *missing)
