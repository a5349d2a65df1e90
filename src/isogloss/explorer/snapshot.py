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
from isogloss.results.comparisons.transfer_means import other_language
from isogloss.store.entries import Damaged, Store
from isogloss.store.run_states import run_state
from isogloss.store.study_records import Record, Run

ROWS = {
    "number": pl.UInt32,  # of the evaluation, as `Snapshot.numbers` has it
    "target": pl.String,
    "split": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
    "n": pl.Int64,
}


class Summary(NamedTuple):
    """A run's score in the source language and its mean in others, 0 to 1, where there are such test sets."""

    home: float | None
    others: float | None


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The store as it was a moment ago. `summaries`: by evaluation and metric, the task's first metric first."""

    version: int = 0
    records: Mapping[str, Record] = field(default_factory=dict)
    runs: Mapping[str, tuple[Record, Run]] = field(default_factory=dict)
    done: frozenset[str] = frozenset()
    damaged: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)
    summaries: Mapping[str, Mapping[str, Summary]] = field(default_factory=dict)
    rows: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=ROWS))

    def record(self, name: str) -> Record:
        if name not in self.records:
            raise UnknownName("this store holds no such study")
        return self.records[name]

    def run(self, name: str) -> tuple[Record, Run]:
        if name not in self.runs:
            raise UnknownName("this store holds no such run")
        return self.runs[name]

    def state(self, record: Record, run: Run, jobs: Collection[str]) -> str:
        if run.evaluation in self.damaged:
            return "damaged"
        return run_state(run, self.done, jobs, record.failed)


def update_snapshot(before: Snapshot, records: Mapping[str, Record], store: Store) -> Snapshot:
    runs = {run.name: (record, run) for record in records.values() for run in record.runs}
    done = frozenset(store.ids())
    unread = done - before.numbers.keys() - before.damaged.keys()
    new = dict.fromkeys(run.evaluation for _, run in runs.values() if run.evaluation in unread)
    if not new and done == before.done and records == before.records:
        return before
    rows, numbers, damaged = _read(store, new, len(before.numbers))
    return Snapshot(
        before.version + 1,
        records,
        runs,
        done,
        {**before.damaged, **damaged},
        {**before.numbers, **numbers},
        {**before.summaries, **_summaries(rows, list(numbers), len(before.numbers))},
        pl.concat([before.rows, rows.select(*ROWS)], rechunk=len(rows) > len(before.rows)),
    )


def _read(store: Store, ids: Iterable[str], first: int) -> tuple[pl.DataFrame, dict[str, int], dict[str, str]]:
    """The scores of these evaluations in one go, their numbers, and those that cannot be read."""
    paths: dict[str, str] = {}
    damaged: dict[str, str] = {}
    for id in ids:
        try:
            paths[id] = str(store.need(id).file("rows.parquet"))
        except Damaged as error:
            damaged[id] = str(error)
    numbers = {id: number for number, id in enumerate(paths, first)}
    if not paths:
        return pl.DataFrame(schema={**ROWS, "source": pl.String}), numbers, damaged
    named = pl.LazyFrame({"path": list(paths.values()), "number": list(numbers.values())})
    found = pl.scan_parquet(list(paths.values()), include_file_paths="path")
    rows = found.join(named, on="path", maintain_order="left")
    columns = [pl.col(name).cast(kind) for name, kind in ROWS.items()]
    return rows.select(*columns, "source").collect(), numbers, damaged


def _summaries(rows: pl.DataFrame, ids: list[str], first: int) -> dict[str, dict[str, Summary]]:
    tests = rows.filter(pl.col("split") == "test")
    means = tests.group_by("number", "metric", maintain_order=True).agg(
        home=pl.col("value").filter(pl.col("target") == pl.col("source")).first(),
        others=pl.col("value").filter(other_language()).mean(),
    )
    found: dict[str, dict[str, Summary]] = {}
    for number, metric, home, others in means.iter_rows():
        found.setdefault(ids[number - first], {})[metric] = Summary(home, others)
    return found
