"""What the charts of a page draw, small enough to be sent with it: means over seeds, one series per experiment.

A series holds its numbers in parallel lists and names targets by their place in one list, so that a million rows
become a few megabytes; the page takes out of it the few series that are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from isogloss.report.subject import Subject

SCORED = ["study", "model", "changes", "task", "source", "metric"]
MEASURED = ["study", "model", "changes", "task", "when", "source", "index"]
# numbers are sent as whole ones of such a part, which are shorter: scores to a hundredth of a point
SCORE_SCALE, CURVE_SCALE = 10_000, 1000

LONGEST = 60  # characters of a name; drawing a word of thousands takes a minute


def series(subject: Subject, scores: pl.DataFrame) -> dict[str, Any]:
    """`targets`, `scores`, `curves` and `histograms`, ready for JSON."""
    curves = subject.results.curves.frame
    names = [*scores["target"].unique(maintain_order=True), *curves["target"].unique(maintain_order=True)]
    targets = {name: number for number, name in enumerate(dict.fromkeys(names))}
    scored, measured = (
        frame.group_by(names, maintain_order=True) for frame, names in ((scores, SCORED), (_curves(curves), MEASURED))
    )
    return {
        "scales": {"scores": SCORE_SCALE, "curves": CURVE_SCALE},
        "targets": [name[:LONGEST] for name in targets],
        "scores": [_scored(key, rows, targets) for key, rows in scored],
        "curves": [_measured(key, rows, targets) for key, rows in measured],
        "histograms": _histograms(subject.distances.frame),
    }


def _histograms(frame: pl.DataFrame) -> list[dict[str, Any]]:
    named = pl.concat_str("model", "pair", pl.lit("layer ") + pl.col("layer"), "metric", separator=" · ")
    return frame.select("words", "low", "high", "share", series=named).to_dicts()


def _scored(key: tuple[Any, ...], rows: pl.DataFrame, targets: dict[str, int]) -> dict[str, Any]:
    return {
        **dict(zip(SCORED, key, strict=True)),
        "target": [targets[name] for name in rows["target"]],
        **{name: _numbers(rows[name], SCORE_SCALE) for name in ("mean", "sd", "gap")},
    }


def _curves(curves: pl.DataFrame) -> pl.DataFrame:
    """One row per experiment and target with lists over layers; before fine-tuning a curve is of no task."""
    when = pl.col("when").fill_null("before")
    task = pl.when(when == "before").then(pl.lit("")).otherwise(pl.col("task"))
    named = curves.with_columns(pl.col("study", "changes").fill_null(""), when=when, task=task)
    places = named.group_by([*MEASURED, "target", "layer", "stage"], maintain_order=True)
    means = places.agg(pl.col("value", "low", "high").mean()).sort("layer", maintain_order=True)
    return means.group_by([*MEASURED, "target"], maintain_order=True).agg("layer", "stage", "value", "low", "high")


def _measured(key: tuple[Any, ...], rows: pl.DataFrame, targets: dict[str, int]) -> dict[str, Any]:
    """A series: its targets, and for each a list over the places (layers, and the final norm) of all of them."""
    every = dict.fromkeys(place for row in rows.iter_rows(named=True) for place in zip(row["layer"], row["stage"]))
    places = sorted(every, key=lambda place: place[0])
    found: dict[str, Any] = {"target": [targets[name] for name in rows["target"]]}
    for name in ("value", "low", "high") if rows["low"].explode().count() else ("value",):  # where any was resampled
        found[name] = [_numbers(_placed(row, name, places), CURVE_SCALE) for row in rows.iter_rows(named=True)]
    layers, stages = zip(*places, strict=True)
    norms = [stage if stage == "final norm" else "" for stage in stages]
    return {**dict(zip(MEASURED, key, strict=True)), "layer": layers, "stage": norms, **found}


def _placed(row: dict[str, Any], name: str, places: Sequence[tuple[int, str]]) -> list[float | None]:
    own = dict(zip(zip(row["layer"], row["stage"]), row[name]))
    return [own.get(place) for place in places]


def _numbers(values: Iterable[float | None], scale: int) -> list[int | None]:
    """Whole numbers of `1 / scale`; null for what is no number, as JSON has no other word for it.

    >>> _numbers([0.98765, None, float("nan")], 1000)
    [988, None, None]
    """
    return [None if x is None or x != x or abs(x) == float("inf") else round(x * scale) for x in values]
