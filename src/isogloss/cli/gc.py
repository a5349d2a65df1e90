"""`isogloss gc STORE`: what can be removed from a store; with --delete it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.screen import out, show_table


def gc(
    store: Annotated[Path, typer.Argument(help="The store's folder.")],
    keep: Annotated[
        list[str] | None, typer.Option(help="Names of studies; entries that none of them uses can go.")
    ] = None,
    older: Annotated[float | None, typer.Option(min=0, help="Entries made so many days ago can go.")] = None,
    delete: Annotated[bool, typer.Option("--delete", help="Remove them; without it they are only listed.")] = False,
) -> None:
    """List leftovers, damaged entries and (with --keep, --older) entries no longer needed, or remove them."""
    from isogloss.core.errors import InputError
    from isogloss.store.entries import MARK, Store
    from isogloss.store.garbage import garbage, remove_garbage

    if not (store / MARK).is_file():
        raise InputError(store, f"a store (with {MARK})", "none")
    opened = Store(store)
    removable = garbage(opened, keep=keep or [], older=older)
    rows = [(item.path.relative_to(opened.folder), f"{item.size / 1e6:,.2f} MB", item.why) for item in removable]
    total = f"{len(removable)} things, {sum(item.size for item in removable) / 1e6:,.1f} MB"
    if removable:
        show_table(f"{store}: {total}", ("what", "size", "why"), rows)
    if delete:
        remove_garbage(opened, removable)
        out.print(f"removed: {total}")
    elif removable:
        out.print("nothing was removed; --delete removes them")
    else:
        out.print("nothing to remove")
