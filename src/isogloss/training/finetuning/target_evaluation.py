"""Evaluation of a fine-tuned network on the dev set of its source and the test sets of all targets, as rows."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass

import polars as pl
import torch

from isogloss.core.errors import IsoglossError
from isogloss.corpora.corpus import AnyCorpus
from isogloss.models.interventions.adapters import UseAdapter
from isogloss.models.tokenization.readability import corpus_readability
from isogloss.results.rows.readability import Readability
from isogloss.results.rows.results import RESULT_COLUMNS, Results
from isogloss.tasks.task import Task
from isogloss.training.finetuning.adapter_swapping import swap_adapter
from isogloss.training.finetuning.convergence import predicts_one_class
from isogloss.training.finetuning.evaluation import Evaluation, evaluate
from isogloss.training.finetuning.finetune import FineTuned

RunColumns = Mapping[str, object]  # column → value
Key = tuple[str, str]  # split and target
Evaluations = Mapping[Key, Evaluation]


def evaluate_targets(
    tuned: FineTuned,
    task: Task,
    source: str,
    dev: AnyCorpus,
    test: Mapping[str, AnyCorpus],
    run_columns: RunColumns,
    swap: Mapping[str, UseAdapter] | None = None,
) -> Results:
    """Rows and predictions of a fine-tuned network, for test corpora by name of the target.

    `run_columns` are the values of the columns that identify the run (run, model, changes, seed). `swap` are language
    adapters by test set, which replace the adapter of the training language. A test set whose evaluation fails has no
    rows, and its error is in `failed`; if the dev set or all test sets fail, the error is raised.
    """
    corpora = {**{("test", name): corpus for name, corpus in test.items()}, ("dev", source): dev}
    swaps = {("test", name): adapter for name, adapter in (swap or {}).items()}
    unswapped = {key: corpus for key, corpus in corpora.items() if key not in swaps}
    evaluations, errors = _evaluate_each(tuned, task, unswapped)
    for key, adapter in swaps.items():
        try:
            swapped = swap_adapter(tuned, adapter)
            evaluations |= evaluate(swapped.network, swapped.task, swapped.model, {key: corpora[key]}, swapped.labels)
        except Exception as error:
            errors[key] = _isolated(error)
    evaluations = {key: evaluations[key] for key in corpora if key in evaluations}
    if errors and (("dev", source) in errors or len(errors) == len(test)):
        raise errors.get(("dev", source)) or next(iter(errors.values()))
    on_dev = evaluations["dev", source]
    if predicts_one_class(on_dev.predictions, on_dev.gold):
        run = f"{task.name} {source} seed {run_columns['seed']}, run {run_columns['run']}"
        advice = "the network has learnt nothing; a lower learning rate may help"
        warnings.warn(f"{run}: degenerate, one class is predicted for the whole dev set; {advice}", stacklevel=2)
    shared = {**run_columns, "task": task.name, "source": source}
    failed = {target: describe_error(error) for (_, target), error in errors.items()}
    read = {key: corpus_readability(tuned.model, corpus) for key, corpus in corpora.items() if key in evaluations}
    rows = result_rows(evaluations, shared, read)
    return Results(rows, prediction_rows(evaluations, shared).lazy(), failed=failed)


def _evaluate_each(
    tuned: FineTuned, task: Task, corpora: Mapping[Key, AnyCorpus]
) -> tuple[dict[Key, Evaluation], dict[Key, Exception]]:
    """All corpora in one pass; if that fails, one by one, with the errors of those that fail alone."""
    try:
        return evaluate(tuned.network, task, tuned.model, corpora, tuned.labels), {}
    except Exception as error:
        if len(corpora) == 1:
            return {}, dict.fromkeys(corpora, _isolated(error))
        _isolated(error)
    parts = [_evaluate_each(tuned, task, {key: corpus}) for key, corpus in corpora.items()]
    evaluations = {key: evaluation for part, _ in parts for key, evaluation in part.items()}
    return evaluations, {key: error for _, part in parts for key, error in part.items()}


def _isolated(error: Exception) -> Exception:
    """An error that concerns one corpus; a lack of memory, which does not, is raised."""
    if isinstance(error, torch.OutOfMemoryError):
        raise error
    return error


def describe_error(error: Exception) -> str:
    """An error in one line, with its type unless it is one of isogloss."""
    return str(error) if isinstance(error, IsoglossError) else f"{type(error).__name__}: {error}"


def result_rows(
    evaluations: Evaluations,
    run_columns: RunColumns,
    readability: Mapping[tuple[str, str], Readability | None] | None = None,
) -> pl.DataFrame:
    """One row per corpus and metric; `run_columns` are the values of the columns that all rows share."""
    shared = {"study": "", **run_columns}
    measured = {key: asdict(values) for key, values in (readability or {}).items() if values}
    rows = [
        {
            **shared,
            "split": split,
            "target": target,
            "metric": metric,
            "scorer": evaluation.scorer,
            "value": value,
            "n": len(evaluation.gold),
            **measured.get((split, target), {}),
        }
        for (split, target), evaluation in evaluations.items()
        for metric, value in evaluation.scores.items()
    ]
    return pl.DataFrame(rows, schema=RESULT_COLUMNS)


def prediction_rows(evaluations: Evaluations, run_columns: RunColumns) -> pl.DataFrame:
    """One row per item of the test sets."""
    parts = [
        _item_rows(evaluation, {**run_columns, "target": target})
        for (split, target), evaluation in evaluations.items()
        if split == "test"
    ]
    return pl.concat(parts, how="vertical_relaxed") if parts else pl.DataFrame()


def _item_rows(evaluation: Evaluation, run_columns: RunColumns) -> pl.DataFrame:
    """The rows of one test set, built by column, which takes half as long as by row."""
    size = len(evaluation.gold)
    counts = {
        f"{metric}.{name}": [getattr(each, name) for each in counted]
        for metric, counted in evaluation.counts.items()
        for name in vars(counted[0])
    }
    columns = {name: [value] * size for name, value in run_columns.items()} | {
        "item": range(size),
        "gold": list(map(ENCODER.encode, evaluation.gold)),
        "prediction": list(map(ENCODER.encode, evaluation.predictions)),
        "text": list(map(ENCODER.encode, evaluation.texts)) if evaluation.texts else [None] * size,
    }
    return pl.DataFrame(columns | counts, schema_overrides={"text": pl.String})


def _to_json_value(value: object) -> object:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


ENCODER = json.JSONEncoder(ensure_ascii=False, default=_to_json_value)  # created once, not for every value
