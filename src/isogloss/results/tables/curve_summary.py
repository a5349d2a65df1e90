"""Summary of curves: similarity at the first, the best and the last layer, and the verdict, before and after
fine-tuning."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from isogloss.indexes.labels import index_label
from isogloss.results.comparisons.target_languages import other_languages
from isogloss.results.rows.curves import FINAL_NORM, Curves
from isogloss.results.tables.tables import Cell, Table

TIMES = ("before", "after")
PLACES = ("first", "best", "last")
MAX_ROWS = 40  # of a table in a terminal


def curve_table(curves: Curves) -> Table:
    """One row per pair and index, means over seeds; the number of the best layer is in parentheses.

    The verdict is that of first align, then predict; several verdicts of a row are counted.
    With more than `MAX_ROWS` rows, each row is the mean over the languages that a source is compared with instead.
    """
    times = [when for when in TIMES if when in curves.frame["when"]]
    labels = [name for name in curves.labels if name not in ("seed", "when") and curves.frame[name].n_unique() > 1]
    if times == ["before"]:  # the same for every task
        labels = [name for name in labels if name != "task"]
    judgings = [when for when in times if not curves.shapes.is_empty() and when in curves.shapes["when"]]
    key = [*labels, "source", "target", "index"]
    summary = _summary(curves.frame, key)
    if summary.select(key).n_unique() > MAX_ROWS:
        key.remove("target")
        summary = _summary(_mean_over_languages(curves.frame, key), key)
    body = []
    for values, rows in summary.group_by(key, maintain_order=True):
        properties = dict(zip(key, map(str, values), strict=True))
        pair = f"{properties['source']}-{properties.get('target', 'X')}"
        by_time = {row["when"]: row for row in rows.iter_rows(named=True)}
        names = (*(properties[name] for name in labels), pair, index_label(properties["index"]))
        numbers = [_value_text(by_time.get(when), place) for when in times for place in PLACES]
        judged = [_verdicts(curves.shapes, {**dict(zip(key, values, strict=True)), "when": when}) for when in judgings]
        body.append((*map(Cell, names), *(Cell(number, number=True) for number in numbers), *map(Cell, judged)))
    single = times == ["before"]
    places = [f"{place} layer" if single else f"{when} {place}" for when in times for place in PLACES]
    verdicts = ["verdict" if single else f"{when} verdict" for when in judgings]
    return Table((*labels, "source-target", "index", *places, *verdicts), tuple(body))


def _verdicts(shapes: pl.DataFrame, key: Mapping[str, object]) -> str:
    """The verdict of the curves with these properties, or how many of them have each verdict."""
    rows = shapes.filter(pl.col(name).eq_missing(pl.lit(value)) for name, value in key.items())
    counts = rows.group_by("verdict", maintain_order=True).len().rows()
    return counts[0][0] if len(counts) == 1 else ", ".join(f"{verdict} {number}" for verdict, number in counts)


def _mean_over_languages(frame: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    """One value per language, whatever the number of its texts; all texts if their names are those of no language."""
    counted = other_languages(frame)
    if counted.is_empty():
        return frame
    return counted.group_by([*key, "when", "layer", "stage", "language"], maintain_order=True).agg(
        pl.col("value").mean()
    )


def _summary(frame: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    """First, best and last value of each mean curve, and the best layer; the final norm is not a layer."""
    rows = frame.filter(pl.col("stage") != FINAL_NORM, pl.col("value").is_finite())
    means = rows.group_by([*key, "when", "layer"], maintain_order=True).agg(pl.col("value").mean()).sort("layer")
    return means.group_by([*key, "when"], maintain_order=True).agg(
        first=pl.col("value").first(),
        best=pl.col("value").max(),
        layer=pl.col("layer").get(pl.col("value").arg_max()),
        last=pl.col("value").last(),
    )


def _value_text(row: dict[str, float] | None, place: str) -> str:
    if row is None:
        return ""
    return f"{row[place]:.2f}" + (f" ({row['layer']})" if place == "best" else "")
