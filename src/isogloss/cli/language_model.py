"""Shared by `pretrain` and `adapt`: text by language, a progress bar, and the table at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isogloss.cli.arguments import files_by_language
from isogloss.cli.screen import err, log_lines, show_table

if TYPE_CHECKING:
    from isogloss.corpora.parallel import ParallelSet
    from isogloss.training.language_modeling.heldout import TextFiles
    from isogloss.training.language_modeling.train import StepMetrics

Probes = Annotated[
    list[str] | None,
    typer.Option("--parallel", help="LANGUAGE=FILE …: parallel text on which alignment is measured during training."),
]
Evaluations = Annotated[
    int | None, typer.Option(min=0, help="Number of evaluations during training, besides the first and the last.")
]
CheckpointSteps = Annotated[
    int | None, typer.Option(min=1, help="Number of steps between checkpoints, besides those every ten minutes.")
]
Seed = Annotated[int, typer.Option(help="Random seed for weights, order of the text, masking and dropout.")]


def texts_by_language(words: Sequence[str], option: str, repair: bool) -> dict[str, TextFiles]:
    """`en=a.txt`, `fr=folder` … as text that is streamed, once for every pass."""
    from isogloss.languages.codes import canonical
    from isogloss.training.language_modeling.heldout import TextFiles

    files = files_by_language(words, option)
    return {canonical(lang): TextFiles((path,), repair) for lang, path in files.items()}


def read_probes(words: Sequence[str] | None) -> ParallelSet | None:
    from isogloss.corpora.readers import read_parallel

    return read_parallel(files_by_language(words, "--parallel")) if words else None


@contextlib.contextmanager
def budget_bar(title: str) -> Iterator[Callable[[StepMetrics], None]]:
    """A progress bar with the share of the budget, loss and speed; without a terminal, one line at times."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    bars = Progress(
        *columns, TextColumn("{task.fields[state]}"), console=err, transient=True, disable=not err.is_terminal
    )
    print_line = log_lines()
    with bars as progress:
        task = progress.add_task(title, total=1.0, state="reading text")

        def show_pace(pace: StepMetrics) -> None:
            utilisation = "" if pace.utilisation is None else f" · {pace.utilisation:.0%} of peak FLOP/s"
            state = f"step {pace.step:,} · loss {pace.loss:.3f} · {pace.tokens_per_second:,.0f} tokens/s{utilisation}"
            progress.update(task, completed=pace.share, state=state)
            if progress.disable:
                print_line(title, f"{pace.share:.0%} · {state}")

        yield show_pace


def show_figures(evaluations: Sequence[dict[str, Any]], folder: Path) -> None:
    """Show the perplexity of every language before and after training."""
    rows: dict[str, list[float]] = {}
    for row in evaluations:
        if row["index"] == "perplexity":
            rows.setdefault(row["target"], []).append(row["value"])
    cells = [(lang, f"{values[0]:.2f}", f"{values[-1]:.2f}") for lang, values in rows.items()]
    show_table(f"perplexity on held-out lines · {folder}", ("language", "before", "after"), cells)
