"""The results of a few runs, of one study or of several: scores that are at hand, curves and distances from files.

Files of one kind are read in one go: a hundred small ones, one by one, would take longer than a page may.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from isogloss.explorer.snapshot import Snapshot
from isogloss.results.rows.curves import CURVE_COLUMNS, Curves
from isogloss.results.rows.distance_histograms import DistanceHistograms
from isogloss.results.rows.results import RESULT_COLUMNS
from isogloss.results.rows.study_results import DISTANCES, RUN_COLUMNS, StudyResults, run_labels
from isogloss.store.entries import Store
from isogloss.store.study_records import Record, Run

Owned = Sequence[tuple[Record, Run]]  # runs, each with the study that it is looked at in


def gathered(snapshot: Snapshot, owned: Owned, store: Store) -> StudyResults:
    """In the order of the runs: the first is what others are held against."""
    apart = _entries(owned, snapshot, "distances")
    distances = [_measured(store, apart, name, {**kinds, "source": pl.String}) for name, kinds in DISTANCES.items()]
    predictions = [_predictions(store, run) for _, run in owned if run.evaluation in snapshot.numbers]
    return StudyResults(
        score_rows(snapshot, owned),
        pl.concat(predictions, how="diagonal_relaxed") if predictions else pl.LazyFrame(),
        Curves(curve_rows(snapshot, owned, store)),
        distances=DistanceHistograms(*distances),
    )


def score_rows(snapshot: Snapshot, owned: Owned) -> pl.DataFrame:
    """The scores of all runs that are done, as `isogloss run -o` writes them."""
    known = [(record, run) for record, run in owned if run.evaluation in snapshot.numbers]
    if not known:
        return pl.DataFrame(schema=RESULT_COLUMNS)
    facts = [{**_facts(record, run), "source": run.source, "number": snapshot.numbers[run.evaluation]}
             for record, run in known]  # fmt: skip
    runs = pl.DataFrame(facts, infer_schema_length=None).with_columns(pl.col("number").cast(pl.UInt32))
    rows = runs.join(snapshot.rows, on="number", maintain_order="left_right")
    return rows.select(pl.col(name).cast(kind) for name, kind in RESULT_COLUMNS.items())


def curve_rows(snapshot: Snapshot, owned: Owned, store: Store) -> pl.DataFrame:
    """Similarity by layer, with the run that each curve is of."""
    return _measured(store, _entries(owned, snapshot, "similarity"), "curves.parquet", CURVE_COLUMNS)


def _facts(record: Record, run: Run) -> dict[str, Any]:
    return {**run_labels(run, record), "task": run.task, "seed": run.seed}


def _entries(owned: Owned, snapshot: Snapshot, kind: str) -> list[tuple[str, dict[str, Any]]]:
    """The entries that runs have of a kind, each with what its rows are called in that run's study."""
    return [
        (id, {**_facts(record, run), "source": run.source, "when": when})
        for record, run in owned
        for when, id in getattr(run, kind).items()
        if id in snapshot.done
    ]


def _measured(
    store: Store, entries: list[tuple[str, dict[str, Any]]], name: str, columns: Mapping[str, Any]
) -> pl.DataFrame:
    schema = {**columns, **RUN_COLUMNS}
    if not entries:
        return pl.DataFrame(schema=schema)
    paths = {id: str(store.need(id).file(name)) for id, _ in entries}  # runs share what was measured before fine-tuning
    found = pl.read_parquet(list(dict.fromkeys(paths.values())), include_file_paths="path")
    facts = pl.DataFrame([{"path": paths[id], **told} for id, told in entries], infer_schema_length=None)
    files = found["path"].rle().struct.unnest().select(path="value").with_row_index("file")
    own = found.with_columns(file=pl.col("path").rle_id())  # numbers join in a fraction of the time of paths
    own = own.drop({*RUN_COLUMNS, "model", "path"}, strict=False)  # a study has names of its own for runs and models
    told = facts.join(files, on="path", maintain_order="left").drop({"source"} & set(own.columns))
    named = told.join(own, on="file", maintain_order="left_right")
    return named.select(pl.col(column).cast(kind) for column, kind in schema.items())


def _predictions(store: Store, run: Run) -> pl.LazyFrame:
    """Of one run, to be read in parts; the whole file is checked now."""
    found = pl.scan_parquet(store.need(run.evaluation).file("predictions.parquet"))
    lacking = [] if "text" in found.collect_schema() else [pl.lit(None, pl.String).alias("text")]
    return found.with_columns(pl.lit(run.name).alias("run"), *lacking)
