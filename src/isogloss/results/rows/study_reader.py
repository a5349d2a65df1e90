"""Reads the results of a study from the store entries of its runs; each file is verified when it is read."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import polars as pl
from polars.io.plugins import register_io_source

from isogloss.core.errors import InputError
from isogloss.results.rows.curves import CURVE_COLUMNS, NEUTRAL_COLUMNS, SHAPE_COLUMNS, TEXT_COLUMNS, Curves
from isogloss.results.rows.distance_histograms import DISTANCE_SCHEMAS, DistanceHistograms
from isogloss.results.rows.results import RESULT_COLUMNS, Schema
from isogloss.results.rows.stored_rows import read_rows, with_schema
from isogloss.results.rows.study_results import RUN_COLUMNS, StudyResults
from isogloss.store.entries import Store
from isogloss.store.study_records import Record, Run

NEUTRAL_FILE = "neutral.parquet"
FAILED_TARGETS_FILE = "failed.json"  # of an evaluation: errors by target
TEXTS_FILE = "texts.parquet"
DISTANCE_FILES = dict(zip(("histograms.parquet", "summary.parquet", "shares.parquet"), DISTANCE_SCHEMAS, strict=True))
RecordedRuns = Sequence[tuple[Record, Run]]  # runs, each with the record of its study
Labels = dict[str, str | int]  # columns that identify a run
LabelledEntry = tuple[str, Labels]  # the id of an entry, and the labels of its rows


def read_study_results(record: Record, store: Store) -> StudyResults:
    """The results of all finished runs; `Damaged` names an entry that has to be recomputed."""
    done, recorded = store.ids(), [(record, run) for run in record.runs]
    scored = [run for run in record.runs if run.evaluation in done]
    scores = [(run.evaluation, all_labels(run, record)) for run in scored]
    similarity = measurements(recorded, done, "similarity")
    neutral, texts = (
        [(id, labels) for id, labels in similarity if name in store.need(id).manifest["files"]]
        for name in (NEUTRAL_FILE, TEXTS_FILE)
    )
    return StudyResults(
        read_entries(store, scores, "rows.parquet", RESULT_COLUMNS),
        _predictions(store, scored, record),
        Curves(
            read_entries(store, similarity, "curves.parquet", {**CURVE_COLUMNS, **RUN_COLUMNS}),
            shapes=read_entries(store, similarity, "shapes.parquet", {**SHAPE_COLUMNS, **RUN_COLUMNS}),
            texts=read_entries(store, texts, TEXTS_FILE, {**TEXT_COLUMNS, **RUN_COLUMNS}),
        ),
        record.reference,
        None if record.published is None else pl.DataFrame(record.published, infer_schema_length=None),
        # stored only if ANC was measured
        read_entries(store, neutral, NEUTRAL_FILE, {**NEUTRAL_COLUMNS, **RUN_COLUMNS}),
        read_distances(store, recorded, done),
        failed={**record.failed, **_failed_targets(store, scored)},
    )


def has_failed_targets(store: Store, evaluation: str) -> bool:
    """Whether a stored evaluation lacks targets."""
    return (store.place(evaluation) / FAILED_TARGETS_FILE).exists()


def _failed_targets(store: Store, runs: Sequence[Run]) -> dict[str, str]:
    """The errors of test sets that could not be evaluated, by run and target."""
    failed: dict[str, str] = {}
    for run in runs:
        if has_failed_targets(store, run.evaluation):
            errors = json.loads(store.need(run.evaluation).file(FAILED_TARGETS_FILE).read_bytes())
            failed |= {f"{run.label}, target {target}": reason for target, reason in errors.items()}
    return failed


def measurements(
    recorded: RecordedRuns, done: Collection[str], kind: Literal["similarity", "distances"]
) -> list[LabelledEntry]:
    """The finished measurements of these runs, before and after fine-tuning."""
    return [
        (id, {**all_labels(run, record), "when": when})
        for record, run in recorded
        for when, id in (run.similarity if kind == "similarity" else run.distances).items()
        if id in done
    ]


def read_distances(store: Store, recorded: RecordedRuns, done: Collection[str]) -> DistanceHistograms:
    entries, files = measurements(recorded, done, "distances"), DISTANCE_FILES.items()
    labels: Schema = {"source": pl.String, **RUN_COLUMNS}
    return DistanceHistograms(*(read_entries(store, entries, name, {**columns, **labels}) for name, columns in files))


def read_entries(store: Store, entries: Sequence[LabelledEntry], name: str, schema: Schema) -> pl.DataFrame:
    """One file of these entries with the labels of their rows, which replace stored ones: each study has its own.

    All files are read in one call: a hundred small files, one at a time, would take too long for a page.
    """
    if not entries:
        return pl.DataFrame(schema=schema)
    paths = {id: str(store.need(id).file(name)) for id, _ in entries}  # runs share measurements before fine-tuning
    rows = read_rows(dict.fromkeys(paths.values()))
    files = rows["path"].rle().struct.unnest().select(path="value").with_row_index("file")
    rows = rows.with_columns(file=pl.col("path").rle_id())  # joining by number is much faster than by path
    rows = rows.drop({"path", *entries[0][1]} - {"source"}, strict=False)  # the source of a curve may not be the run's
    labels = pl.DataFrame([{"path": paths[id], **labels} for id, labels in entries], infer_schema_length=None)
    labels = labels.join(files, on="path", maintain_order="left").drop({"source"} & set(rows.columns))
    labelled = labels.join(rows, on="file", maintain_order="left_right")
    return with_schema(labelled, schema)


def read_published(path: Path) -> pl.DataFrame:
    """Published values: a CSV with the columns task, source, target, change, metric and value."""
    expected = ["task", "source", "target", "change", "metric", "value"]
    try:
        frame = pl.read_csv(path, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(path, f"a CSV with the columns {', '.join(expected)}", str(error).splitlines()[0]) from None
    if missing := [name for name in expected if name not in frame.columns]:
        raise InputError(path, f"the columns {', '.join(expected)}", f"no column {', '.join(missing)}")
    try:
        return frame.with_columns(pl.col("value").cast(pl.Float64))
    except pl.exceptions.PolarsError as error:
        raise InputError(path, "numbers in the column 'value'", str(error).splitlines()[0]) from None


def run_labels(run: Run, record: Record) -> dict[str, str]:
    """The labels of a run in this study; `changes` also names continual learning and a text change that differ from
    the first ones."""
    continual = "" if run.continual == record.continual else run.continual
    text = "" if run.text == record.text else run.text
    changes = " ".join(part for part in (run.changes, continual, text) if part)
    return {"study": record.name, "run": run.name, "model": run.model, "changes": changes}


def all_labels(run: Run, record: Record) -> Labels:
    return {**run_labels(run, record), "task": run.task, "source": run.source, "seed": run.seed}


def _predictions(store: Store, runs: Sequence[Run], record: Record) -> pl.LazyFrame:
    """One row per run, target and item; files are read and verified when the frame is collected.

    All tasks form one source: before Polars 2, as many sources as there are threads block each other forever.
    """
    if not runs:
        return pl.LazyFrame()
    lazy_source: Callable[..., pl.LazyFrame] = register_io_source

    def read(run: Run) -> pl.DataFrame:
        content = store.need(run.evaluation).file("predictions.parquet").read_bytes()
        frame = pl.read_parquet(io.BytesIO(content)).with_columns(
            pl.lit(value).alias(name) for name, value in run_labels(run, record).items()
        )
        return frame if "text" in frame.columns else frame.with_columns(text=pl.lit(None, pl.String))

    @cache
    def empty() -> pl.DataFrame:
        first = {run.task: run for run in reversed(runs)}  # the columns depend on the task
        return pl.concat([read(run).clear() for run in runs if run is first[run.task]], how="diagonal_relaxed")

    def frames(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, size: int | None
    ) -> Iterator[pl.DataFrame]:
        for run in runs:
            if rows is None and predicate is not None and _excludes(predicate, run, record):
                continue
            frame = pl.concat([empty(), read(run)], how="diagonal_relaxed")
            if rows is not None:  # the first rows before any filter
                frame = frame.head(rows)
                rows -= len(frame)
            frame = frame if predicate is None else frame.filter(predicate)
            yield frame if columns is None else frame.select(columns)
            if rows == 0:
                return

    return lazy_source(frames, schema=lambda: empty().schema)


def _excludes(predicate: pl.Expr, run: Run, record: Record) -> bool:
    """Whether a filter on run labels excludes all rows of this run, so that its file need not be read."""
    labels = all_labels(run, record)
    only_labels = set(predicate.meta.root_names()) <= labels.keys()
    return only_labels and pl.DataFrame([labels]).filter(predicate).is_empty()
