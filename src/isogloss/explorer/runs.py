"""The runs of a study, filtered, sorted, a page at a time; and its experiments with a score for each target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from isogloss.core.registry import check_name
from isogloss.explorer.snapshot import Snapshot, Summary
from isogloss.results.rows.study_results import run_labels
from isogloss.store.study_records import Record, Run

PAGE, EXPERIMENTS = 100, 40
FACETS = ("state", "model", "changes", "task", "source")
NOTHING = Summary(None, None)
NO_CHANGE = "no change"


@dataclass(frozen=True)
class Line:
    """A run with its state and its scores by the first metric of its task."""

    run: Run
    changes: str
    state: str
    metric: str
    home: float | None
    others: float | None


SORTS: dict[str, Callable[[Line], Any]] = {
    "model": lambda line: line.run.model,
    "changes": lambda line: line.changes,
    "task": lambda line: line.run.task,
    "source": lambda line: line.run.source,
    "seed": lambda line: line.run.seed,
    "state": lambda line: line.state,
    "home": lambda line: line.home,
    "others": lambda line: line.others,
}


def lines(snapshot: Snapshot, record: Record, jobs: Collection[str]) -> list[Line]:
    found = []
    for run in record.runs:
        metric, scores = next(iter(snapshot.summaries.get(run.evaluation, {}).items()), ("", NOTHING))
        changes = run_labels(run, record)["changes"] or NO_CHANGE
        found.append(Line(run, changes, snapshot.state(record, run, jobs), metric, *scores))
    return found


def facets(every: list[Line]) -> dict[str, list[str]]:
    """What runs can be filtered by, where there is a choice, and the values of each."""
    found = {name: list(dict.fromkeys(_fact(line, name) for line in every)) for name in FACETS}
    return {name: values for name, values in found.items() if len(values) > 1}


def filtered(every: list[Line], wanted: Mapping[str, str], find: str = "") -> list[Line]:
    kept = [line for line in every if all(_fact(line, name) == value for name, value in wanted.items())]
    return [line for line in kept if find.casefold() in line.run.label.casefold()] if find else kept


def sorted_lines(every: list[Line], by: str, falling: bool) -> list[Line]:
    """What has no score comes last, whichever way."""
    if not by:
        return every
    key = SORTS[check_name(by, SORTS, "column")]
    known = sorted((line for line in every if key(line) is not None), key=key, reverse=falling)
    return known + [line for line in every if key(line) is None]


def counts(every: Iterable[Line]) -> Counter[str]:
    return Counter(line.state for line in every)


@dataclass(frozen=True)
class Experiment:
    """Runs that differ by their seed alone, and their mean score for each target."""

    facts: tuple[str, ...]
    runs: tuple[str, ...]
    scores: Mapping[str, float]


@dataclass(frozen=True)
class Overview:
    """`told`: what the facts of experiments are; `of`: how many there are on all pages."""

    told: tuple[str, ...]
    targets: list[str]
    experiments: list[Experiment]
    of: int


def overview(snapshot: Snapshot, every: list[Line], task: str, metric: str, page: int) -> Overview:
    """Experiments of a task and the means over their seeds, a page of them."""
    done = [line for line in every if line.run.task == task and line.run.evaluation in snapshot.numbers]
    told = [name for name in ("model", "changes", "source") if len({_fact(line, name) for line in done}) > 1]
    told = told or ["changes"]
    groups: dict[tuple[str, ...], list[Run]] = {}
    for line in done:
        groups.setdefault(tuple(_fact(line, name) for name in told), []).append(line.run)
    shown = list(groups.items())[EXPERIMENTS * (page - 1) : EXPERIMENTS * page]
    place = {snapshot.numbers[run.evaluation]: i for i, (_, runs) in enumerate(shown) for run in runs}
    wanted = snapshot.rows.filter(
        pl.col("number").is_in(list(place)), pl.col("metric") == metric, pl.col("split") == "test"
    )
    group = pl.col("number").replace_strict(place, return_dtype=pl.Int64)
    means = wanted.group_by("target", group=group, maintain_order=True).agg(pl.col("value").mean())
    scores: list[dict[str, float]] = [{} for _ in shown]
    for target, number, value in means.iter_rows():
        scores[number][target] = value
    experiments = [
        Experiment(facts, tuple(run.name for run in runs), own)
        for (facts, runs), own in zip(shown, scores, strict=True)
    ]
    return Overview(tuple(told), means["target"].unique(maintain_order=True).to_list(), experiments, len(groups))


def task_metrics(snapshot: Snapshot, every: list[Line]) -> dict[str, list[str]]:
    """The metrics of each task that was scored."""
    found: dict[str, dict[str, None]] = {}
    for line in every:
        found.setdefault(line.run.task, {}).update(dict.fromkeys(snapshot.summaries.get(line.run.evaluation, {})))
    return {task: list(metrics) for task, metrics in found.items() if metrics}


def _fact(line: Line, name: str) -> str:
    return str(getattr(line, name) if name in ("state", "changes") else getattr(line.run, name))
