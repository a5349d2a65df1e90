"""Systems of a diagnosis that may be trained too little: a loss that still falls, or one class for everything.

A system is reported if this holds for more than half of its seeds. A loss that still falls is no concern where longer
training was tried and was no better.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import polars as pl

from isogloss.diagnosis.study_runner import StudyOutcome
from isogloss.store.entries import Store
from isogloss.store.study_records import Run
from isogloss.training.finetuning.convergence import is_unfinished, predicts_one_class
from isogloss.training.finetuning.stored_results import read_log


def training_cautions(outcomes: Sequence[StudyOutcome], store: Store) -> tuple[str, ...]:
    """A sentence for every system that may be trained too little."""
    return tuple(sentence for outcome in outcomes for sentence in _cautions(outcome, store))


def _cautions(outcome: StudyOutcome, store: Store) -> Iterator[str]:
    for system in outcome.plan.study.models:
        runs = [run for run in outcome.plan.runs if run.model == system]
        degenerate = [run for run in runs if _is_degenerate(run, outcome.results.predictions)]
        unfinished = [run for run in runs if is_unfinished(read_log(store.need(run.evaluation).folder))]
        if 2 * len(degenerate) > len(runs):
            yield f"{system}: {len(degenerate)} of {len(runs)} networks predict one class only: they learnt nothing."
        elif 2 * len(unfinished) > len(runs) and not _longer_was_tried(outcome, system):
            yield (
                f"{system}: the training loss still falls and the dev score still rises in the last epoch of "
                f"{len(unfinished)} of {len(runs)} networks; longer training may be better."
            )


def _longer_was_tried(outcome: StudyOutcome, system: str) -> bool:
    return system in outcome.tuned and outcome.tuned[system].longer_was_tried


def _is_degenerate(run: Run, predictions: pl.LazyFrame) -> bool:
    """Whether a run's network predicts one class in its test sets."""
    columns = ["run", "gold", "prediction"]
    if not set(columns) <= set(predictions.collect_schema().names()):
        return False
    rows = predictions.select(columns).filter(pl.col("run") == run.name).collect()
    gold, prediction = ([json.loads(text) for text in rows[name]] for name in ("gold", "prediction"))
    return predicts_one_class(prediction, gold)
