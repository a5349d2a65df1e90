"""Scores of transfer: one row per run, target and metric, and the predictions behind them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from isogloss.core.registry import check_name
from isogloss.results.rows.readability import READABILITY_COLUMNS

if TYPE_CHECKING:
    import altair

Schema = Mapping[str, type[pl.DataType]]
# `split` distinguishes the source's dev set, on which the epoch was selected, from the test sets
RESULT_COLUMNS: Schema = {
    **dict.fromkeys(["study", "run", "model", "changes", "task", "source", "target", "split", "metric"], pl.String),
    "scorer": pl.String,  # scoring script, for tasks that have several
    "seed": pl.Int64,
    "value": pl.Float64,
    "n": pl.Int64,  # items
    **READABILITY_COLUMNS,  # of the items, for the tokenizer of the run; null for a model without sub-words
}
EXPERIMENT = ["study", "model", "changes", "task", "source"]  # identical for all seeds of an experiment
MAX_NAMED_FAILURES = 8  # in a note below a table
NO_INTERVENTION = "no intervention"  # label of the unchanged model, whose `changes` are ""


def with_scorer_names(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with `scorer`, "" where it is not known or the task has only one."""
    scorer = pl.col("scorer").fill_null("") if "scorer" in rows.columns else pl.lit("").alias("scorer")
    return rows.with_columns(scorer)


def gap_heading(gap_to: pl.Series) -> str:
    """The heading of a column of gaps: what they are the difference to, where it is the same for all.

    >>> gap_heading(pl.Series(["test", "test"])), gap_heading(pl.Series(["test", "dev"]))
    ('gap to source test', 'gap')
    """
    kinds = [kind for kind in gap_to.drop_nulls().unique() if kind]
    return f"gap to source {kinds[0]}" if len(kinds) == 1 else "gap"


@dataclass(frozen=True)
class Results:
    """The return value of `ig.transfer`. Results of several models, tasks or interventions add with `+`.

    `predictions` is lazy: one row per run, target and item, with gold label, prediction and input (`text`: words, or
    named texts) as JSON, and the item's counts of each metric in columns such as `accuracy.correct`. `failed` names
    test sets whose evaluation failed, with the error.
    """

    frame: pl.DataFrame
    predictions: pl.LazyFrame = field(default_factory=pl.LazyFrame)
    failed: dict[str, str] = field(default_factory=dict, kw_only=True)  # what has no scores → error

    def __add__(self, other: Results) -> Results:
        frames = [results.predictions for results in (self, other) if results.predictions.collect_schema()]
        predictions = pl.concat(frames, how="diagonal_relaxed") if frames else pl.LazyFrame()
        return Results(pl.concat([self.frame, other.frame]), predictions, failed={**self.failed, **other.failed})

    @property
    def metrics(self) -> list[str]:
        return self.frame["metric"].unique(maintain_order=True).to_list()

    @property
    def tests(self) -> pl.DataFrame:
        """The rows of the test sets."""
        return self.frame.filter(pl.col("split") == "test")

    @property
    def failed_notes(self) -> list[str]:
        """A sentence below tables that names what has no scores because it failed; an empty list if nothing did.

        >>> Results(pl.DataFrame(), failed={"fr, seed 0": "OSError: …"}).failed_notes
        ['Failed, so not in this table: fr, seed 0.']
        """
        if not self.failed:
            return []
        names = list(self.failed)[:MAX_NAMED_FAILURES]
        more = len(self.failed) - len(names)
        return [f"Failed, so not in this table: {'; '.join(names)}{f'; and {more} more' if more else ''}."]

    def gaps(self) -> pl.DataFrame:
        """The test rows with `gap`: the same run's score in the source language minus this one.

        The source score is that of the source's test set, or of its dev set where it has no test set: `gap_to` is
        "test" or "dev". The epoch was selected on the dev set, so that a gap to it is somewhat too large.
        """
        frame = with_scorer_names(self.frame)
        in_source = frame.filter(pl.col("target") == pl.col("source")).sort("split", descending=True)
        key = ["run", "metric", "scorer"]  # scores of different scorers are not comparable
        in_source = in_source.unique(key, keep="first", maintain_order=True)  # "test" before "dev"
        source_scores = in_source.select(*key, source_score="value", gap_to="split")
        tests = frame.filter(pl.col("split") == "test")
        rows = tests.join(source_scores, on=key, how="left", maintain_order="left")
        return rows.with_columns(gap=pl.col("source_score") - pl.col("value")).drop("source_score")

    def table(self, metric: str | None = None) -> pl.DataFrame:
        """One row per experiment, target and metric: mean and standard deviation over seeds, and cross-lingual gap."""
        rows = self.gaps()
        if metric is not None:
            rows = rows.filter(pl.col("metric") == check_name(metric, self.metrics, "metric of these results"))
        groups = rows.group_by([*EXPERIMENT, "target", "metric", "scorer"], maintain_order=True)
        return groups.agg(
            mean=pl.col("value").mean(),
            sd=pl.col("value").std(),
            gap=pl.col("gap").mean(),
            gap_sd=pl.col("gap").std(),
            gap_to=pl.col("gap_to").drop_nulls().unique().sort(descending=True).str.join(" and "),
            seeds=pl.len(),
            n=pl.col("n").first(),
            **{name: pl.col(name).first() for name in READABILITY_COLUMNS if name in rows.columns},
        )

    def gap(self, metric: str | None = None) -> pl.DataFrame:
        """The cross-lingual gap of each target except the source: mean and standard deviation over seeds, and `gap_to`,
        whether it is the difference to the score on the test set or on the dev set of the source."""
        table = self.table(metric).filter(pl.col("target") != pl.col("source"))
        return table.select(*EXPERIMENT, "target", "metric", "scorer", "gap", "gap_sd", "gap_to", "seeds")

    def deltas(self, reference: str = "REF", *, test: str = "crossed") -> pl.DataFrame:
        """The difference of each condition to the reference, by target: see `results.comparisons.differences`."""
        from isogloss.results.comparisons.differences import noted_differences
        from isogloss.results.comparisons.transfer_means import OTHER_TARGETS

        compared, _ = noted_differences(self.frame, self.predictions, reference=reference, test=test)
        return compared.filter(pl.col("target") != OTHER_TARGETS)

    def source_to_x(self, reference: str = "REF") -> pl.DataFrame:
        """The same for the source and for the mean over all other languages only."""
        from isogloss.results.comparisons.differences import source_to_x

        return source_to_x(self.frame, self.predictions, reference=reference)

    def plot(self, metric: str | None = None) -> altair.ConcatChart:
        """One panel per metric, one row per target: the score of each seed, and their mean."""
        from isogloss.results.figures.scores import score_chart

        metrics = [check_name(metric, self.metrics, "metric of these results")] if metric else self.metrics
        return score_chart(self.tests, metrics)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Rows as `.csv`, `.tsv`, `.parquet` or `.json`; the chart as `.html`, `.svg`, `.png` or `.pdf`."""
        from isogloss.results.rows.files import write_chart, write_rows

        if not write_rows(self.frame, path):
            write_chart(self.plot(), path)
