"""The state of a run: done, running, failed or open."""

from __future__ import annotations

from collections.abc import Collection

from isogloss.store.study_records import Run


def run_state(run: Run, done: Collection[str], jobs: Collection[str], failed: Collection[str]) -> str:
    """`done` are ids of finished entries, `jobs` the names of running jobs, `failed` the labels of failed runs.

    >>> run = Run("a", "bert", "", "", "pos", "en", 0, "finetuned-1", "evaluation-1", {})
    >>> run_state(run, {"evaluation-1"}, [], []), run_state(run, [], ["finetuned-1"], [])
    ('done', 'running')
    """
    if all(goal in done for goal in run.goals):
        return "done"
    if any(job in jobs for job in run_jobs(run)):
        return "running"
    return "failed" if run.label in failed else "open"


def run_jobs(run: Run) -> tuple[str, ...]:
    """The jobs of this run only; measurements before fine-tuning are shared with other runs."""
    return (run.finetuned,) if run.finetuned else run.goals
