"""The runs of a study, filtered, sorted and paged; and its experiments with one score per target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import polars as pl

from isogloss.core.registry import check_name
from isogloss.explorer.snapshot import Snapshot, Summary
from isogloss.results.rows.results import NO_INTERVENTION
from isogloss.results.rows.study_reader import run_labels
from isogloss.store.study_records import Record, Run

RUNS_PER_PAGE, EXPERIMENTS_PER_PAGE = 100, 40
FACETS = ("state", "model", "changes", "task", "source")
NO_SCORES = Summary(None, None)


@dataclass(frozen=True)
class RunRow:
    """A run with its state and its scores by the main metric of its task."""

    run: Run
    changes: str
    state: str
    metric: str
    source_score: float | None
    other_score: float | None


ROW_VALUES: dict[str, Callable[[RunRow], str | float | None]] = {
    **{name: attrgetter(f"run.{name}") for name in ("model", "task", "source", "seed")},
    **{name: attrgetter(name) for name in ("changes", "state", "source_score", "other_score")},
}


def run_rows(snapshot: Snapshot, record: Record, jobs: Collection[str]) -> list[RunRow]:
    rows = []
    for run in record.runs:
        metric, scores = next(iter(snapshot.summaries.get(run.evaluation, {}).items()), ("", NO_SCORES))
        changes = run_labels(run, record)["changes"] or NO_INTERVENTION
        rows.append(RunRow(run, changes, snapshot.state(record, run, jobs), metric, *scores))
    return rows


def facets(rows: Sequence[RunRow]) -> dict[str, list[str]]:
    """The properties with several values, by which runs can be filtered, and these values."""
    values = {name: list(dict.fromkeys(_property(row, name) for row in rows)) for name in FACETS}
    return {name: distinct for name, distinct in values.items() if len(distinct) > 1}


def filter_rows(rows: Iterable[RunRow], properties: Mapping[str, str], text: str = "") -> list[RunRow]:
    matching = [row for row in rows if all(_property(row, name) == value for name, value in properties.items())]
    return [row for row in matching if text.casefold() in row.run.label.casefold()] if text else matching


def sort_rows(rows: list[RunRow], column: str, descending: bool) -> list[RunRow]:
    """Rows without a score come last in either order."""
    if not column:
        return rows
    key = ROW_VALUES[check_name(column, ROW_VALUES, "column")]
    scored = [(value, row) for row in rows if (value := key(row)) is not None]
    scored.sort(key=lambda pair: pair[0], reverse=descending)
    return [row for _, row in scored] + [row for row in rows if key(row) is None]


def count_states(rows: Iterable[RunRow]) -> Counter[str]:
    return Counter(row.state for row in rows)


@dataclass(frozen=True)
class Experiment:
    """Runs that differ by their seed only, and their mean score for each target."""

    properties: tuple[str, ...]
    runs: tuple[str, ...]
    scores: Mapping[str, float]


@dataclass(frozen=True)
class Overview:
    """One page of experiments. `names`: of their properties; `total`: number of experiments on all pages."""

    names: tuple[str, ...]
    targets: list[str]
    experiments: list[Experiment]
    total: int


def overview(snapshot: Snapshot, rows: Iterable[RunRow], task: str, metric: str, page: int) -> Overview:
    """The experiments of a task with their means over seeds."""
    done = [row for row in rows if row.run.task == task and row.run.evaluation in snapshot.numbers]
    names = [name for name in ("model", "changes", "source") if len({_property(row, name) for row in done}) > 1]
    names = names or ["changes"]
    groups: dict[tuple[str, ...], list[Run]] = {}
    for row in done:
        groups.setdefault(tuple(_property(row, name) for name in names), []).append(row.run)
    shown = list(groups.items())[EXPERIMENTS_PER_PAGE * (page - 1) : EXPERIMENTS_PER_PAGE * page]
    means = _means(snapshot, [runs for _, runs in shown], metric)
    scores: list[dict[str, float]] = [{} for _ in shown]
    for target, group, value in means.iter_rows():
        scores[group][target] = value
    experiments = [
        Experiment(properties, tuple(run.name for run in runs), by_target)
        for (properties, runs), by_target in zip(shown, scores, strict=True)
    ]
    return Overview(tuple(names), means["target"].unique(maintain_order=True).to_list(), experiments, len(groups))


def _means(snapshot: Snapshot, groups: list[list[Run]], metric: str) -> pl.DataFrame:
    """Mean scores by target and number of the group."""
    group_of = {snapshot.numbers[run.evaluation]: number for number, runs in enumerate(groups) for run in runs}
    rows = snapshot.rows.filter(
        pl.col("number").is_in(list(group_of)), pl.col("metric") == metric, pl.col("split") == "test"
    )
    group = pl.col("number").replace_strict(group_of, return_dtype=pl.Int64)
    return rows.group_by("target", group=group, maintain_order=True).agg(pl.col("value").mean())


def task_metrics(snapshot: Snapshot, rows: Iterable[RunRow]) -> dict[str, list[str]]:
    """The metrics of each scored task."""
    metrics: dict[str, dict[str, None]] = {}
    for row in rows:
        metrics.setdefault(row.run.task, {}).update(dict.fromkeys(snapshot.summaries.get(row.run.evaluation, {})))
    return {task: list(names) for task, names in metrics.items() if names}


def _property(row: RunRow, name: str) -> str:
    return str(ROW_VALUES[name](row))
