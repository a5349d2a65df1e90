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
    from isogloss.store.garbage import garbage, sweep

    if not (store / MARK).is_file():
        raise InputError(store, f"a store (with {MARK})", "none")
    kept = Store(store)
    found = garbage(kept, keep=keep or [], older=older)
    rows = [(one.path.relative_to(kept.folder), f"{one.size / 1e6:,.2f} MB", one.why) for one in found]
    total = f"{len(found)} things, {sum(one.size for one in found) / 1e6:,.1f} MB"
    if found:
        show_table(f"{store}: {total}", ("what", "size", "why"), rows)
    if delete:
        sweep(kept, found)
        out.print(f"removed: {total}")
    elif found:
        out.print("nothing was removed; --delete removes them")
    else:
        out.print("nothing to remove")
