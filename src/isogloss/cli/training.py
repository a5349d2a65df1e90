"""Shared by the commands that train: corpora of a task, a progress bar, and the message after Ctrl-C."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.cli.screen import err, log_lines, print_note

if TYPE_CHECKING:
    from isogloss.corpora.corpus import AnyCorpus
    from isogloss.tasks.task import Task
    from isogloss.training.engine.progress import EpochMetrics


def read_corpus_for(task: Task, path: Path, lang: str | None, repair: bool = False) -> AnyCorpus:
    """Read a corpus of the kind that the task needs; the format is detected."""
    from isogloss.corpora.readers import read_kind

    corpus = read_kind(path, task.corpus, lang=lang, repair=repair)
    for error in corpus.repairs:
        print_note(f"repaired or skipped: {error}")
    return corpus


@contextlib.contextmanager
def resumable(folder: Path | None) -> Iterator[None]:
    """After Ctrl-C, say whether the same command resumes."""
    try:
        yield
    except KeyboardInterrupt:
        saved = f"saved in {folder}; the same command resumes it" if folder else "lost; --out saves it next time"
        print_note(f"the work so far is {saved}")
        raise


@contextlib.contextmanager
def training_bar() -> Iterator[Callable[[str, EpochMetrics], None]]:
    """A progress bar per training run with loss, dev score and speed; without a terminal, one line at times."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bars_shown = Progress(
        *columns, TextColumn("{task.fields[state]}"), console=err, transient=True, disable=not err.is_terminal
    )
    print_line = log_lines()
    with bars_shown as progress:
        bars: dict[str, TaskID] = {}

        def show_report(label: str, report: EpochMetrics) -> None:
            if label not in bars:
                bars[label] = progress.add_task(label, state="")
            best = "" if report.best is None else f" · dev {report.best:.4f}"
            state = f"epoch {report.epoch} · loss {report.loss:.3f}{best} · {report.tokens_per_second:,.0f} tokens/s"
            progress.update(bars[label], completed=report.step, total=report.steps, state=state)
            if progress.disable:
                print_line(label, f"step {report.step} of {report.steps} · {state}")

        yield show_report
