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
    from isogloss.corpora.corpus import read_corpus
    from isogloss.corpora.readers import FORMATS, detect_format

    chosen = FORMATS[format] if format else detect_format(file)
    corpus = read_corpus(file, chosen, lang=lang, repair=repair)
    rows = [("format", f"{chosen.name} ({chosen.summary})"), ("language", corpus.lang)]
    rows += [(what, f"{number:,}") for what, number in corpus.counts.items()]
    show_table(f"{file}: a {chosen.kind} corpus", ("", ""), rows)
    for error in corpus.repairs:
        warn(f"repaired or left out: {error}")
    if not corpus.repairs:
        out.print("[green]valid[/]")
