"""`isogloss run STUDY.yaml`: run a study and show its results."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from isogloss.cli.arguments import Device, Workers
from isogloss.cli.screen import (
    err,
    library_warnings,
    new_progress,
    print_error,
    print_note,
    print_written,
    show_result_table,
)
from isogloss.cli.training import resumable

if TYPE_CHECKING:
    from isogloss.results.rows.study_results import StudyResults
    from isogloss.store.entries import Store
    from isogloss.studies.execution.backends import Job, Outcome

Overrides = Annotated[
    list[str] | None,
    Option(
        "--set", help="Values that override those of the study file: task=pos seeds=1 settings.epochs=2 UD=data/ud …"
    ),
]
StoreFolder = Annotated[
    Path | None, Option("--store", help="Folder of the store; by default $ISOGLOSS_STORE or isogloss-store.")
]


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
    _show(results)
    for path in write or ():
        results.write(path)
        print_written(path)
    for label, reason in results.failed.items():
        print_error(f"{label}: {reason}")
    if results.failed:
        raise typer.Exit(1)


def _show(results: StudyResults) -> None:
    """Show the scores, and summaries of similarity curves and distances."""
    from isogloss.results.tables.curve_summary import curve_table
    from isogloss.results.tables.tables import frame_table

    curves = results.curves.frame
    if results.frame.is_empty() and curves.is_empty() and results.distances.frame.is_empty():
        print_note("no run is finished")
    if not results.frame.is_empty():
        show_result_table(results.frame["study"][0], results.paper_table())
    if not curves.is_empty():
        show_result_table(f"{curves['study'][0]}: similarity (best layer)", curve_table(results.curves))
    distances = results.distances
    if not distances.frame.is_empty():
        title = f"{distances.frame['study'][0]}: distances between related and unrelated words"
        shown = distances.labelled().summary.select("model", "pair", "metric", "overlap", "separation")
        show_result_table(title, frame_table(shown))


@contextlib.contextmanager
def study_progress(store: Store) -> Iterator[Callable[[Job, Outcome, int], None]]:
    """A progress bar for all jobs and one for each running job; without a terminal, a line for each finished job."""
    from rich.markup import escape
    from rich.progress import TaskID

    from isogloss.store.running_jobs import running

    progress = new_progress()
    if not err.is_terminal:
        yield _print_outcome
        return
    all_runs = progress.add_task("runs", total=None, state="")
    ended_jobs: set[str] = set()
    bars: dict[int, TaskID] = {}
    stop = threading.Event()

    def watch(job: Job, outcome: Outcome, total: int) -> None:
        if len(ended_jobs) == progress.tasks[0].total:  # the next study starts
            ended_jobs.clear()
        if outcome.state in ("done", "failed"):
            ended_jobs.add(job.name)
        progress.update(all_runs, completed=len(ended_jobs), total=total)

    def poll() -> None:
        """Show the progress that the workers report, twice a second."""
        while not stop.wait(0.5):
            now = {state["pid"]: state for state in running(store)}
            for pid in [pid for pid in bars if pid not in now]:
                progress.remove_task(bars.pop(pid))
            for pid, state in now.items():
                bars.setdefault(pid, progress.add_task("", state="") if pid not in bars else bars[pid])
                best = "" if state.get("best") is None else f"dev {state['best']:.4f}"
                loss = "" if state.get("loss") is None else f"loss {state['loss']:.3f} "
                progress.update(
                    bars[pid],
                    description=escape(f"  {state.get('label', '')}: {state.get('stage', '')}"),
                    completed=state.get("step", 0),
                    total=state.get("steps"),
                    state=loss + best,
                )

    with progress:
        thread = threading.Thread(target=poll, daemon=True)
        thread.start()
        try:
            yield watch
        finally:
            stop.set()
            thread.join()


def _print_outcome(job: Job, outcome: Outcome, total: int) -> None:
    if outcome.state in ("done", "failed", "lost"):
        reason = f": {outcome.reason.splitlines()[-1]}" if outcome.reason else ""
        err.print(f"{outcome.state}: {job.label} ({outcome.seconds:.1f} s){reason}", soft_wrap=True, markup=False)
