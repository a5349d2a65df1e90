"""Tables of text cells: any frame of rows, and differences to the reference laid out as in the paper.

A cell has its text and, optionally, a colour class; `tables.formats` writes tables as Markdown, LaTeX and CSV. Numbers
keep the plain minus sign here: each format has its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.results.comparisons.deltas import CELL, REFERENCE
from isogloss.results.tables.cell_colours import PRINTED_DECIMALS, cell_class, legend
from isogloss.results.tables.points import POINTS_PER_UNIT, fixed

PUBLISHED_KEY = ["task", "source", "target", "change", "metric"]  # and `model`, where it is given
Row = Mapping[str, object]


@dataclass(frozen=True)
class Cell:
    """Text; whether it is a number; its colour class (see `cell_colours.SHADES`), if any."""

    text: str
    number: bool = False
    shade: str = ""


@dataclass(frozen=True)
class Table:
    """Head and body; `legend` explains the colour classes."""

    head: tuple[str, ...]
    body: tuple[tuple[Cell, ...], ...]
    legend: dict[str, str] = field(default_factory=dict)

    @property
    def shades(self) -> set[str]:
        """The colour classes that occur in the body and have a legend."""
        return {cell.shade for row in self.body for cell in row} & self.legend.keys()


def frame_table(frame: pl.DataFrame, decimals: int = 2) -> Table:
    """Any frame; nulls become empty cells.

    >>> frame_table(pl.DataFrame({"target": ["fr"], "gap": [0.456]})).body[0][1].text
    '0.46'
    """
    body = tuple(tuple(_cell(value, decimals) for value in row) for row in frame.iter_rows())
    return Table(tuple(frame.columns), body)


def delta_table(frame: pl.DataFrame, *, reference: str = REFERENCE, intervals: bool = False) -> Table:
    """Rows of `deltas` or `source_to_x` as in the paper: REF, then Δ for each condition, in points.

    Stars mark significance, `intervals` adds intervals in brackets, and published values (see `with_published`) are in
    parentheses. Columns with the same value in every row (one task, one metric …) are omitted.
    """
    distinct = _distinct_columns(frame)
    changes = frame["change"].unique(maintain_order=True).to_list()
    body = []
    for key, rows in frame.group_by(CELL, maintain_order=True):
        cell = dict(zip(CELL, key, strict=True))
        by_change = {row["change"]: row for row in rows.iter_rows(named=True)}
        complete = max(by_change.values(), key=lambda row: row["seeds"])
        pair = complete["pair"] if "pair" in frame.columns else f"{cell['source']}-{cell['target']}"
        baseline = _with_published_text(_points(complete["reference"]), complete.get("published_reference"))
        differences = [_delta_cell(by_change.get(change), intervals) for change in changes]
        names = (Cell(str(cell[name])) for name in distinct)
        body.append((*names, Cell(pair), Cell(baseline, number=True), *differences))
    head = (*distinct, "source-target", reference, *(f"Δ {change}" for change in changes))
    return Table(head, tuple(body), legend())


def score_table(frame: pl.DataFrame) -> Table:
    """Rows of `Results.table` in points: mean and standard deviation over seeds, and the gap to the source score.

    As in `delta_table`, published values are in parentheses and columns with a single value are omitted.
    """
    distinct = _distinct_columns(frame)
    body = []
    for row in frame.iter_rows(named=True):
        mean = _with_published_text(_points(row["mean"]), row.get("published_reference"))
        numbers = (mean, *(_points(row[name]) for name in ("sd", "gap")), str(row["seeds"]))
        names = (*(row[name] for name in distinct), f"{row['source']}-{row['target']}")
        body.append((*map(Cell, names), *(Cell(text, number=True) for text in numbers)))
    return Table((*distinct, "source-target", "mean", "sd", "gap", "seeds"), tuple(body))


def with_published(frame: pl.DataFrame, published: pl.DataFrame, *, reference: str = REFERENCE) -> pl.DataFrame:
    """Rows of `deltas` or `source_to_x` with `published` and `published_reference`, where available.

    `published` has the columns task, source, target, change, metric and value: for the reference the score, for
    other conditions the difference to it, in points. A column `model` restricts a value to one model.
    """
    if missing := [name for name in [*PUBLISHED_KEY, "value"] if name not in published.columns]:
        expected = ", ".join([*PUBLISHED_KEY, "value"])
        raise UsageError(f"published values: expected columns {expected}; no {missing[0]}")
    key = [*PUBLISHED_KEY, "model"] if "model" in published.columns else PUBLISHED_KEY
    if published.select(key).is_duplicated().any():
        raise UsageError(f"published values: expected one value for each {', '.join(key[:-1])} and {key[-1]}")
    values = published.select(*key, published=pl.col("value").cast(pl.Float64) / POINTS_PER_UNIT)
    references = values.filter(pl.col("change") == reference).drop("change")
    references = references.rename({"published": "published_reference"})
    joined = frame.join(values, on=key, how="left", maintain_order="left")
    return joined.join(references, on=references.columns[:-1], how="left", maintain_order="left")


def _distinct_columns(frame: pl.DataFrame) -> list[str]:
    """The columns that differ between rows, and the scorer where there is one."""
    names = [name for name in CELL if name not in {"source", "target", "scorer"} and frame[name].n_unique() > 1]
    return [*names, "scorer"] if frame["scorer"].str.len_chars().sum() else names


def _cell(value: object, decimals: int) -> Cell:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Cell("" if value is None else str(value))
    return Cell(fixed(value, decimals) if isinstance(value, float) else str(value), number=True)


def _delta_cell(row: Row | None, intervals: bool) -> Cell:
    if row is None or row["delta"] is None:
        return Cell("", number=True)
    text = f"{_points(row['delta'])}{row['stars']}"
    if intervals and row["low"] is not None:
        text += f" [{_points(row['low'])}, {_points(row['high'])}]"
    shade = cell_class(_number(row["delta"]) * POINTS_PER_UNIT)
    return Cell(_with_published_text(text, row.get("published")), number=True, shade=shade)


def _with_published_text(measured: str, published: object) -> str:
    """A measured value with the published one in parentheses."""
    return measured if published is None else f"{measured} ({_points(published)})"


def _points(value: object) -> str:
    return "" if value is None else fixed(_number(value) * POINTS_PER_UNIT, PRINTED_DECIMALS)


def _number(value: object) -> float:
    assert isinstance(value, int | float)
    return float(value)
