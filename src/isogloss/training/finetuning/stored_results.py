"""Fine-tuned networks and evaluations as entries of a store: read if they exist, else computed and written.

entries/finetuned/ID/    model/ (see `finetuned_files`), log.tsv (one row per epoch)
entries/evaluation/ID/   rows.parquet (scores), predictions.parquet, failed.json (errors by target, if there are any);
                         of studies also log.tsv, as above
work/ID/checkpoints/     of a fine-tuning that is not finished
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TypeVar

import polars as pl
import torch

from isogloss.results.rows.results import RESULT_COLUMNS, Results
from isogloss.results.rows.stored_rows import with_schema
from isogloss.results.rows.study_reader import FAILED_TARGETS_FILE
from isogloss.store.entries import Damaged, Entry, Store
from isogloss.tasks.task import Task
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.distributed import init_distributed
from isogloss.training.engine.progress import EpochMetrics
from isogloss.training.finetuning.finetune import FineTuned
from isogloss.training.finetuning.finetuned_files import load_finetuned, save_finetuned

LOCK_POLL_SECONDS = 1.0
LOG_FILE = "log.tsv"
T = TypeVar("T")


def read_or_compute(
    store: Store | None,
    id: str,
    *,
    read: Callable[[Path], T],
    compute: Callable[[], T],
    write: Callable[[T, Path], None],
    device: torch.device,
    is_complete: Callable[[T], bool] = lambda value: True,
) -> T:
    """The stored entry, or the computed value, which is written first; without a store, the computed value.

    While another process computes the same entry, this one waits for it. A damaged entry is quarantined and
    recomputed. Of several workers of one training (torchrun) the main process decides and writes. `device`: where
    workers exchange that decision. `is_complete`: a value that is not is returned, but not stored.
    """
    if store is None:
        return compute()
    workers = init_distributed()
    if not workers.is_main:
        if workers.broadcast(0.0, device):
            return read(store.need(id).checked_folder())
        value = compute()
        workers.barrier()
        return value
    lock = store.lock(id)
    while (entry := _intact_entry(store, id)) is None and lock is None:
        time.sleep(LOCK_POLL_SECONDS)
        lock = store.lock(id)
    try:
        workers.broadcast(float(entry is not None), device)
        if entry is not None:
            return read(entry.folder)
        value = compute()
        workers.barrier()  # all workers have read the checkpoints, which are removed now
        if is_complete(value):
            with store.making(id, {"kind": id.partition("-")[0]}) as folder:
                write(value, folder)
            store.remove_checkpoints(id)
        return value
    finally:
        if lock:
            lock.release()


def _intact_entry(store: Store, id: str) -> Entry | None:
    try:
        entry = store.get(id)
        if entry:
            entry.checked_folder()
        return entry
    except Damaged as damaged:
        store.quarantine(id, str(damaged))
        return None


def finetuned_checkpoints(store: Store, id: str, steps: int | None = None, min_seconds: float = 0.0) -> Checkpoints:
    """The checkpoints of a fine-tuning in the work folder of its entry."""
    return Checkpoints(store.work(id) / "checkpoints", id, steps=steps, min_seconds=min_seconds)


def write_finetuned(tuned: FineTuned, folder: Path) -> None:
    """Write network and log of a fine-tuning into the folder of an entry."""
    save_finetuned(tuned, folder / "model")
    write_log(tuned.log, folder)


def read_finetuned(folder: Path, device: str | torch.device | None = None, task: Task | None = None) -> FineTuned:
    """The network that `write_finetuned` wrote; `task` only if it is not registered."""
    return replace(load_finetuned(folder / "model", device=device, task=task), log=read_log(folder))


def write_log(log: Sequence[EpochMetrics], folder: Path) -> None:
    """Write the metrics of every epoch into the folder of an entry."""
    frame = pl.DataFrame([asdict(metrics) for metrics in log])
    (folder / LOG_FILE).write_text(frame.write_csv(separator="\t"), encoding="utf-8")


def read_log(folder: Path) -> tuple[EpochMetrics, ...]:
    """The log that `write_log` wrote; empty if there is none."""
    path = folder / LOG_FILE
    rows = pl.read_csv(path, separator="\t").to_dicts() if path.is_file() and path.stat().st_size > 1 else []
    return tuple(EpochMetrics(**row) for row in rows)


def write_evaluation(results: Results, folder: Path) -> None:
    """Write rows and predictions of an evaluation into the folder of an entry."""
    results.frame.write_parquet(folder / "rows.parquet")
    results.predictions.collect().write_parquet(folder / "predictions.parquet")
    if results.failed:
        (folder / FAILED_TARGETS_FILE).write_text(json.dumps(results.failed, ensure_ascii=False), encoding="utf-8")


def read_evaluation(folder: Path) -> Results:
    """The rows and predictions that `write_evaluation` wrote."""
    rows = with_schema(pl.read_parquet(folder / "rows.parquet"), RESULT_COLUMNS)
    return Results(rows, pl.scan_parquet(folder / "predictions.parquet"))
