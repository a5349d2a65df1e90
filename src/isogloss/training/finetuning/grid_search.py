"""A search over batch size and learning rate, judged on the source's dev set, as in the papers."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from isogloss.core.files import atomic_write
from isogloss.core.hashing import digest
from isogloss.corpora.corpus import AnyCorpus
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks.task import Task
from isogloss.training.engine.identity import corpus_identity, model_identity
from isogloss.training.engine.progress import EpochMetrics
from isogloss.training.engine.settings import TrainingSettings
from isogloss.training.finetuning.finetune import finetune

BATCH_SIZES = (16, 32)
LEARNING_RATES = (1e-5, 2.5e-5, 5e-5)


@dataclass(frozen=True)
class Grid:
    """What was tried, one row each, and the settings that were best."""

    frame: pl.DataFrame
    best: TrainingSettings


def grid_search(
    model: LoadedModel,
    task: Task,
    train: AnyCorpus,
    dev: AnyCorpus,
    settings: TrainingSettings,
    *,
    batch_sizes: Sequence[int] = BATCH_SIZES,
    learning_rates: Sequence[float] = LEARNING_RATES,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    progress: Callable[[TrainingSettings, EpochMetrics], None] | None = None,
) -> Grid:
    """Fine-tune with every pair and take the one with the best epoch; of equals the first.

    With a folder `out`, what was tried before is read from there.
    """
    candidates = [
        replace(settings, batch=b, learning_rate=r) for b, r in itertools.product(batch_sizes, learning_rates)
    ]
    parts = (model_identity(model), task.name, corpus_identity(train), corpus_identity(dev), seed)
    rows = []
    for candidate in candidates:
        path = Path(out) / "grid" / f"{digest(*parts, asdict(candidate))}.json" if out else None
        if path and path.exists():
            rows.append(json.loads(path.read_text(encoding="utf-8")))
            continue
        on_epoch = (lambda report, candidate=candidate: progress(candidate, report)) if progress else None
        log = finetune(model, task, train, dev, candidate, seed=seed, progress=on_epoch).log
        rows.append(_row(candidate, task, log))
        if path:
            with atomic_write(path) as file:
                json.dump(rows[-1], file)
    frame = pl.DataFrame(rows)
    return Grid(frame, candidates[frame["value"].arg_max() or 0])


def _row(settings: TrainingSettings, task: Task, log: Sequence[EpochMetrics]) -> dict[str, Any]:
    best = max(log, key=lambda report: report.score or 0.0)
    shown = {"batch": settings.batch, "learning_rate": settings.learning_rate, "epoch": best.epoch}
    return {**shown, "metric": task.main_metric, "value": best.score}
