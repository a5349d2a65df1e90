"""Output shared by all commands: two consoles, tables, progress bars and warnings."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from isogloss.core.files import repair_notes

if TYPE_CHECKING:
    import polars as pl

    from isogloss.corpora.corpus import AnyCorpus
    from isogloss.corpora.parallel import ParallelSet
    from isogloss.results.tables.tables import Cell
    from isogloss.results.tables.tables import Table as ResultTable

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def print_error(message: str) -> None:
    """Print an error on one line of standard error, without wrapping or markup."""
    err.print(f"[bold red]error:[/] {escape(message)}", soft_wrap=True)


def print_note(message: str) -> None:
    err.print(f"[yellow]note:[/] {escape(message)}", soft_wrap=True)


def print_repairs(corpus: AnyCorpus | ParallelSet) -> None:
    for note in repair_notes(corpus.repairs):
        print_note(note)


def print_written(*paths: Path | str) -> None:
    for path in paths:
        out.print(f"written: {path}", soft_wrap=True, markup=False)


@contextlib.contextmanager
def library_warnings() -> Iterator[None]:
    """Print warnings of isogloss (a truncated sentence, for example) as notes; those of other packages are ignored."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught if warning.category is UserWarning):
        print_note(message)


@contextlib.contextmanager
def progress_bars(title: str) -> Iterator[Callable[[str, int, int], None]]:
    """A function (label, done, total) that draws one bar per label on standard error, if that is a terminal."""
    with new_progress() as progress:
        tasks = {}

        def show(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = progress.add_task(escape(f"{title}: {label}"), total=total, state="")
            progress.update(tasks[label], completed=done)

        yield show


def new_progress(amount: ProgressColumn | None = None) -> Progress:
    """Progress bars with a `state` text on standard error, which disappear; disabled if that is not a terminal."""
    label, state = TextColumn("{task.description}"), TextColumn("{task.fields[state]}")
    columns = (label, BarColumn(), amount or MofNCompleteColumn(), TimeRemainingColumn(), state)
    return Progress(*columns, console=err, transient=True, disable=not err.is_terminal)


def log_lines(min_seconds: float = 30.0) -> Callable[[str, str], None]:
    """A function (task, line) that prints at most one line per task every `min_seconds`.

    It replaces progress bars where standard error is not a terminal.
    """
    last: dict[str, float] = {}

    def print_line(task: str, line: str) -> None:
        now = time.monotonic()
        if task not in last or now - last[task] >= min_seconds:
            last[task] = now
            err.print(f"{task}: {line}", soft_wrap=True, markup=False)

    return print_line


def show_table(title: str, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a table that fits the terminal; text from files is not interpreted as markup."""
    if title:  # not the table's own title, which is wrapped at the width of the table
        out.print(Text(title, style="bold"))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for i, column in enumerate(columns):
        table.add_column(column, style="cyan" if i == 0 else None, no_wrap=i == 0, header_style="dim")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else escape(str(cell)) for cell in row))
    out.print(table)


def show_result_table(title: str, table: ResultTable) -> None:
    """Print a table with its footnotes; published values that are not comparable are dim."""
    show_table(title, table.head, ([_cell_text(table, cell) for cell in row] for row in table.body))
    for note in table.footnotes:
        out.print(note, soft_wrap=True, markup=False)


def _cell_text(table: ResultTable, cell: Cell) -> Text:
    line = table.line(cell)
    measured = cell.text if cell.published or not cell.mismatch else ""
    return Text.assemble(measured, (line.removeprefix(measured), "dim" if cell.mismatch else ""))


def show_frame(title: str, frame: pl.DataFrame, number_format: str) -> None:
    show_table(title, frame.columns, ([format_cell(cell, number_format) for cell in row] for row in frame.iter_rows()))


def format_cell(cell: object, number_format: str) -> object:
    """
    >>> format_cell(0.25, ".3f"), format_cell(None, ".3f"), format_cell("fr", ".3f")
    ('0.250', '–', 'fr')
    """
    return f"{cell:{number_format}}" if isinstance(cell, float) else "–" if cell is None else cell
