"""`isogloss validate FILE`: what a file is, what is in it, or what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.screen import out, show_table, warn


def validate(
    file: Annotated[Path, typer.Argument(help="A corpus file, plain or compressed (.gz, .xz, .bz2).")],
    format: Annotated[
        str | None, typer.Option("--format", "-f", help="Read it as this format (see `isogloss ls formats`).")
    ] = None,
    lang: Annotated[str | None, typer.Option(help="Language code, where the file's name does not say it.")] = None,
    repair: Annotated[bool, typer.Option(help="Mend or leave out what is broken, and list it.")] = False,
) -> None:
    """Say what kind of corpus a file is and count it, or say what is wrong and where."""
    from isogloss.corpora.readers import read_file

    corpus = read_file(file, format, lang=lang, repair=repair)
    rows = [("format", f"{corpus.format.name} ({corpus.format.summary})"), ("language", corpus.lang)]
    rows += [(what, f"{number:,}") for what, number in corpus.counts.items()]
    show_table(f"{file}: {corpus.format.kind}", ("", ""), rows)
    for error in corpus.repairs:
        warn(f"repaired or left out: {error}")
    if not corpus.repairs:
        out.print("[green]valid[/]")
