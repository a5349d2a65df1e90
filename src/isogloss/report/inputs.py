"""The inputs of a report: the results of a study in a store, or rows from files, and their provenance."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from isogloss.core.errors import InputError, UsageError
from isogloss.core.files import open_binary
from isogloss.results.rows.curves import CURVE_COLUMNS, NEUTRAL_COLUMNS, Curves
from isogloss.results.rows.distance_histograms import HISTOGRAM_COLUMNS, NO_DISTANCES, DistanceHistograms
from isogloss.results.rows.readability import READABILITY_COLUMNS
from isogloss.results.rows.results import RESULT_COLUMNS, Results, Schema
from isogloss.results.rows.stored_rows import with_schema
from isogloss.results.rows.study_reader import read_study_results
from isogloss.results.rows.study_results import RUN_COLUMNS, StudyResults
from isogloss.store.entries import MARK, Store
from isogloss.store.study_records import environments, read_record

PathLike = str | os.PathLike[str]
TRANSFER_ROWS = "results.parquet"  # written by `isogloss transfer --out`, beside the predictions of each run
OPTIONAL_CURVE_COLUMNS = {"note", "source_unknown", "target_unknown"}
PREDICTION_COLUMNS = {"run", "target", "item", "gold", "prediction"}
READERS: dict[str, Callable[[io.BytesIO], pl.DataFrame]] = {
    ".parquet": pl.read_parquet,
    ".csv": lambda file: pl.read_csv(file, infer_schema=False),
    ".tsv": lambda file: pl.read_csv(file, infer_schema=False, separator="\t"),
    ".json": lambda file: pl.read_json(file, infer_schema_length=None),
}


@dataclass(frozen=True)
class ReportInputs:
    """`versions`: versions and hardware, each with its number of runs; `planned`: number of runs of the study."""

    title: str
    results: StudyResults
    description: str = ""
    distances: DistanceHistograms = NO_DISTANCES
    command: str = ""
    study: Mapping[str, object] = field(default_factory=dict)
    versions: Sequence[tuple[Mapping[str, str], int]] = ()
    planned: int | None = None

    @property
    def reference(self) -> str | None:
        """The name of the reference condition in the rows; None if there is nothing to compare."""
        present = self.results.frame["changes"].unique(maintain_order=True).to_list()
        names = [self.results.reference, *([""] if self.results.reference == "REF" else [])]
        return next((name for name in names if name in present), None) if len(present) > 1 else None


def read_inputs(paths: Sequence[PathLike], study: str | None = None) -> ReportInputs:
    """From a store (and the name of a study, if it contains several), or from files and folders of results."""
    if not paths:
        raise UsageError("a report needs inputs: name a store, or files of results")
    first = Path(paths[0])
    if (first / MARK).is_file() and (study is not None or not (first / TRANSFER_ROWS).is_file()):
        if len(paths) > 1:
            raise UsageError("a report needs one store, or files of results; not both")
        return inputs_from_store(first, study)
    if study is not None:
        raise InputError(first, f"a store (with {MARK})", "none", advice="--study names a study of a store")
    return inputs_from_files(paths)


def inputs_from_store(folder: PathLike, study: str | None = None) -> ReportInputs:
    store = Store(folder)
    record = read_record(store, study)
    results = read_study_results(record, store)
    return ReportInputs(
        record.name,
        results,
        record.description,
        distances=results.distances.labelled(),
        command=record.command,
        study=record.study,
        versions=environments(record, store),
        planned=len(record.runs),
    )


def inputs_from_results(results: Results, curves: Curves | None = None, *, title: str) -> ReportInputs:
    """From the return value of `transfer`, `similarity` or `run_study`."""
    if not isinstance(results, StudyResults):
        results = StudyResults(results.frame, results.predictions, failed=results.failed)
    if curves is not None:
        neutral = curves.language_neutral() if len(curves.neurons) else pl.DataFrame(schema=NEUTRAL_COLUMNS)
        labelled = replace(curves, frame=with_run_columns(curves.frame), shapes=with_run_columns(curves.shapes))
        results = replace(results, curves=labelled, neutral=with_run_columns(neutral))
    return ReportInputs(title, results, distances=results.distances.labelled())


def inputs_from_files(paths: Sequence[PathLike]) -> ReportInputs:
    """Any number of files with result rows, curves, predictions or histograms, identified by their columns."""
    frames: dict[str, list[pl.DataFrame]] = {"rows": [], "curves": [], "predictions": [], "histograms": []}
    for path in _expanded(paths):
        frame = _read(path)
        kind, schema = _kind(frame, path)
        frames[kind].append(_cast(frame, schema, path))
    rows, curves, predictions, histograms = frames.values()
    results = StudyResults(
        with_schema(pl.concat(rows, how="diagonal"), RESULT_COLUMNS) if rows else pl.DataFrame(schema=RESULT_COLUMNS),
        pl.concat(predictions, how="diagonal_relaxed").lazy() if predictions else pl.LazyFrame(),
        Curves(with_run_columns(pl.concat(curves, how="diagonal"))) if curves else StudyResults(pl.DataFrame()).curves,
    )
    distances = replace(NO_DISTANCES, frame=pl.concat([NO_DISTANCES.frame, *histograms]))
    return ReportInputs(", ".join(Path(path).name for path in paths), results, distances=distances)


def with_run_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with the columns that identify their run, null where it is unknown."""
    missing = {name: kind for name, kind in RUN_COLUMNS.items() if name not in frame.columns}
    return frame.with_columns(pl.lit(None, kind).alias(name) for name, kind in missing.items())


def _expanded(paths: Sequence[PathLike]) -> list[Path]:
    """The files; for a folder written by `transfer`, its rows and predictions."""
    files: list[Path] = []
    for path in map(Path, paths):
        if not path.is_dir():
            files.append(path)
        elif (path / TRANSFER_ROWS).is_file():
            files += [path / TRANSFER_ROWS, *sorted(path.glob("entries/evaluation/*/predictions.parquet"))]
        else:
            raise InputError(path, f"a store (with {MARK}), or a folder with {TRANSFER_ROWS}", "neither")
    return files


def _read(path: Path) -> pl.DataFrame:
    if path.suffix not in READERS:
        raise InputError(path, f"a file of rows ({', '.join(READERS)})", f"'{path.suffix}'")
    with open_binary(path) as file:
        content = io.BytesIO(file.read())
    try:
        return READERS[path.suffix](content)
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        raise InputError(path, f"rows as {path.suffix}", str(error).splitlines()[0]) from None


def _kind(frame: pl.DataFrame, path: Path) -> tuple[str, Schema]:
    columns = set(frame.columns)
    if RESULT_COLUMNS.keys() - {"scorer"} - READABILITY_COLUMNS.keys() <= columns:
        return "rows", RESULT_COLUMNS
    if columns >= PREDICTION_COLUMNS:
        return "predictions", {}
    if HISTOGRAM_COLUMNS.keys() <= columns:
        return "histograms", HISTOGRAM_COLUMNS
    if CURVE_COLUMNS.keys() - OPTIONAL_CURVE_COLUMNS <= columns:
        return "curves", {**CURVE_COLUMNS, **RUN_COLUMNS}
    expected = "result rows, curves, predictions or histograms, as written by isogloss"
    raise InputError(path, expected, f"the columns {', '.join(frame.columns[:12]) or 'none'}")


def _cast(frame: pl.DataFrame, schema: Schema, path: Path) -> pl.DataFrame:
    """The columns with their types, which text files do not have."""
    casts = [pl.col(name).cast(kind) for name, kind in schema.items() if name in frame.columns]
    try:
        return frame.with_columns(casts)
    except pl.exceptions.PolarsError as error:
        raise InputError(path, "numbers in numeric columns", str(error).splitlines()[0]) from None
