"""Tables of text cells: any frame of rows, and differences to the reference laid out as in the paper.

A cell has its text and, optionally, a colour class; `tables.formats` writes tables as Markdown, LaTeX and CSV. Numbers
keep the plain minus sign here: each format has its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import polars as pl

from isogloss.results.comparisons.deltas import CELL, REFERENCE
from isogloss.results.rows.results import gap_heading
from isogloss.results.tables.cell_colours import PRINTED_DECIMALS, cell_class, legend
from isogloss.results.tables.points import POINTS_PER_UNIT, fixed

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
Row = Mapping[str, object]


@dataclass(frozen=True)
class Cell:
    """Text; whether it is a number; its colour class (see `cell_colours.SHADES`); the published value beside it.

    `mismatch`: why a published value, which is `published` or else the text, is not comparable; it is shown in grey.
    """

    text: str
    number: bool = False
    shade: str = ""
    published: str = ""
    mismatch: str = ""


@dataclass(frozen=True)
class Table:
    """Head and body; `legend` explains the colour classes, `notes` are sentences below the table."""

    head: tuple[str, ...]
    body: tuple[tuple[Cell, ...], ...]
    legend: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def shades(self) -> set[str]:
        """The colour classes that occur in the body and have a legend."""
        return {cell.shade for row in self.body for cell in row} & self.legend.keys()

    @cached_property
    def mismatches(self) -> list[str]:
        """Why published values are not comparable: the footnotes of the table, numbered from 1."""
        return list(dict.fromkeys(cell.mismatch for row in self.body for cell in row if cell.mismatch))

    @property
    def footnotes(self) -> list[str]:
        """The notes and the reasons with their marks."""
        reasons = enumerate(self.mismatches, 1)
        return [*self.notes, *(f"{superscript(n)} Published value not comparable: {reason}." for n, reason in reasons)]

    def mark(self, cell: Cell) -> str:
        """The number of the cell's footnote as a superscript."""
        return superscript(self.mismatches.index(cell.mismatch) + 1) if cell.mismatch else ""

    def line(self, cell: Cell) -> str:
        """The text of a cell with its published value in parentheses and the mark of its footnote."""
        return f"{cell.text} ({cell.published})".removesuffix(" ()") + self.mark(cell)


def superscript(number: int) -> str:
    """
    >>> superscript(12)
    '¹²'
    """
    return str(number).translate(SUPERSCRIPTS)


def frame_table(frame: pl.DataFrame, decimals: int = 2) -> Table:
    """Any frame; nulls become empty cells.

    >>> frame_table(pl.DataFrame({"target": ["fr"], "gap": [0.456]})).body[0][1].text
    '0.46'
    """
    body = tuple(tuple(_cell(value, decimals) for value in row) for row in frame.iter_rows())
    return Table(tuple(frame.columns), body)


def delta_table(frame: pl.DataFrame, *, reference: str = REFERENCE, intervals: bool = False) -> Table:
    """Rows of `deltas` or `source_to_x` as in the paper: REF, then Δ for each condition, in points.

    Stars mark significance (see `marks`), `intervals` adds intervals in brackets, and published values (see
    `published_values`) are in parentheses. Columns with the same value in every row (one task, one metric …) are
    omitted.
    """
    distinct = _distinct_columns(frame)
    changes = frame["change"].unique(maintain_order=True).to_list()
    body = []
    for key, rows in frame.group_by(CELL, maintain_order=True):
        cell = dict(zip(CELL, key, strict=True))
        by_change = {row["change"]: row for row in rows.iter_rows(named=True)}
        complete = max(by_change.values(), key=lambda row: row["seeds"])
        pair = complete["pair"] if "pair" in frame.columns else f"{cell['source']}-{cell['target']}"
        baseline = _with_published(Cell(_points(complete["reference"]), number=True), complete, "reference")
        differences = [_delta_cell(by_change.get(change), intervals) for change in changes]
        names = (Cell(str(cell[name])) for name in distinct)
        body.append((*names, Cell(pair), baseline, *differences))
    head = (*distinct, "source-target", reference, *(f"Δ {change}" for change in changes))
    return Table(head, tuple(body), legend())


def score_table(frame: pl.DataFrame) -> Table:
    """Rows of `Results.table` in points: mean and standard deviation over seeds, and the gap to the source score.

    As in `delta_table`, published values are in parentheses and columns with a single value are omitted.
    """
    distinct, heading = _distinct_columns(frame), gap_heading(frame["gap_to"])
    body = []
    for row in frame.iter_rows(named=True):
        mean = _with_published(Cell(_points(row["mean"]), number=True), row, "reference")
        numbers = (Cell(_points(row[name]), number=True) for name in ("sd", "gap"))
        names = (*(row[name] for name in distinct), f"{row['source']}-{row['target']}")
        gap_to = (Cell(row["gap_to"]),) if heading == "gap" else ()
        body.append((*map(Cell, names), mean, *numbers, *gap_to, Cell(str(row["seeds"]), number=True)))
    head = (
        *distinct,
        "source-target",
        "mean",
        "sd",
        heading,
        *(("gap to source",) if heading == "gap" else ()),
        "seeds",
    )
    return Table(head, tuple(body))


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
    return _with_published(Cell(text, number=True, shade=shade), row)


def _with_published(cell: Cell, row: Row, of: str = "") -> Cell:
    """The cell with the published value of its row, or `of` the reference."""
    published, mismatch = (row.get(name) for name in (f"published_{of}".rstrip("_"), f"{of}_mismatch".lstrip("_")))
    return cell if published is None else replace(cell, published=_points(published), mismatch=str(mismatch or ""))


def _points(value: object) -> str:
    return "" if value is None else fixed(_number(value) * POINTS_PER_UNIT, PRINTED_DECIMALS)


def _number(value: object) -> float:
    assert isinstance(value, int | float)
    return float(value)
