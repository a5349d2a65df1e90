"""What `pretrain` and `adapt` share: text by language, a bar, and the figures at the end."""

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
    list[str] | None, typer.Option("--parallel", help="LANGUAGE=FILE …: parallel text on which alignment is watched.")
]
Evaluations = Annotated[int | None, typer.Option(min=0, help="How often to evaluate between beginning and end.")]
CheckpointSteps = Annotated[int | None, typer.Option(min=1, help="A checkpoint every so many steps, too.")]
Seed = Annotated[int, typer.Option(help="Of weights, order, masks and dropout.")]
Repair = Annotated[bool, typer.Option(help="Mend what is broken in the text files.")]


def texts_by_language(words: Sequence[str], option: str, repair: bool) -> dict[str, TextFiles]:
    """`en=a.txt`, `fr=folder` … as text that is read as a stream, and again for each pass."""
    from isogloss.languages.codes import canonical
    from isogloss.training.language_modeling.heldout import TextFiles

    files = files_by_language(words, option)
    return {canonical(lang): TextFiles((path,), repair) for lang, path in files.items()}


def read_probes(words: Sequence[str] | None) -> ParallelSet | None:
    from isogloss.corpora.readers import read_parallel

    return read_parallel(files_by_language(words, "--parallel")) if words else None


@contextlib.contextmanager
def budget_bar(title: str) -> Iterator[Callable[[StepMetrics], None]]:
    """How far the budget is spent, the loss and the speed, on standard error; lines where that is no terminal."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    bars = Progress(
        *columns, TextColumn("{task.fields[state]}"), console=err, transient=True, disable=not err.is_terminal
    )
    print_line = log_lines()
    with bars as progress:
        task = progress.add_task(title, total=1.0, state="reading text")

        def show_pace(pace: StepMetrics) -> None:
            used = "" if pace.utilisation is None else f" · {pace.utilisation:.0%} of the GPU"
            state = f"step {pace.step:,} · loss {pace.loss:.3f} · {pace.tokens_per_second:,.0f} tokens/s{used}"
            progress.update(task, completed=pace.share, state=state)
            if progress.disable:
                print_line(title, f"{pace.share:.0%} · {state}")

        yield show_pace


def show_figures(evaluations: Sequence[dict[str, Any]], folder: Path) -> None:
    """Perplexity before and after for each language, and where the rest is."""
    rows: dict[str, list[float]] = {}
    for row in evaluations:
        if row["index"] == "perplexity":
            rows.setdefault(row["target"], []).append(row["value"])
    cells = [(lang, f"{values[0]:.2f}", f"{values[-1]:.2f}") for lang, values in rows.items()]
    show_table(f"perplexity of held-out lines · {folder}", ("language", "before", "after"), cells)
