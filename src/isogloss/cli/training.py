"""Shared by the commands that train: corpora of a task, progress bars, and the message after Ctrl-C."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from isogloss.cli.screen import err, log_lines, new_progress, print_note, print_repairs
from isogloss.core.errors import IsoglossError, raise_all

if TYPE_CHECKING:
    from isogloss.corpora.corpus import AnyCorpus
    from isogloss.store.entries import Store
    from isogloss.studies.execution.backends import Job, Outcome
    from isogloss.tasks.task import Task
    from isogloss.training.engine.progress import EpochMetrics


class CorpusFile(NamedTuple):
    """A file of labelled items; `lang` is None where the file name states the language."""

    path: Path
    lang: str | None


def read_corpus_for(
    task: Task, path: Path, lang: str | None, repair: bool = False, format: str | None = None
) -> AnyCorpus:
    """Read a corpus of the kind that the task needs; without `format`, the format is detected."""
    from isogloss.corpora.readers import read_kind

    corpus = read_kind(path, task.corpus, format, lang=lang, repair=repair)
    print_repairs(corpus)
    return corpus


def read_corpora_for(
    task: Task, files: Mapping[str, CorpusFile], repair: bool, format: str | None
) -> dict[str, AnyCorpus]:
    """Read several corpora; one error lists all files that cannot be read."""
    corpora: dict[str, AnyCorpus] = {}
    errors: list[IsoglossError] = []
    for name, (path, lang) in files.items():
        try:
            corpora[name] = read_corpus_for(task, path, lang, repair, format)
        except IsoglossError as error:
            errors.append(error)
    raise_all(errors)
    return corpora


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
