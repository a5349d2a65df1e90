"""Shared by `pretrain` and `adapt`: text by language, a progress bar, and the table at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from isogloss.cli.arguments import files_by_language
from isogloss.cli.screen import library_warnings, log_lines, new_progress, show_table
from isogloss.cli.training import resumable

if TYPE_CHECKING:
    from isogloss.corpora.parallel import ParallelSet
    from isogloss.training.language_modeling.heldout import TextFiles
    from isogloss.training.language_modeling.train import StepMetrics

Probes = Annotated[
    list[str] | None,
    Option("--parallel", help="LANGUAGE=FILE …: parallel text on which alignment is measured during training."),
]
Evaluations = Annotated[
    int | None, Option(min=0, help="Number of evaluations during training, besides the first and the last.")
]
CheckpointSteps = Annotated[int | None, Option(min=1, help="Steps between checkpoints, besides one every ten minutes.")]
Seed = Annotated[int, Option(help="Random seed for weights, order of the text, masking and dropout.")]


def texts_by_language(words: Sequence[str], option: str, repair: bool) -> dict[str, TextFiles]:
    """`en=a.txt`, `fr=folder` … as text that is streamed, once for every pass."""
    from isogloss.languages.checks import check_language
    from isogloss.training.language_modeling.heldout import TextFiles

    files = files_by_language(words, option)
    return {check_language(lang): TextFiles((path,), repair) for lang, path in files.items()}


def read_probes(words: Sequence[str] | None) -> ParallelSet | None:
    from isogloss.corpora.readers import read_parallel

    return read_parallel(files_by_language(words, "--parallel")) if words else None


@contextlib.contextmanager
def budget_bar(title: str) -> Iterator[Callable[[StepMetrics], None]]:
    """A progress bar with the share of the budget, loss and speed; without a terminal, one line at times."""
    from rich.progress import TaskProgressColumn

    print_line = log_lines()
    with new_progress(TaskProgressColumn()) as progress:
        task = progress.add_task(title, total=1.0, state="reading text")

        def show_pace(pace: StepMetrics) -> None:
            utilisation = "" if pace.utilisation is None else f" · {pace.utilisation:.0%} of peak FLOP/s"
            state = f"step {pace.step:,} · loss {pace.loss:.3f} · {pace.tokens_per_second:,.0f} tokens/s{utilisation}"
            progress.update(task, completed=pace.share, state=state)
            if progress.disable:
                print_line(title, f"{pace.share:.0%} · {state}")

        yield show_pace


@contextlib.contextmanager
def language_model_training(title: str, folder: Path) -> Iterator[Callable[[StepMetrics], None]]:
    """A progress bar, notes and, at the end, the perplexity of every language before and after training."""
    from isogloss.training.engine.distributed import init_distributed
    from isogloss.training.language_modeling.model_files import read_history

    init_distributed()
    with library_warnings(), resumable(folder), budget_bar(title) as show_pace:
        yield show_pace
    if not init_distributed().is_main:
        return
    rows: dict[str, list[float]] = {}
    for row in read_history(folder).evaluations:
        if row["index"] == "perplexity":
            rows.setdefault(str(row["target"]), []).append(float(row["value"]))
    cells = [(lang, f"{values[0]:.2f}", f"{values[-1]:.2f}") for lang, values in rows.items()]
    show_table(f"perplexity on held-out lines · {folder}", ("language", "before", "after"), cells)
