"""Runs side by side: the scores of each target, their differences to the first condition, intervals and tests.

The seeds of one experiment form one condition. Conditions with several common seeds are paired by seed, with Student's
interval over seeds; with one seed, the interval is over sentences. The tests are those of `results.comparisons.deltas`.
They read predictions, which takes time, so a page requests them cell by cell. Stars come last: they are corrected for
all tests of the table (`results.comparisons.marks`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict, cast

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.results.comparisons.deltas import deltas
from isogloss.results.comparisons.example_tests import example_counts, example_interval
from isogloss.results.comparisons.marks import with_marks
from isogloss.results.rows.results import EXPERIMENT, NO_INTERVENTION
from isogloss.results.rows.study_results import StudyResults
from isogloss.results.tables.cell_colours import cell_class
from isogloss.results.tables.points import POINTS_PER_UNIT

SEPARATOR = " · "


@dataclass(frozen=True)
class Condition:
    """Runs that are averaged, under a name that distinguishes them from the other conditions."""

    label: str
    runs: tuple[str, ...]


@dataclass(frozen=True)
class ComparisonCell:
    """A condition's score for a target, 0 to 1, and its difference to the reference, if both were scored."""

    score: float | None
    delta: float | None = None
    low: float | None = None
    high: float | None = None
    shade: str = ""


class Significance(TypedDict):
    """A tested difference; `over`: what the interval is over, seeds or sentences."""

    delta: float
    low: float | None
    high: float | None
    p: float | None
    test: str | None
    n: int
    over: str


class Mark(TypedDict):
    """The stars of a difference, and its p after the correction for all tests of the table."""

    target: str
    condition: int
    holm: float | None
    stars: str


def conditions(results: StudyResults, metric: str, pool_seeds: bool = True) -> list[Condition]:
    """One per experiment that has the metric; one per run without `pool_seeds`, or if there is one experiment only."""
    scored = results.tests.filter(pl.col("metric") == metric)
    runs = scored.select("run", *EXPERIMENT, "seed").unique("run", keep="first", maintain_order=True)
    if pool_seeds and runs.select(EXPERIMENT).n_unique() == 1 < len(runs):
        pool_seeds = False
    key = EXPERIMENT if pool_seeds else [*EXPERIMENT, "seed"]
    distinct = [name for name in key if runs[name].n_unique() > 1] or ["changes"]
    groups: dict[tuple[str | int, ...], list[str]] = {}
    for row in runs.iter_rows(named=True):
        groups.setdefault(tuple(row[name] for name in distinct), []).append(row["run"])
    return [Condition(_label(dict(zip(distinct, values))), tuple(names)) for values, names in groups.items()]


def _label(properties: dict[str, str | int]) -> str:
    """
    >>> _label({"model": "bert", "changes": "", "seed": 3})
    'bert · no intervention · seed 3'
    """
    texts = {name: f"seed {value}" if name == "seed" else str(value) for name, value in properties.items()}
    return SEPARATOR.join(text or NO_INTERVENTION for text in texts.values())


def metrics(results: StudyResults) -> list[str]:
    return results.tests["metric"].unique(maintain_order=True).to_list()


def scorers(results: StudyResults, metric: str) -> dict[str, str]:
    """The scoring script of each target, or several if runs differ, for tasks that have several."""
    rows = results.tests.filter(pl.col("metric") == metric, pl.col("scorer").fill_null("") != "")
    names = rows.group_by("target", maintain_order=True).agg(pl.col("scorer").unique().sort().str.join(", "))
    return dict(names.iter_rows())


def compare_scores(results: StudyResults, compared: list[Condition], metric: str) -> dict[str, list[ComparisonCell]]:
    """A cell for each target and condition, without what needs predictions."""
    rows = _relabelled(results, compared, metric)
    means = rows.group_by("target", "changes").agg(pl.col("value").mean())
    scores = {(target, label): value for target, label, value in means.iter_rows()}
    differences = _differences(rows, compared[0].label)
    return {
        target: [
            _cell(scores.get((target, condition.label)), differences.get((target, condition.label)))
            for condition in compared
        ]
        for target in rows["target"].unique(maintain_order=True)
    }


def significance(
    results: StudyResults, reference: Condition, condition: Condition, metric: str, target: str
) -> Significance:
    """p with its test, and an interval over sentences if there is none over seeds."""
    rows = _relabelled(results, [reference, condition], metric).filter(pl.col("target") == target)
    counts = example_counts(results.predictions.filter(pl.col("target") == target), metric, rows["run"])
    if not counts:
        raise UsageError("these runs have no predictions to test")
    frames = [frame.with_columns(run=pl.lit(run), target=pl.lit(target)) for (run, _), frame in counts.items()]
    merged = pl.concat(frames)
    prefixed = {name: f"{metric}.{name}" for name in merged.columns if name not in {"run", "target", "item"}}
    (row,) = deltas(rows, merged.rename(prefixed).lazy(), reference=reference.label).to_dicts()
    over = "seeds"
    if row["low"] is None and row["seeds"] == 1:
        sides = [[counts.get((run, target)) for run in side.runs] for side in (reference, condition)]
        row["low"], row["high"] = example_interval(metric, *sides) or (None, None)
        over = "sentences"
    tested = {name: row[name] for name in ("delta", "low", "high", "p", "test", "n")}
    return cast(Significance, {**tested, "over": over})


def marks(tested: Mapping[tuple[str, int], Significance]) -> list[Mark]:
    """The stars of a table, from the tests of its cells by target and number of the condition."""
    rows = [
        {"target": target, "condition": number, "p": cell["p"]}
        | {name: cell[name] if cell["over"] == "seeds" else None for name in ("low", "high")}  # type: ignore[literal-required]
        for (target, number), cell in tested.items()
    ]
    numbers = dict.fromkeys(("p", "low", "high"), pl.Float64)
    frame = pl.DataFrame(rows, schema={"target": pl.String, "condition": pl.Int64, **numbers})
    marked = with_marks(frame, family=()).select("target", "condition", "holm", "stars")
    return cast("list[Mark]", marked.to_dicts())


def _relabelled(results: StudyResults, compared: list[Condition], metric: str) -> pl.DataFrame:
    """The test rows of a metric, labelled by condition as `deltas` expects; single runs all get the same seed."""
    labels = {run: condition.label for condition in compared for run in condition.runs}
    rows = results.tests.filter(pl.col("metric") == metric, pl.col("run").is_in(list(labels))).with_columns(
        *(pl.lit("").alias(name) for name in EXPERIMENT if name != "changes"),
        changes=pl.col("run").replace_strict(labels, return_dtype=pl.String),
    )
    single = all(len(condition.runs) == 1 for condition in compared)
    return rows.with_columns(seed=pl.lit(0, pl.Int64)) if single else rows


def _differences(rows: pl.DataFrame, reference: str) -> dict[tuple[str, str], Mapping[str, float | None]]:
    """The differences by target and condition; none where test sets differ or the reference has no score."""
    reference_n = pl.col("n").filter(pl.col("changes") == reference).unique().sort().implode().over("target")
    condition_n = pl.col("n").unique().sort().implode().over("target", "changes")
    same = rows.filter(condition_n == reference_n)
    if reference not in same["changes"]:
        return {}
    compared = deltas(same, reference=reference)
    values = compared.select("delta", "low", "high").to_dicts()
    return dict(zip(compared.select("target", "change").iter_rows(), values, strict=True))


def _cell(score: float | None, row: Mapping[str, float | None] | None) -> ComparisonCell:
    delta = None if row is None else row["delta"]
    if row is None or delta is None:
        return ComparisonCell(score)
    return ComparisonCell(score, delta, row["low"], row["high"], cell_class(delta * POINTS_PER_UNIT))
