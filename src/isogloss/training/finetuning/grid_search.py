"""Search over batch size and learning rate, selected on the dev set of the source, as in the papers."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import polars as pl

from isogloss.core.hashing import digest
from isogloss.corpora.corpus import AnyCorpus
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.store.entries import Store
from isogloss.tasks.task import Task
from isogloss.training.engine.identity import corpus_identity, model_identity
from isogloss.training.engine.progress import EpochMetrics
from isogloss.training.engine.settings import TrainingSettings
from isogloss.training.finetuning.finetune import finetune
from isogloss.training.finetuning.stored_results import read_or_compute

BATCH_SIZES = (16, 32)
LEARNING_RATES = (1e-5, 2.5e-5, 5e-5)
GridRow = dict[str, str | int | float | None]


@dataclass(frozen=True)
class Grid:
    """The candidates with their scores, one row each, and the best settings."""

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
    """Fine-tune with every combination and select the one with the best dev score; the first of equal ones.

    With `out`, a folder of `transfer`, finished combinations are read from its store.
    """
    store = None if out is None else Store(out)
    pairs = itertools.product(batch_sizes, learning_rates)
    candidates = [replace(settings, batch=batch, learning_rate=learning_rate) for batch, learning_rate in pairs]
    identity = (model_identity(model), task.name, corpus_identity(train), corpus_identity(dev), seed)

    def row(candidate: TrainingSettings) -> GridRow:
        def compute() -> GridRow:
            on_epoch = (lambda metrics: progress(candidate, metrics)) if progress else None
            log = finetune(model, task, train, dev, candidate, seed=seed, progress=on_epoch).log
            best = max(log, key=lambda metrics: metrics.score or 0.0)
            columns = {"batch": candidate.batch, "learning_rate": candidate.learning_rate, "epoch": best.epoch}
            return {**columns, "metric": task.main_metric, "value": best.score}

        id = f"grid-{digest(*identity, asdict(candidate))}"
        return read_or_compute(store, id, read=_read, compute=compute, write=_write, device=model.device)

    frame = pl.DataFrame([row(candidate) for candidate in candidates])
    return Grid(frame, candidates[frame["value"].arg_max() or 0])


def _read(folder: Path) -> GridRow:
    row: GridRow = json.loads((folder / "row.json").read_text(encoding="utf-8"))
    return row


def _write(row: GridRow, folder: Path) -> None:
    (folder / "row.json").write_text(json.dumps(row), encoding="utf-8")
