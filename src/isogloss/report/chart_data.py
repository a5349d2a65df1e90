"""The data of the charts, small enough to be embedded in the page: means over seeds, one series per experiment.

A series has its numbers in parallel lists and refers to targets by their position in one list, so that a million rows
become a few megabytes. The script of the page selects the series to draw.
"""

from __future__ import annotations

from typing import TypedDict, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from isogloss.report.inputs import ReportInputs
from isogloss.results.rows.curves import CURVE_VALUES, FINAL_NORM
from isogloss.results.rows.results import gap_heading

SCORE_SERIES = ["study", "model", "changes", "task", "source", "metric"]
CURVE_SERIES = ["study", "model", "changes", "task", "when", "source", "index"]
SCORE_SCALE, CURVE_SCALE = 10_000, 1000  # numbers are stored as integers of 1 / scale, which are shorter
MAX_NAME_CHARACTERS = 60  # drawing a name of thousands of characters takes a minute

Floats = NDArray[np.float64]
Integers = list[int | None]


class _Series(TypedDict, total=False):
    study: str
    model: str
    changes: str
    task: str
    source: str
    target: list[int]


class ScoreSeries(_Series):
    """The scores of an experiment by one metric; lists over targets."""

    metric: str
    mean: Integers
    sd: Integers
    gap: Integers
    gap_to: str


class CurveSeries(_Series, total=False):
    """The similarity of an experiment by one index: for each target a list over layers (and the final norm)."""

    when: str
    index: str
    layer: list[int]
    stage: list[str]
    value: list[Integers]
    low: list[Integers]
    high: list[Integers]


class HistogramRow(TypedDict):
    words: str
    low: float
    high: float
    share: float
    series: str


class ChartData(TypedDict):
    scales: dict[str, int]
    targets: list[str]
    scores: list[ScoreSeries]
    curves: list[CurveSeries]
    histograms: list[HistogramRow]


def chart_data(inputs: ReportInputs, scores: pl.DataFrame) -> ChartData:
    curves = inputs.results.curves.frame
    names = [*scores["target"].unique(maintain_order=True), *curves["target"].unique(maintain_order=True)]
    targets = {name: number for number, name in enumerate(dict.fromkeys(names))}
    series = pl.concat_str("model", "pair", pl.lit("layer ") + pl.col("layer"), "metric", separator=" · ")
    histograms = inputs.distances.frame.select("words", "low", "high", "share", series=series)
    return {
        "scales": {"scores": SCORE_SCALE, "curves": CURVE_SCALE},
        "targets": [name[:MAX_NAME_CHARACTERS] for name in targets],
        "scores": _scores(scores, targets),
        "curves": _curves(curves, targets),
        "histograms": cast("list[HistogramRow]", histograms.to_dicts()),
    }


def _scores(scores: pl.DataFrame, targets: dict[str, int]) -> list[ScoreSeries]:
    groups = scores.group_by(SCORE_SERIES, maintain_order=True).agg("target", "mean", "sd", "gap", "gap_to").to_dicts()
    for group in groups:
        group["target"] = [targets[name] for name in group["target"]]
        group |= {name: _scaled(np.array(group[name], float), SCORE_SCALE) for name in ("mean", "sd", "gap")}
        group["gap_to"] = gap_heading(pl.Series(group["gap_to"], dtype=pl.String))
    return cast("list[ScoreSeries]", groups)


def _curves(curves: pl.DataFrame, targets: dict[str, int]) -> list[CurveSeries]:
    """One series per experiment, cut from arrays: a frame for each would take ten times as long."""
    when = pl.col("when").fill_null("before")
    task = pl.when(when == "before").then(pl.lit("")).otherwise(pl.col("task"))  # no task before fine-tuning
    labelled = curves.with_columns(when=when, task=task).with_columns(pl.col(CURVE_SERIES).fill_null(""))
    keys = labelled.select(CURVE_SERIES).unique(maintain_order=True).with_row_index("number")
    numbers = labelled.join(keys, on=CURVE_SERIES, maintain_order="left")["number"].to_numpy()
    position = 2 * pl.col("layer") + (pl.col("stage") == FINAL_NORM)
    target = pl.col("target").replace_strict(targets, return_dtype=pl.Int64)
    columns = labelled.select(target, position.alias("position"), *CURVE_VALUES)
    parts = np.split(columns[np.argsort(numbers, kind="stable")].to_numpy(), np.cumsum(np.bincount(numbers))[:-1])
    series = ({**key, **_values(part)} for key, part in zip(keys.drop("number").to_dicts(), parts, strict=False))
    return cast("list[CurveSeries]", list(series))


def _values(rows: Floats) -> CurveSeries:
    """The targets of a series, its layers, and the values of each target over all these layers."""
    (targets, across), (positions, down) = (np.unique(rows[:, column], return_inverse=True) for column in (0, 1))
    cells, shape = across * len(positions) + down, (len(targets), len(positions))
    counts = np.bincount(cells, minlength=targets.size * positions.size)
    with np.errstate(invalid="ignore"):  # 0 / 0 where nothing was measured
        means = [np.bincount(cells, values, counts.size) / counts for values in rows[:, 2:].T]
    value, low, high = (cast("list[Integers]", _scaled(mean.reshape(shape), CURVE_SCALE)) for mean in means)
    series: CurveSeries = {
        "target": targets.astype(int).tolist(),
        "layer": (positions // 2).astype(int).tolist(),
        "stage": [FINAL_NORM if position % 2 else "" for position in positions],
        "value": value,
    }
    if np.isfinite(means[1]).any():
        series |= {"low": low, "high": high}
    return series


def _scaled(values: Floats, scale: int) -> list[object]:
    """Integers of `1 / scale`; None for NaN, which JSON does not have.

    >>> _scaled(np.array([0.98765, np.nan]), 1000)
    [988, None]
    """
    finite = np.isfinite(values)
    integers = np.rint(np.where(finite, values, 0) * scale).astype(int)
    nullable = integers if finite.all() else np.where(finite, integers.astype(object), np.array(None))
    lists: list[object] = nullable.tolist()
    return lists
