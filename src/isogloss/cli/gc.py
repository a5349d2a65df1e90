"""`isogloss gc STORE`: list what can be removed from a store, and remove it with --delete."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from isogloss.cli.screen import out, show_table


def gc(
    store: Annotated[Path, Argument(help="Folder of the store.")],
    keep: Annotated[
        list[str] | None,
        Option(help="Name of a study to keep, repeatable; entries that no such study uses can be removed."),
    ] = None,
    older: Annotated[float | None, Option(min=0, help="Age in days from which entries can be removed.")] = None,
    delete: Annotated[bool, Option("--delete", help="Remove the listed entries.")] = False,
) -> None:
    """List temporary files, damaged entries and entries that are no longer needed (--keep, --older), or remove them."""
    from isogloss.core.errors import InputError
    from isogloss.store.entries import MARK, Store
    from isogloss.store.garbage import garbage, remove_garbage

    if not (store / MARK).is_file():
        raise InputError(store, f"a store (with {MARK})", "none")
    opened = Store(store)
    removable = garbage(opened, keep=keep or [], older=older)
    rows = [(item.path.relative_to(opened.folder), f"{item.size / 1e6:,.2f} MB", item.why) for item in removable]
    total = f"{len(removable)} entries, {sum(item.size for item in removable) / 1e6:,.1f} MB"
    if removable:
        show_table(f"{store}: {total} can be removed", ("entry", "size", "reason"), rows)
    if delete:
        remove_garbage(opened, removable)
        out.print(f"removed: {total}")
    elif removable:
        out.print("nothing was removed; use --delete to remove these entries")
    else:
        out.print("nothing to remove")
