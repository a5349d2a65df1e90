"""What commands share when they speak: two consoles and plain tables."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape
from rich.table import Table

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def complain(message: str) -> None:
    """One error line on standard error, never wrapped or read as markup."""
    err.print(f"[bold red]error:[/] {escape(message)}", soft_wrap=True)


def warn(message: str) -> None:
    err.print(f"[yellow]note:[/] {escape(message)}", soft_wrap=True)


def show_table(title: str, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """A table that fits the terminal; text from files is never read as markup."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for i, column in enumerate(columns):
        table.add_column(column, style="cyan" if i == 0 else None, no_wrap=i == 0, header_style="dim")
    for row in rows:
        table.add_row(*(escape(str(cell)) for cell in row))
    out.print(table)
