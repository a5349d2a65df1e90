"""What the commands that fine-tune and predict share: reading a task's corpora, a bar, and words after Ctrl-C."""

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
    """A corpus of the kind that the task reads, in whatever format of that kind the file is."""
    from isogloss.corpora.readers import read_kind

    corpus = read_kind(path, task.corpus, lang=lang, repair=repair)
    for error in corpus.repairs:
        print_note(f"repaired or left out: {error}")
    return corpus


@contextlib.contextmanager
def resumable(folder: Path | None) -> Iterator[None]:
    """After Ctrl-C, say what becomes of the work done so far."""
    try:
        yield
    except KeyboardInterrupt:
        kept = f"kept in {folder}; the same command goes on from there" if folder else "lost; --out keeps it next time"
        print_note(f"the work so far is {kept}")
        raise


@contextlib.contextmanager
def training_bar() -> Iterator[Callable[[str, EpochMetrics], None]]:
    """A bar for each fine-tuning with loss, dev score and speed, on standard error; lines where that is no terminal."""
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
