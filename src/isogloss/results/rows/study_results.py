"""The rows of a study from the entries of its runs, each checked as it is read."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from polars.io.plugins import register_io_source

from isogloss.core.errors import InputError
from isogloss.results.rows.curves import CURVE_COLUMNS, NEUTRAL_COLUMNS, SHAPE_COLUMNS, Curves
from isogloss.results.rows.distance_histograms import (
    HISTOGRAM_COLUMNS,
    NO_DISTANCES,
    SHARE_COLUMNS,
    SUMMARY_COLUMNS,
    DistanceHistograms,
)
from isogloss.results.rows.results import RESULT_COLUMNS, Results
from isogloss.store.entries import Store
from isogloss.store.study_records import Record, Run

if TYPE_CHECKING:
    from isogloss.results.tables.tables import Table

TABLE_SUFFIXES = (".md", ".tex")
NEUTRAL = "neutral.parquet"
DISTANCES = {
    "histograms.parquet": HISTOGRAM_COLUMNS,
    "summary.parquet": SUMMARY_COLUMNS,
    "shares.parquet": SHARE_COLUMNS,
}
# of which run a curve is, and whether it was measured before or after fine-tuning
RUN_COLUMNS = {
    "study": pl.String,
    "run": pl.String,
    "changes": pl.String,
    "task": pl.String,
    "seed": pl.Int64,
    "when": pl.String,
}


@dataclass(frozen=True)
class StudyResults(Results):
    """What `run_study` returns: results of all runs that are done, curves, and the reasons of those that failed."""

    curves: Curves = field(default_factory=lambda: Curves(pl.DataFrame(schema={**CURVE_COLUMNS, **RUN_COLUMNS})))
    failed: dict[str, str] = field(default_factory=dict)  # label of the run → reason
    reference: str = "REF"
    published: pl.DataFrame | None = None
    neutral: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema={**NEUTRAL_COLUMNS, **RUN_COLUMNS}))
    distances: DistanceHistograms = NO_DISTANCES

    def paper_table(self) -> Table:
        """Differences to the reference as papers print them, beside the published ones if these are known: of each
        target and, where there are several, of their mean (the target X).

        A study of one column has none: means, deviations and gaps, then.
        """
        from isogloss.results.comparisons.transfer_means import OTHER_TARGETS, other_language
        from isogloss.results.tables.tables import delta_table, score_table, with_published

        if self.frame["changes"].n_unique() < 2:
            scores = self.table().with_columns(change="changes")
            if self.published is not None and self.reference in scores["change"]:  # of others differences are published
                scores = with_published(scores, self.published, reference=self.reference)
            return score_table(scores)
        rows = self.deltas(self.reference)
        if self.tests.filter(other_language())["target"].n_unique() > 1:
            means = self.source_to_x(self.reference).filter(pl.col("target") == OTHER_TARGETS)
            rows = pl.concat([rows, means.drop("pair")]).sort("study", "model", "task", "source", maintain_order=True)
        if self.published is not None:
            rows = with_published(rows, self.published, reference=self.reference)
        return delta_table(rows, reference=self.reference)

    def write(self, path: str | os.PathLike[str]) -> None:
        """As `Results.write`; `.md` and `.tex` are the paper's table. Of a study that only measures, the curves."""
        from isogloss.results.tables.curve_summary import curve_table
        from isogloss.results.tables.formats import write_table
        from isogloss.results.tables.tables import frame_table

        measured = self.frame.is_empty() and not self.curves.frame.is_empty()
        apart = self.frame.is_empty() and not measured and not self.distances.frame.is_empty()
        if Path(path).suffix in TABLE_SUFFIXES:
            table = frame_table(self.distances.labelled().table(), decimals=3) if apart else None
            write_table(table or (curve_table(self.curves) if measured else self.paper_table()), path)
        elif measured:
            self.curves.write(path)
        elif apart:
            self.distances.labelled().write(path)
        else:
            super().write(path)


def read_study_results(record: Record, store: Store) -> StudyResults:
    """The results of all runs that are done; `Damaged` names an entry that has to be made again."""
    done = store.ids()
    scored = [run for run in record.runs if run.evaluation in done]
    rows = [_rows(store, run, run.evaluation, "rows.parquet", record) for run in scored]
    measured = [(run, when, id) for run in record.runs for when, id in run.similarity.items() if id in done]
    read: dict[tuple[str, str], pl.DataFrame] = {}
    curves, shapes, neutral = (
        [_curves(store, run, when, id, name, record, read) for run, when, id in measured if _has(store, id, name)]
        for name in ("curves.parquet", "shapes.parquet", NEUTRAL)
    )
    return StudyResults(
        pl.concat(rows) if rows else pl.DataFrame(schema=RESULT_COLUMNS),
        _predictions(store, scored, record),
        Curves(_joined(curves, CURVE_COLUMNS), shapes=_joined(shapes, SHAPE_COLUMNS)),
        dict(record.failed),
        record.reference,
        None if record.published is None else pl.DataFrame(record.published, infer_schema_length=None),
        _joined(neutral, NEUTRAL_COLUMNS),
        _distances(record, store, done),
    )


def read_published(path: Path) -> pl.DataFrame:
    """Published values: a CSV with the columns task, source, target, change, metric and value."""
    wanted = ["task", "source", "target", "change", "metric", "value"]
    try:
        frame = pl.read_csv(path, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(path, f"a CSV with the columns {', '.join(wanted)}", str(error).splitlines()[0]) from None
    if missing := [name for name in wanted if name not in frame.columns]:
        raise InputError(path, f"the columns {', '.join(wanted)}", f"none called {', '.join(missing)}")
    try:
        return frame.with_columns(pl.col("value").cast(pl.Float64))
    except pl.exceptions.PolarsError as error:
        raise InputError(path, "numbers in the column 'value'", str(error).splitlines()[0]) from None


def run_labels(run: Run, record: Record) -> dict[str, Any]:
    """What this study calls a run; continual learning and a text change other than the first are told with the
    changes."""
    continual = "" if run.continual == record.continual else run.continual
    text = "" if run.text == record.text else run.text
    changes = " ".join(part for part in (run.changes, continual, text) if part)
    return {"study": record.name, "run": run.name, "model": run.model, "changes": changes}


def _read(store: Store, id: str, name: str) -> pl.DataFrame:
    return pl.read_parquet(io.BytesIO(store.need(id).file(name).read_bytes()))


def _has(store: Store, id: str, name: str) -> bool:
    """Whether there is such a file: neurons are there only where ANC was measured."""
    return name != NEUTRAL or name in store.need(id).manifest["files"]


def _rows(store: Store, run: Run, id: str, name: str, record: Record) -> pl.DataFrame:
    """Rows of a stage under the names of this study: other studies have theirs for the same stage."""
    labels = [pl.lit(value).alias(key) for key, value in run_labels(run, record).items()]
    return _read(store, id, name).with_columns(labels)


def _curves(
    store: Store, run: Run, when: str, id: str, name: str, record: Record, read: dict[tuple[str, str], pl.DataFrame]
) -> pl.DataFrame:
    if (id, name) not in read:  # runs share what was measured before fine-tuning
        read[id, name] = _read(store, id, name)
    facts = {**run_labels(run, record), "task": run.task, "seed": run.seed, "when": when}
    return read[id, name].with_columns(pl.lit(value).alias(key) for key, value in facts.items())


def _distances(record: Record, store: Store, done: set[str]) -> DistanceHistograms:
    measured = [(run, when, id) for run in record.runs for when, id in run.distances.items() if id in done]
    read: dict[tuple[str, str], pl.DataFrame] = {}
    source = {"source": pl.String}
    found = [
        _joined(
            [
                _curves(store, run, when, id, name, record, read).with_columns(source=pl.lit(run.source))
                for run, when, id in measured
            ],
            {**columns, **source},
        )
        for name, columns in DISTANCES.items()
    ]
    return DistanceHistograms(*found)


def _joined(frames: Sequence[pl.DataFrame], columns: dict[str, Any]) -> pl.DataFrame:
    schema = {**columns, **RUN_COLUMNS}
    together = pl.concat(frames) if frames else pl.DataFrame(schema=schema)
    return together.select(pl.col(name).cast(kind) for name, kind in schema.items())


def _predictions(store: Store, runs: Sequence[Run], record: Record) -> pl.LazyFrame:
    """One row per run, target and item; files are read, and checked, when the frame is collected.

    All tasks are one source: before Polars 2, as many as it has threads wait for each other for ever.
    """
    if not runs:
        return pl.LazyFrame()
    found: Callable[..., pl.LazyFrame] = register_io_source

    def read(run: Run) -> pl.DataFrame:
        frame = _rows(store, run, run.evaluation, "predictions.parquet", record)
        return frame if "text" in frame.columns else frame.with_columns(text=pl.lit(None, pl.String))

    @cache
    def nothing() -> pl.DataFrame:
        first = {run.task: run for run in reversed(runs)}  # of each task, whose columns are its own
        return pl.concat([read(run).clear() for run in runs if run is first[run.task]], how="diagonal_relaxed")

    def frames(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, size: int | None
    ) -> Iterator[pl.DataFrame]:
        for run in runs:
            if rows is None and predicate is not None and _rules_out(predicate, run, record):
                continue
            frame = pl.concat([nothing(), read(run)], how="diagonal_relaxed")
            if rows is not None:  # the first of all, before any condition
                frame = frame.head(rows)
                rows -= len(frame)
            frame = frame if predicate is None else frame.filter(predicate)
            yield frame if columns is None else frame.select(columns)
            if rows == 0:
                return

    return found(frames, schema=lambda: nothing().schema)


def _rules_out(predicate: pl.Expr, run: Run, record: Record) -> bool:
    """Whether a condition on runs alone leaves none of this one's rows, so that its file need not be read."""
    facts = {**run_labels(run, record), "task": run.task, "source": run.source, "seed": run.seed}
    known = set(predicate.meta.root_names()) <= facts.keys()
    return known and pl.DataFrame([facts]).filter(predicate).is_empty()
