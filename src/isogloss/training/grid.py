"""A search over batch size and learning rate, judged on the source's dev set, as in the papers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from isogloss.corpora.corpus import Corpus
from isogloss.models.load import LoadedModel
from isogloss.tasks.task import Task
from isogloss.training.finetune import finetune
from isogloss.training.reports import Report
from isogloss.training.settings import Settings

BATCHES = (16, 32)
LEARNING_RATES = (1e-5, 2.5e-5, 5e-5)


@dataclass(frozen=True)
class Grid:
    """What was tried, one row each, and the settings that were best."""

    frame: pl.DataFrame
    best: Settings


def grid_search(
    model: LoadedModel,
    task: Task,
    train_on: Corpus[Any],
    dev: Corpus[Any],
    settings: Settings,
    *,
    batches: Sequence[int] = BATCHES,
    learning_rates: Sequence[float] = LEARNING_RATES,
    seed: int = 0,
    progress: Callable[[Settings, Report], None] | None = None,
) -> Grid:
    """Fine-tune with every pair and take the one with the best epoch; of equals the first."""
    rows: list[dict[str, Any]] = []
    tried = [replace(settings, batch=b, learning_rate=r) for b, r in itertools.product(batches, learning_rates)]
    for one in tried:
        watch = (lambda report, one=one: progress(one, report)) if progress else None
        log = finetune(model, task, train_on, dev, one, seed=seed, progress=watch).log
        best = max(log, key=lambda report: report.score or 0.0)
        row = {"batch": one.batch, "learning_rate": one.learning_rate, "epoch": best.epoch}
        rows.append({**row, "metric": task.main_metric, "value": best.score})
    frame = pl.DataFrame(rows)
    return Grid(frame, tried[frame["value"].arg_max() or 0])
