"""Reads the results of a study from the store entries of its runs; each file is verified when it is read."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

from isogloss.core.errors import InputError
from isogloss.results.rows.curves import CURVE_COLUMNS, NEUTRAL_COLUMNS, SHAPE_COLUMNS, Curves
from isogloss.results.rows.distance_histograms import (
    HISTOGRAM_COLUMNS,
    SHARE_COLUMNS,
    SUMMARY_COLUMNS,
    DistanceHistograms,
)
from isogloss.results.rows.results import RESULT_COLUMNS
from isogloss.results.rows.study_results import RUN_COLUMNS, Schema, StudyResults
from isogloss.store.entries import Store
from isogloss.store.study_records import Record, Run

NEUTRAL_FILE = "neutral.parquet"
DISTANCE_FILES: dict[str, Schema] = {
    "histograms.parquet": HISTOGRAM_COLUMNS,
    "summary.parquet": SUMMARY_COLUMNS,
    "shares.parquet": SHARE_COLUMNS,
}
Measurement = tuple[Run, str, str]  # a run, when it was measured, and the id of the entry


def read_study_results(record: Record, store: Store) -> StudyResults:
    """The results of all finished runs; `Damaged` names an entry that has to be recomputed."""
    done = store.ids()
    scored = [run for run in record.runs if run.evaluation in done]
    rows = [_rows(store, run, run.evaluation, "rows.parquet", record) for run in scored]
    similarity = [(run, when, id) for run in record.runs for when, id in run.similarity.items() if id in done]
    distances = [(run, when, id) for run in record.runs for when, id in run.distances.items() if id in done]
    neutral = [(run, when, id) for run, when, id in similarity if NEUTRAL_FILE in store.need(id).manifest["files"]]
    reader = _MeasurementReader(store, record)
    return StudyResults(
        pl.concat(rows) if rows else pl.DataFrame(schema=RESULT_COLUMNS),
        _predictions(store, scored, record),
        Curves(
            reader.rows(similarity, "curves.parquet", CURVE_COLUMNS),
            shapes=reader.rows(similarity, "shapes.parquet", SHAPE_COLUMNS),
        ),
        dict(record.failed),
        record.reference,
        None if record.published is None else pl.DataFrame(record.published, infer_schema_length=None),
        reader.rows(neutral, NEUTRAL_FILE, NEUTRAL_COLUMNS),  # stored only if ANC was measured
        DistanceHistograms(
            *(reader.rows(distances, name, {**schema, "source": pl.String}) for name, schema in DISTANCE_FILES.items())
        ),
    )


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


def _read(store: Store, id: str, name: str) -> pl.DataFrame:
    return pl.read_parquet(io.BytesIO(store.need(id).file(name).read_bytes()))


def _rows(store: Store, run: Run, id: str, name: str, record: Record) -> pl.DataFrame:
    """The rows of a stage with the labels of this study: other studies may label the same stage differently."""
    labels = [pl.lit(value).alias(key) for key, value in run_labels(run, record).items()]
    return _read(store, id, name).with_columns(labels)


class _MeasurementReader:
    """Files of measurements, each read once: runs share measurements before fine-tuning."""

    def __init__(self, store: Store, record: Record):
        self.store, self.record = store, record
        self._read = cache(lambda id, name: _read(store, id, name))

    def rows(self, measurements: Sequence[Measurement], name: str, columns: Schema) -> pl.DataFrame:
        """The rows of one file of all these entries, with the labels of their runs."""
        schema = {**columns, **RUN_COLUMNS}
        frames = [self._labelled(*measurement, name) for measurement in measurements]
        joined = pl.concat(frames) if frames else pl.DataFrame(schema=schema)
        return joined.select(pl.col(column).cast(kind) for column, kind in schema.items())

    def _labelled(self, run: Run, when: str, id: str, name: str) -> pl.DataFrame:
        labels = {**run_labels(run, self.record), "task": run.task, "seed": run.seed, "when": when}
        labels |= {"source": run.source} if name in DISTANCE_FILES else {}
        return self._read(id, name).with_columns(pl.lit(value).alias(key) for key, value in labels.items())


def _predictions(store: Store, runs: Sequence[Run], record: Record) -> pl.LazyFrame:
    """One row per run, target and item; files are read and verified when the frame is collected.

    All tasks form one source: before Polars 2, as many sources as there are threads block each other forever.
    """
    if not runs:
        return pl.LazyFrame()
    lazy_source: Callable[..., pl.LazyFrame] = register_io_source

    def read(run: Run) -> pl.DataFrame:
        frame = _rows(store, run, run.evaluation, "predictions.parquet", record)
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
    labels = {**run_labels(run, record), "task": run.task, "source": run.source, "seed": run.seed}
    only_labels = set(predicate.meta.root_names()) <= labels.keys()
    return only_labels and pl.DataFrame([labels]).filter(predicate).is_empty()
