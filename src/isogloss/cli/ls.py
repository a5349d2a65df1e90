"""`isogloss ls [SHELF]`: everything registered, one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated

import typer

from isogloss.cli.screen import show_table
from isogloss.core.registry import check_name

Row = tuple[object, ...]


def formats() -> Iterable[Row]:
    from isogloss.corpora.readers import FORMATS

    return ((name, FORMATS[name].kind, FORMATS[name].summary) for name in FORMATS)


def laboratory() -> Iterable[Row]:
    from isogloss.corpora.lab.languages import LANGUAGES

    for language in LANGUAGES.values():
        yield language.code, language.name, language.summary


# shelf → (what a row holds, its rows); a new registry is one line here
SHELVES: dict[str, tuple[tuple[str, ...], Callable[[], Iterable[Row]]]] = {
    "formats": (("format", "kind", "what it is"), formats),
    "laboratory": (("code", "name", "what it is"), laboratory),
}
ON_REQUEST = {"languages"}  # long or slow to gather: shown only when named


def ls(
    shelf: Annotated[str | None, typer.Argument(help=f"One of: {', '.join(SHELVES)}. All if omitted.")] = None,
) -> None:
    """List what isogloss knows: formats, indexes, model families, laboratory languages …"""
    wanted = [check_name(shelf, SHELVES, "shelf")] if shelf else [s for s in SHELVES if s not in ON_REQUEST]
    for name in wanted:
        columns, rows = SHELVES[name]
        show_table(name, columns, rows())
