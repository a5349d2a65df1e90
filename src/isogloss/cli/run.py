"""`isogloss run STUDY.yaml`: run a study and show its results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option

from isogloss.cli.arguments import Device, Workers
from isogloss.cli.screen import library_warnings, print_error, print_note, print_written, show_result_table
from isogloss.cli.training import resumable, study_progress

if TYPE_CHECKING:
    from isogloss.results.rows.study_results import Stars, StudyResults

Overrides = Annotated[
    list[str] | None,
    Option("--set", help="Values that override the study file: task=pos seeds=1 settings.epochs=2 UD=data/ud …"),
]
StoreFolder = Annotated[Path | None, Option(help="Folder of the store; by default $ISOGLOSS_STORE or isogloss-store.")]


def run(
    study: Annotated[Path, Argument(help="Study file (YAML).")],
    set: Overrides = None,
    store: StoreFolder = None,
    backend: Annotated[str, Option(help="Backend that executes the runs (see `isogloss ls backends`).")] = "local",
    workers: Workers = None,
    per_gpu: Annotated[int | None, Option(min=1, help="Number of runs that share a GPU.")] = None,
    stack: Annotated[
        int, Option(min=1, help="Train up to N runs that differ only in weights and seeds as one network (GPU).")
    ] = 1,
    option: Annotated[
        list[str] | None,
        Option("--option", help="Further options of the backend: address=auto, partition=gpu time=240 …"),
    ] = None,
    write: Annotated[
        list[Path] | None,
        Option(
            "--out",
            "-o",
            help="File for result rows (.csv .tsv .parquet .json), table (.md .tex) or chart (.html .svg); repeatable.",
        ),
    ] = None,
    stars: Annotated[
        Literal["corrected", "paper"],
        Option(
            help="Meaning of the stars in the table: significant after Holm's correction, or as in the paper of the "
            "published values (for example: differs from Adjusted)."
        ),
    ] = "corrected",
    device: Device = None,
) -> None:
    """Run a study; finished runs are read from the store, interrupted ones resume."""
    from isogloss.results.rows.files import check_suffix
    from isogloss.results.rows.study_results import TABLE_SUFFIXES
    from isogloss.studies.execution.run_study import open_store, run_study
    from isogloss.studies.schema.overrides import parse_overrides

    for path in write or ():
        if path.suffix not in TABLE_SUFFIXES:
            check_suffix(path)
    opened = open_store(store)
    backend_options: dict[str, Any] = {"workers": workers, "per_gpu": per_gpu}
    options = {name: value for name, value in backend_options.items() if value is not None}
    options |= parse_overrides(option or [], "--option")
    with library_warnings(), resumable(opened.folder), study_progress(opened) as watch:
        results = run_study(
            study,
            store=opened.folder,
            backend=backend,
            set=parse_overrides(set or []),
            device=device,
            stack=stack,
            watch=watch,
            **options,
        )
    _show(results, stars)
    for path in write or ():
        results.write(path, stars=stars)
        print_written(path)
    for label, reason in results.failed.items():
        print_error(f"{label}: {reason}")
    if results.failed:
        raise typer.Exit(1)


def _show(results: StudyResults, stars: Stars) -> None:
    """Show the scores, and summaries of similarity curves and distances."""
    from isogloss.results.tables.curve_summary import curve_table
    from isogloss.results.tables.tables import frame_table

    curves = results.curves.frame
    if results.frame.is_empty() and curves.is_empty() and results.distances.frame.is_empty():
        print_note("no run is finished")
    if not results.frame.is_empty():
        show_result_table(results.frame["study"][0], results.paper_table(stars))
    if not curves.is_empty():
        show_result_table(f"{curves['study'][0]}: similarity (best layer)", curve_table(results.curves))
    distances = results.distances
    if not distances.frame.is_empty():
        title = f"{distances.frame['study'][0]}: distances between related and unrelated words"
        shown = distances.labelled().summary.select("model", "pair", "metric", "overlap", "separation")
        show_result_table(title, frame_table(shown))
