"""Any runs side by side: the scores of each target, their differences to the first, intervals and tests.

Seeds of one experiment make one column. A difference of columns with several seeds in common is paired by seed, with
Student's interval over them; of columns with one seed, the interval is over the sentences. Tests are those of
`results.deltas`. They read predictions and take a moment, so a page asks for them cell by cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.results.comparisons.deltas import deltas
from isogloss.results.comparisons.example_tests import example_counts, example_interval
from isogloss.results.rows.results import EXPERIMENT
from isogloss.results.rows.study_results import StudyResults
from isogloss.results.tables.cell_colours import cell_class
from isogloss.results.tables.tables import POINTS_PER_UNIT

SEVERAL = " · "


@dataclass(frozen=True)
class Column:
    """Runs that are taken together, under the name that tells them from the other columns."""

    label: str
    runs: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """A column's score for a target, 0 to 1, and its difference to the first column's, where both were scored."""

    score: float | None
    delta: float | None = None
    low: float | None = None
    high: float | None = None
    shade: str = ""


def columns(results: StudyResults, metric: str, together: bool = True) -> list[Column]:
    """One for each experiment that has the metric; for each run if asked, or if there is one experiment only."""
    scored = results.tests.filter(pl.col("metric") == metric)
    facts = scored.select("run", *EXPERIMENT, "seed").unique("run", keep="first", maintain_order=True)
    if together and facts.select(EXPERIMENT).n_unique() == 1 < len(facts):
        together = False
    key = EXPERIMENT if together else [*EXPERIMENT, "seed"]
    told = [name for name in key if facts[name].n_unique() > 1] or ["changes"]
    labels: dict[tuple[Any, ...], list[str]] = {}
    for row in facts.iter_rows(named=True):
        labels.setdefault(tuple(row[name] for name in told), []).append(row["run"])
    return [Column(_label(dict(zip(told, values))), tuple(runs)) for values, runs in labels.items()]


def _label(facts: dict[str, Any]) -> str:
    """
    >>> _label({"model": "bert", "changes": "", "seed": 3})
    'bert · no change · seed 3'
    """
    named = {**facts, **({"seed": f"seed {facts['seed']}"} if "seed" in facts else {})}
    return SEVERAL.join(value or "no change" for value in named.values())


def metrics(results: StudyResults) -> list[str]:
    return results.tests["metric"].unique(maintain_order=True).to_list()


def side_by_side(results: StudyResults, shown: list[Column], metric: str) -> dict[str, list[Cell]]:
    """A cell for each target and column, with what can be said at once."""
    rows = _relabelled(results, shown, metric)
    means = rows.group_by("target", "changes").agg(pl.col("value").mean())
    scores = {(target, label): value for target, label, value in means.iter_rows()}
    compared = _compared(rows, shown[0].label)
    return {
        target: [_cell(scores.get((target, one.label)), compared.get((target, one.label))) for one in shown]
        for target in rows["target"].unique(maintain_order=True)
    }


def significance(results: StudyResults, reference: Column, column: Column, metric: str, target: str) -> dict[str, Any]:
    """What takes longer: p with its test and stars, and an interval over sentences where there is none over seeds."""
    rows = _relabelled(results, [reference, column], metric).filter(pl.col("target") == target)
    counts = example_counts(results.predictions.filter(pl.col("target") == target), metric, rows["run"])
    if not counts:
        raise UsageError("these runs have no predictions to test with")
    own = pl.concat([frame.with_columns(run=pl.lit(run), target=pl.lit(target)) for (run, _), frame in counts.items()])
    named = own.rename({name: f"{metric}.{name}" for name in own.columns if name not in {"run", "target", "item"}})
    (row,) = deltas(rows, named.lazy(), reference=reference.label).to_dicts()
    over = "seeds"
    if row["low"] is None and row["seeds"] == 1:
        sides = [[counts.get((run, target)) for run in side.runs] for side in (reference, column)]
        row["low"], row["high"] = example_interval(metric, *sides) or (None, None)
        over = "sentences"
    return {name: row[name] for name in ("delta", "low", "high", "p", "test", "stars", "n")} | {"over": over}


def _relabelled(results: StudyResults, shown: list[Column], metric: str) -> pl.DataFrame:
    """The test rows of a metric under the names of the columns, as `deltas` wants them; lone seeds are one seed."""
    rows = results.tests.filter(pl.col("metric") == metric)
    names = {run: column.label for column in shown for run in column.runs}
    rows = rows.filter(pl.col("run").is_in(list(names))).with_columns(
        pl.lit("").alias("study"), pl.lit("").alias("model"), pl.lit("").alias("task"), pl.lit("").alias("source"),
        changes=pl.col("run").replace_strict(names, return_dtype=pl.String),
    )  # fmt: skip
    alone = all(len(column.runs) == 1 for column in shown)
    return rows.with_columns(seed=pl.lit(0, pl.Int64)) if alone else rows


def _compared(rows: pl.DataFrame, reference: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The differences by target and column; none where test sets differ, or the reference was not scored."""
    home = pl.col("n").filter(pl.col("changes") == reference).unique().sort().implode().over("target")
    own = pl.col("n").unique().sort().implode().over("target", "changes")
    same = rows.filter(own == home)
    if reference not in same["changes"]:
        return {}
    return {(row["target"], row["change"]): row for row in deltas(same, reference=reference).iter_rows(named=True)}


def _cell(score: float | None, row: dict[str, Any] | None) -> Cell:
    if row is None or row["delta"] is None:
        return Cell(score)
    return Cell(score, row["delta"], row["low"], row["high"], cell_class(row["delta"] * POINTS_PER_UNIT))
