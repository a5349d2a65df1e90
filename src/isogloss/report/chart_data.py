"""What the charts of a page draw, small enough to be sent with it: means over seeds, one series per experiment.

A series holds its numbers in parallel lists and names targets by their place in one list, so that a million rows
become a few megabytes; the page takes out of it the few series that are looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from isogloss.report.inputs import ReportInputs

SCORED = ["study", "model", "changes", "task", "source", "metric"]
MEASURED = ["study", "model", "changes", "task", "when", "source", "index"]
VALUES, NORM = ["value", "low", "high"], "final norm"
# numbers are sent as whole ones of such a part, which are shorter: scores to a hundredth of a point
SCORE_SCALE, CURVE_SCALE = 10_000, 1000

LONGEST = 60  # characters of a name; drawing a word of thousands takes a minute


def chart_data(inputs: ReportInputs, scores: pl.DataFrame) -> dict[str, Any]:
    """`targets`, `scores`, `curves` and `histograms`, ready for JSON."""
    curves = inputs.results.curves.frame
    names = [*scores["target"].unique(maintain_order=True), *curves["target"].unique(maintain_order=True)]
    targets = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return {
        "scales": {"scores": SCORE_SCALE, "curves": CURVE_SCALE},
        "targets": [name[:LONGEST] for name in targets],
        "scores": _scores(scores, targets),
        "curves": _curves(curves, targets),
        "histograms": _histograms(inputs.distances.frame),
    }


def _histograms(frame: pl.DataFrame) -> list[dict[str, Any]]:
    named = pl.concat_str("model", "pair", pl.lit("layer ") + pl.col("layer"), "metric", separator=" · ")
    return frame.select("words", "low", "high", "share", series=named).to_dicts()


def _scores(scores: pl.DataFrame, targets: dict[str, int]) -> list[dict[str, Any]]:
    """One for each experiment and metric, with lists over its targets."""
    lists = scores.group_by(SCORED, maintain_order=True).agg("target", "mean", "sd", "gap").to_dicts()
    return [
        {**one, "target": [targets[name] for name in one["target"]],
         **{name: _whole(np.array(one[name], float), SCORE_SCALE) for name in ("mean", "sd", "gap")}}
        for one in lists
    ]  # fmt: skip


def _curves(curves: pl.DataFrame, targets: dict[str, int]) -> list[dict[str, Any]]:
    """One for each experiment, its rows cut out of arrays: frames of each would take ten times as long."""
    when = pl.col("when").fill_null("before")
    task = pl.when(when == "before").then(pl.lit("")).otherwise(pl.col("task"))  # then a curve is of no task
    named = curves.with_columns(when=when, task=task).with_columns(pl.col(MEASURED).fill_null(""))
    keys = named.select(MEASURED).unique(maintain_order=True).with_row_index("number")
    numbers = named.join(keys, on=MEASURED, maintain_order="left")["number"].to_numpy()
    place = 2 * pl.col("layer") + (pl.col("stage") == NORM)
    target = pl.col("target").replace_strict(targets, return_dtype=pl.Int64)
    columns = named.select(target, place.alias("place"), *VALUES)[np.argsort(numbers, kind="stable")].to_numpy()
    parts = np.split(columns, np.cumsum(np.bincount(numbers))[:-1])
    return [{**key, **_measured(part)} for key, part in zip(keys.drop("number").to_dicts(), parts, strict=False)]


def _measured(rows: np.ndarray) -> dict[str, Any]:
    """A series: its targets, and for each a list over the places (layers, and the final norm) of all of them."""
    (targets, across), (places, down) = (np.unique(rows[:, i], return_inverse=True) for i in (0, 1))
    cells, shape = across * len(places) + down, (len(targets), len(places))
    times = np.bincount(cells, minlength=targets.size * places.size)
    with np.errstate(invalid="ignore"):  # nothing was measured there: 0 / 0
        means = [np.bincount(cells, values, times.size) / times for values in rows[:, 2:].T]
    found = {name: _whole(mean.reshape(shape), CURVE_SCALE) for name, mean in zip(VALUES, means, strict=True)}
    resampled = np.isfinite(means[1]).any()
    return {
        "target": targets.astype(int).tolist(),
        "layer": (places // 2).astype(int).tolist(),
        "stage": [NORM if place % 2 else "" for place in places],
        **(found if resampled else {"value": found["value"]}),
    }


def _whole(values: np.ndarray, scale: int) -> list[Any]:
    """Whole numbers of `1 / scale`; null for what is no number, as JSON has no other word for it.

    >>> _whole(np.array([0.98765, np.nan]), 1000)
    [988, None]
    """
    known = np.isfinite(values)
    whole = np.rint(np.where(known, values, 0) * scale).astype(int)
    shown = whole if known.all() else np.where(known, whole.astype(object), np.array(None))
    lists: list[Any] = shown.tolist()
    return lists
