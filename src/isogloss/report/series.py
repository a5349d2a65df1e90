"""What the charts of a page draw, small enough to be sent with it: means over seeds, one series per experiment.

A series holds its numbers in parallel lists and names targets by their place in one list, so that a million rows
become a few megabytes; the page takes out of it the few series that are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from isogloss.report.subject import Subject

SCORED = ["study", "model", "changes", "task", "source", "metric"]
MEASURED = ["study", "model", "changes", "task", "when", "source", "index"]
DECIMALS = 4


def series(subject: Subject, scores: pl.DataFrame) -> dict[str, Any]:
    """`targets`, `scores`, `curves` and `histograms`, ready for JSON."""
    curves = subject.results.curves.frame
    names = [*scores["target"].unique(maintain_order=True), *curves["target"].unique(maintain_order=True)]
    targets = {name: number for number, name in enumerate(dict.fromkeys(names))}
    scored, measured = (
        frame.group_by(names, maintain_order=True) for frame, names in ((scores, SCORED), (_curves(curves), MEASURED))
    )
    return {
        "targets": list(targets),
        "scores": [_scored(key, rows, targets) for key, rows in scored],
        "curves": [_measured(key, rows, targets) for key, rows in measured],
        "histograms": subject.histograms.to_dicts(),
    }


def _scored(key: tuple[Any, ...], rows: pl.DataFrame, targets: dict[str, int]) -> dict[str, Any]:
    return {
        **dict(zip(SCORED, key, strict=True)),
        "target": [targets[name] for name in rows["target"]],
        **{name: _numbers(rows[name]) for name in ("mean", "sd", "gap")},
    }


def _curves(curves: pl.DataFrame) -> pl.DataFrame:
    """One row per experiment, target, layer and stage; what was measured before fine-tuning is of no task."""
    when = pl.col("when").fill_null("before")
    task = pl.when(when == "before").then(pl.lit("")).otherwise(pl.col("task"))
    named = curves.with_columns(pl.col("study", "changes").fill_null(""), when=when, task=task)
    rows = named.group_by([*MEASURED, "target", "layer", "stage"], maintain_order=True)
    return rows.agg(pl.col("value", "low", "high").mean())


def _measured(key: tuple[Any, ...], rows: pl.DataFrame, targets: dict[str, int]) -> dict[str, Any]:
    places = rows.select("layer", "stage").unique(maintain_order=True).sort("layer", maintain_order=True)
    found: dict[str, Any] = {"target": [], "value": [], "low": [], "high": []}
    for (target,), own in rows.group_by("target", maintain_order=True):
        placed = places.join(own, on=["layer", "stage"], how="left", maintain_order="left")
        found["target"].append(targets[str(target)])
        for name in ("value", "low", "high"):
            found[name].append(_numbers(placed[name]))
    if not any(number is not None for one in found["low"] for number in one):
        del found["low"], found["high"]  # nothing was resampled
    stages = [stage if stage == "final norm" else "" for stage in places["stage"]]
    return {**dict(zip(MEASURED, key, strict=True)), "layer": places["layer"].to_list(), "stage": stages, **found}


def _numbers(values: Iterable[float | None]) -> list[float | None]:
    """Rounded, and null for what is no number: JSON has no other word for it."""
    return [None if x is None or x != x or abs(x) == float("inf") else round(x, DECIMALS) for x in values]
