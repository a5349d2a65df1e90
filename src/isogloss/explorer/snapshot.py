"""A snapshot of a store: its studies, the state of their runs, and the scores of finished runs.

Entries never change after they are written, so each file of scores is read and verified once. `update_snapshot` reads
only what was written since the previous snapshot.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from isogloss.core.errors import UnknownName
from isogloss.results.comparisons.target_languages import other_languages
from isogloss.results.rows.readability import READABILITY_COLUMNS
from isogloss.results.rows.results import Schema
from isogloss.results.rows.stored_rows import read_rows, with_schema
from isogloss.store.entries import Damaged, Store
from isogloss.store.study_records import Record, Run

SCORE_COLUMNS: Schema = {
    "number": pl.UInt32,  # of the evaluation, see `Snapshot.numbers`
    "target": pl.String,
    "split": pl.String,
    "metric": pl.String,
    "scorer": pl.String,
    "value": pl.Float64,
    "n": pl.Int64,
    **READABILITY_COLUMNS,
}


class Summary(NamedTuple):
    """A run's score in the source language and its mean score in other languages, 0 to 1, where available."""

    source_score: float | None
    other_score: float | None


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The state of a store. `summaries` are by evaluation and metric, the main metric of the task first."""

    version: int = 0
    records: Mapping[str, Record] = field(default_factory=dict)
    runs: Mapping[str, tuple[Record, Run]] = field(default_factory=dict)
    done: frozenset[str] = frozenset()
    damaged: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)
    summaries: Mapping[str, Mapping[str, Summary]] = field(default_factory=dict)
    rows: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SCORE_COLUMNS))

    def record(self, name: str) -> Record:
        if name not in self.records:
            raise UnknownName("no such study in this store")
        return self.records[name]

    def run(self, name: str) -> tuple[Record, Run]:
        if name not in self.runs:
            raise UnknownName("no such run in this store")
        return self.runs[name]

    def state(self, record: Record, run: Run, jobs: Collection[str]) -> str:
        if run.evaluation in self.damaged:
            return "damaged"
        return run.state(self.done, jobs, record.failed)


def update_snapshot(previous: Snapshot, records: Mapping[str, Record], store: Store) -> Snapshot:
    runs = {run.name: (record, run) for record in records.values() for run in record.runs}
    done = frozenset(store.ids())
    unread = done - previous.numbers.keys() - previous.damaged.keys()
    added = dict.fromkeys(run.evaluation for _, run in runs.values() if run.evaluation in unread)
    if not added and done == previous.done and records == previous.records:
        return previous
    rows, numbers, damaged = _read_scores(store, added, len(previous.numbers))
    return Snapshot(
        previous.version + 1,
        records,
        runs,
        done,
        {**previous.damaged, **damaged},
        {**previous.numbers, **numbers},
        {**previous.summaries, **_summaries(rows, list(numbers), len(previous.numbers))},
        pl.concat([previous.rows, rows.select(*SCORE_COLUMNS)], rechunk=len(rows) > len(previous.rows)),
    )


def _read_scores(store: Store, ids: Iterable[str], first: int) -> tuple[pl.DataFrame, dict[str, int], dict[str, str]]:
    """The scores of these evaluations, their numbers (from `first` on), and the damaged ones with the reason."""
    paths: dict[str, str] = {}
    damaged: dict[str, str] = {}
    for id in ids:
        try:
            paths[id] = str(store.need(id).file("rows.parquet"))
        except Damaged as error:
            damaged[id] = str(error)
    numbers = {id: number for number, id in enumerate(paths, first)}
    if not paths:
        return pl.DataFrame(schema={**SCORE_COLUMNS, "source": pl.String}), numbers, damaged
    numbered = pl.DataFrame({"path": list(paths.values()), "number": list(numbers.values())})
    rows = numbered.join(read_rows(paths.values()), on="path", maintain_order="left_right")
    return with_schema(rows, {**SCORE_COLUMNS, "source": pl.String}), numbers, damaged


def _summaries(rows: pl.DataFrame, ids: list[str], first: int) -> dict[str, dict[str, Summary]]:
    tests = rows.filter(pl.col("split") == "test")
    scores = tests.group_by("number", "metric", maintain_order=True).agg(
        source_score=pl.col("value").filter(pl.col("target") == pl.col("source")).first()
    )
    by_language = (
        other_languages(tests, ["number"]).group_by("number", "metric", "language").agg(pl.col("value").mean())
    )
    others = by_language.group_by("number", "metric").agg(other_score=pl.col("value").mean())
    means = scores.join(others, on=["number", "metric"], how="left", maintain_order="left")
    summaries: dict[str, dict[str, Summary]] = {}
    for number, metric, source_score, other_score in means.iter_rows():
        summaries.setdefault(ids[number - first], {})[metric] = Summary(source_score, other_score)
    return summaries
