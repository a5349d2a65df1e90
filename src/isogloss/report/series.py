"""What the charts of a page draw, small enough to be sent with it: means over seeds, one series per experiment.

A series holds its numbers in parallel lists and names targets by their place in one list, so that a million rows
become a few megabytes; the page takes out of it the few series that are looked at.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from isogloss.report.subject import Subject

SCORED = ["study", "model", "changes", "task", "source", "metric"]
MEASURED = ["study", "model", "changes", "task", "when", "source", "index"]
PLACE, VALUES = ["layer", "stage"], ["value", "low", "high"]
# numbers are sent as whole ones of such a part, which are shorter: scores to a hundredth of a point
SCORE_SCALE, CURVE_SCALE = 10_000, 1000

LONGEST = 60  # characters of a name; drawing a word of thousands takes a minute


def series(subject: Subject, scores: pl.DataFrame) -> dict[str, Any]:
    """`targets`, `scores`, `curves` and `histograms`, ready for JSON."""
    curves = subject.results.curves.frame
    names = [*scores["target"].unique(maintain_order=True), *curves["target"].unique(maintain_order=True)]
    targets = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return {
        "scales": {"scores": SCORE_SCALE, "curves": CURVE_SCALE},
        "targets": [name[:LONGEST] for name in targets],
        "scores": [_numbered(one, targets) for one in _scores(scores).iter_rows(named=True)],
        "curves": [_bounded(_numbered(one, targets)) for one in _curves(curves).iter_rows(named=True)],
        "histograms": _histograms(subject.distances.frame),
    }


def _histograms(frame: pl.DataFrame) -> list[dict[str, Any]]:
    named = pl.concat_str("model", "pair", pl.lit("layer ") + pl.col("layer"), "metric", separator=" · ")
    return frame.select("words", "low", "high", "share", series=named).to_dicts()


def _scores(scores: pl.DataFrame) -> pl.DataFrame:
    """One row per experiment and metric, with lists over its targets."""
    whole = scores.with_columns(_whole(pl.col(name), SCORE_SCALE).alias(name) for name in ("mean", "sd", "gap"))
    return whole.group_by(SCORED, maintain_order=True).agg("target", "mean", "sd", "gap")


def _curves(curves: pl.DataFrame) -> pl.DataFrame:
    """One row per experiment: its targets, and for each a list over the places (layers, and the final norm) of all."""
    when = pl.col("when").fill_null("before")
    task = pl.when(when == "before").then(pl.lit("")).otherwise(pl.col("task"))  # then a curve is of no task
    norm = pl.when(pl.col("stage") == "final norm").then("stage").otherwise(pl.lit(""))
    named = curves.with_columns(when=when, task=task, stage=norm).with_columns(pl.col(MEASURED).fill_null(""))
    means = named.group_by([*MEASURED, "target", *PLACE], maintain_order=True).agg(
        _whole(pl.col(name).mean(), CURVE_SCALE).alias(name) for name in VALUES
    )
    places = means.select(*MEASURED, *PLACE).unique(maintain_order=True).sort("layer", maintain_order=True)
    every = means.select(*MEASURED, "target").unique(maintain_order=True)
    every = every.join(places, on=MEASURED, maintain_order="left_right")
    lists = every.join(means, on=[*MEASURED, "target", *PLACE], how="left", maintain_order="left")
    lists = lists.group_by([*MEASURED, "target"], maintain_order=True).agg(*PLACE, *VALUES)
    return lists.group_by(MEASURED, maintain_order=True).agg("target", pl.col(PLACE).first(), *VALUES)


def _numbered(row: dict[str, Any], targets: dict[str, int]) -> dict[str, Any]:
    return {**row, "target": [targets[name] for name in row["target"]]}


def _bounded(one: dict[str, Any]) -> dict[str, Any]:
    """A curve with its bounds only where any value was resampled."""
    resampled = any(value is not None for values in one["low"] for value in values)
    return one if resampled else {name: value for name, value in one.items() if name not in ("low", "high")}


def _whole(value: pl.Expr, scale: int) -> pl.Expr:
    """Whole numbers of `1 / scale`; null for what is no number, as JSON has no other word for it.

    >>> pl.select(_whole(pl.lit(pl.Series([0.98765, None, float("nan")])), 1000)).to_series().to_list()
    [988, None, None]
    """
    return pl.when(value.is_finite()).then((value * scale).round().cast(pl.Int64, strict=False))
