"""`isogloss report STORE|RESULTS -o report.html`: one page about a study, or about files of results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.screen import out, progress_bars


def report(
    about: Annotated[
        list[Path], typer.Argument(metavar="STORE|RESULTS…", help="A store, or files of rows, curves and predictions.")
    ],
    output: Annotated[Path, typer.Option("--out", "-o", help="The page to write (.html).")] = Path("report.html"),
    study: Annotated[str | None, typer.Option(help="Which study of the store, if it holds several.")] = None,
    export: Annotated[
        Path | None,
        typer.Option(help="A folder for every table (.tex .md .csv) and figure (.svg .png .pdf) as well."),
    ] = None,
) -> None:
    """Write a page with findings, tables, charts and examples; it works offline, on a phone and on paper."""
    from isogloss.report.write_report import write_report

    with progress_bars("report") as tell:
        write_report(about, output, study=study, folder=export, progress=tell)
    out.print(f"written: {output}", soft_wrap=True)
    if export:
        out.print(f"written: {export}", soft_wrap=True)
