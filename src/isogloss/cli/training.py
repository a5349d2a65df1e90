"""Shared by the commands that train: corpora of a task, a progress bar, and the message after Ctrl-C."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.cli.screen import log_lines, new_progress, print_note, print_repairs

if TYPE_CHECKING:
    from isogloss.corpora.corpus import AnyCorpus
    from isogloss.tasks.task import Task
    from isogloss.training.engine.progress import EpochMetrics


def read_corpus_for(task: Task, path: Path, lang: str | None, repair: bool = False) -> AnyCorpus:
    """Read a corpus of the kind that the task needs; the format is detected."""
    from isogloss.corpora.readers import read_kind

    corpus = read_kind(path, task.corpus, lang=lang, repair=repair)
    print_repairs(corpus)
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
    from rich.progress import TaskID

    print_line = log_lines()
    with new_progress() as progress:
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
