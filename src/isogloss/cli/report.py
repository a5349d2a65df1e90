"""`isogloss report STORE|RESULTS -o report.html`: a report of a study or of result files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from isogloss.cli.screen import print_written, progress_bars


def report(
    about: Annotated[
        list[Path],
        Argument(metavar="STORE|RESULTS…", help="Folder of a store, or files of result rows, curves and predictions."),
    ],
    output: Annotated[Path, Option("--out", "-o", help="File for the report (.html).")] = Path("report.html"),
    study: Annotated[str | None, Option(help="Name of the study, if the store contains several.")] = None,
    export: Annotated[
        Path | None,
        Option(help="Folder for all tables (.tex .md .csv) and figures (.svg .png .pdf) as separate files."),
    ] = None,
) -> None:
    """Write a report with findings, tables, charts and examples as one HTML page that works offline."""
    from isogloss.report.write_report import write_report

    with progress_bars("report") as show:
        write_report(about, output, study=study, folder=export, progress=show)
    print_written(output, *([export] if export else ()))
