"""Tables for people: any frame of rows as text cells, and differences to the reference laid out as in the paper.

A cell knows its text and, where it has one, its class of colour; `table_formats` writes tables as Markdown, LaTeX,
CSV and HTML. Numbers keep the plain minus sign here: each format has its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.results.comparisons.deltas import CELL, REFERENCE
from isogloss.results.tables.cell_colours import STEPS, cell_class, legend

POINTS_PER_UNIT = 100  # scores are 0 to 1 in rows, and points in papers
PUBLISHED = ["task", "source", "target", "change", "metric"]  # and the model, where they tell several apart


@dataclass(frozen=True)
class Cell:
    """Text; whether it is a number; its class of colour (see `cell_colours.SHADES`), if any."""

    text: str
    number: bool = False
    shade: str = ""


@dataclass(frozen=True)
class Table:
    """Head and body; `legend` says what the classes of colour in it mean."""

    head: tuple[str, ...]
    body: tuple[tuple[Cell, ...], ...]
    legend: dict[str, str] = field(default_factory=dict)


def frame_table(frame: pl.DataFrame, decimals: int = 2) -> Table:
    """Any frame, one column for each of its own; what is not there stays empty.

    >>> frame_table(pl.DataFrame({"target": ["fr"], "gap": [0.456]})).body[0][1].text
    '0.46'
    """
    body = tuple(tuple(_cell(value, decimals) for value in row) for row in frame.iter_rows())
    return Table(tuple(frame.columns), body)


def delta_table(
    frame: pl.DataFrame,
    *,
    reference: str = REFERENCE,
    intervals: bool = False,
    steps: Sequence[float] = STEPS,
    decimals: int = 2,
) -> Table:
    """Rows of `deltas` or `source_to_x` as the paper prints them: REF, then Δ for each change, in points.

    Stars mark significance, `intervals` adds them in brackets, and values that `with_published` found stand in
    parentheses. Columns that say the same in every row (one task, one metric …) are left out.
    """
    label = "pair" if "pair" in frame.columns else None
    told = [name for name in CELL if name not in {"source", "target"} and frame[name].n_unique() > 1]
    changes = frame["change"].unique(maintain_order=True).to_list()
    body = []
    for key, rows in frame.group_by(CELL, maintain_order=True):
        cell = dict(zip(CELL, key, strict=True))
        by_change = {row["change"]: row for row in rows.iter_rows(named=True)}
        fullest = max(by_change.values(), key=lambda row: row["seeds"])
        name = fullest[label] if label else f"{cell['source']}-{cell['target']}"
        home = _beside(_points(fullest["reference"], decimals), fullest.get("published_reference"), decimals)
        shown = [_delta_cell(by_change.get(change), intervals, steps, decimals) for change in changes]
        body.append((*(Cell(cell[one]) for one in told), Cell(name), Cell(home, number=True), *shown))
    head = (*told, "source-target", reference, *(f"Δ {change}" for change in changes))
    return Table(head, tuple(body), legend(steps))


def score_table(frame: pl.DataFrame, *, decimals: int = 2) -> Table:
    """Rows of `Results.table` in points: mean and deviation over seeds, and the gap to the source's own score.

    As in `delta_table`, published values stand in parentheses and columns that say the same in every row are left out.
    """
    told = [name for name in CELL if name not in {"source", "target"} and frame[name].n_unique() > 1]
    body = []
    for row in frame.iter_rows(named=True):
        mean = _beside(_points(row["mean"], decimals), row.get("published_reference"), decimals)
        numbers = (mean, *(_points(row[name], decimals) for name in ("sd", "gap")), str(row["seeds"]))
        named = (*(row[name] for name in told), f"{row['source']}-{row['target']}")
        body.append((*map(Cell, named), *(Cell(text, number=True) for text in numbers)))
    return Table((*told, "source-target", "mean", "sd", "gap", "seeds"), tuple(body))


def with_published(frame: pl.DataFrame, published: pl.DataFrame, *, reference: str = REFERENCE) -> pl.DataFrame:
    """Rows of `deltas` or `source_to_x` with `published` and `published_reference`, where there are such values.

    `published` has the columns task, source, target, change, metric and value: for the reference the score, for
    the other changes their difference to it, in points as printed. With a column `model` each model has its own.
    """
    if lacking := [name for name in [*PUBLISHED, "value"] if name not in published.columns]:
        raise UsageError(f"published values: expected columns {', '.join([*PUBLISHED, 'value'])}; no {lacking[0]}")
    key = [*PUBLISHED, "model"] if "model" in published.columns else PUBLISHED
    if published.select(key).is_duplicated().any():
        raise UsageError(f"published values: expected one value for each {', '.join(key[:-1])} and {key[-1]}")
    values = published.select(*key, published=pl.col("value").cast(pl.Float64) / POINTS_PER_UNIT)
    homes = values.filter(pl.col("change") == reference).drop("change").rename({"published": "published_reference"})
    joined = frame.join(values, on=key, how="left", maintain_order="left")
    return joined.join(homes, on=homes.columns[:-1], how="left", maintain_order="left")


def _cell(value: Any, decimals: int) -> Cell:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Cell("" if value is None else str(value))
    return Cell(_number(value, decimals) if isinstance(value, float) else str(value), number=True)


def _delta_cell(row: dict[str, Any] | None, intervals: bool, steps: Sequence[float], decimals: int) -> Cell:
    if row is None or row["delta"] is None:
        return Cell("", number=True)
    text = _points(row["delta"], decimals) + row["stars"]
    if intervals and row["low"] is not None:
        text += f" [{_points(row['low'], decimals)}, {_points(row['high'], decimals)}]"
    shade = cell_class(row["delta"] * POINTS_PER_UNIT, steps, decimals)
    return Cell(_beside(text, row.get("published"), decimals), number=True, shade=shade)


def _beside(measured: str, published: float | None, decimals: int) -> str:
    """A measured value with the published one in parentheses."""
    return measured if published is None else f"{measured} ({_points(published, decimals)})"


def _points(value: float | None, decimals: int) -> str:
    return "" if value is None else _number(value * POINTS_PER_UNIT, decimals)


def _number(value: float, decimals: int) -> str:
    """A number with so many decimals; nothing is ever minus zero."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}"
