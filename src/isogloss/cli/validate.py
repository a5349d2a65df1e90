"""`isogloss validate FILE`: check a corpus or a study file, and describe it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from isogloss.cli.arguments import Repair
from isogloss.cli.run import Overrides, StoreFolder
from isogloss.cli.screen import library_warnings, out, print_error, print_note, print_repairs, show_table
from isogloss.core.errors import UsageError


def validate(
    file: Annotated[Path, Argument(help="Corpus file, plain or compressed (.gz, .xz, .bz2), or study file (.yaml).")],
    format: Annotated[
        str | None,
        Option("--format", "-f", help="Format of the corpus (see `isogloss ls formats`); detected by default."),
    ] = None,
    lang: Annotated[str | None, Option(help="Language code; by default taken from the file name.")] = None,
    repair: Repair = False,
    set: Overrides = None,
    store: StoreFolder = None,
    gpus: Annotated[
        str, Option(help="Estimate the duration of a study on these numbers of GPUs, with one job on each: 1,8,64.")
    ] = "",
    stack: Annotated[int, Option(min=1, help="With --gpus: number of runs in a stack, as in `isogloss run`.")] = 1,
) -> None:
    """Check a corpus or a study file: describe it, or report the errors with their lines.

    Of a study, everything is checked that can be known before training: corpora and their labels, sizes, models.
    """
    if file.suffix in (".yaml", ".yml") and format is None:
        _study(file, set or [], store, _numbers(gpus), stack)
        return
    from isogloss.corpora.readers import read_file

    corpus = read_file(file, format, lang=lang, repair=repair)
    rows = [("format", f"{corpus.format.name} ({corpus.format.summary})"), ("language", corpus.lang)]
    rows += [(what, f"{number:,}") for what, number in corpus.counts.items()]
    show_table(f"{file}: {corpus.format.kind}", ("", ""), rows)
    print_repairs(corpus)
    if not corpus.repairs:
        out.print("[green]valid[/]")


def _numbers(gpus: str) -> list[int]:
    numbers = [number.strip() for number in gpus.split(",") if number.strip()]
    if not all(number.isdecimal() and int(number) for number in numbers):
        raise UsageError(f"--gpus: expected numbers such as 1,8,64, got '{gpus}'")
    return sorted({int(number) for number in numbers})


def _study(file: Path, set: list[str], folder: Path | None, gpus: list[int], stack: int) -> None:
    """Show the runs of a study, shared and finished work, estimated cost, and all errors known before training."""
    from isogloss.studies.execution.run_study import check_plan, open_store, planned, store_folder
    from isogloss.studies.planning.explain import explain
    from isogloss.studies.schema.overrides import parse_overrides

    store = open_store(folder) if store_folder(folder).exists() else None  # validation creates no store
    plan = planned(file, store, set=parse_overrides(set), device="cuda" if gpus else None)
    show_table(f"{file}: study", ("", ""), explain(plan, store, gpus, stack))
    with library_warnings():
        findings = check_plan(plan, store, file)
    for warning in findings.warnings:
        print_note(warning)
    for error in findings.errors:
        print_error(str(error))
    if findings.errors:
        raise typer.Exit(findings.errors[0].exit_code)
    out.print("[green]valid[/]")
