"""Evaluation of a fine-tuned network on the dev set of its source and on the test sets of all targets."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from isogloss.corpora.corpus import AnyCorpus
from isogloss.models.interventions.adapters import UseAdapter
from isogloss.results.rows.results import Results
from isogloss.tasks.task import Task
from isogloss.training.finetuning.adapter_swapping import swap_adapter
from isogloss.training.finetuning.evaluation import Evaluation, evaluate
from isogloss.training.finetuning.finetune import FineTuned
from isogloss.training.finetuning.result_rows import RunColumns, prediction_rows, result_rows


def evaluate_targets(
    tuned: FineTuned,
    task: Task,
    source: str,
    dev: AnyCorpus,
    test: Mapping[str, AnyCorpus],
    run_columns: RunColumns,
    swap: Mapping[str, UseAdapter] | None = None,
) -> Results:
    """Rows and predictions of a fine-tuned network.

    Args:
        tuned: The network.
        task: Its task.
        source: Language of the training corpus.
        dev: Development corpus of the source language.
        test: Test corpora by name of the target.
        run_columns: The values of the columns that identify the run (run, model, changes, seed).
        swap: Language adapter by test set, which replaces the adapter of the training language.
    """
    corpora = {**{("test", name): corpus for name, corpus in test.items()}, ("dev", source): dev}
    swaps = {("test", name): adapter for name, adapter in (swap or {}).items()}
    unswapped = {key: corpus for key, corpus in corpora.items() if key not in swaps}
    evaluations = evaluate(tuned.network, task, tuned.model, unswapped, tuned.labels)
    for key, adapter in swaps.items():
        swapped = swap_adapter(tuned, adapter)
        evaluations |= evaluate(swapped.network, swapped.task, swapped.model, {key: corpora[key]}, swapped.labels)
    evaluations = {key: evaluations[key] for key in corpora}
    if is_degenerate(evaluations["dev", source]):
        run = f"{task.name} {source} seed {run_columns['seed']}, run {run_columns['run']}"
        advice = "the network has learnt nothing; a lower learning rate may help"
        warnings.warn(f"{run}: degenerate, all items of the dev set get the same prediction; {advice}", stacklevel=2)
    shared = {**run_columns, "task": task.name, "source": source}
    return Results(result_rows(evaluations, shared), prediction_rows(evaluations, shared).lazy())


def is_degenerate(evaluation: Evaluation) -> bool:
    """Whether all items got the same prediction although their gold labels differ, as after diverged training.

    >>> is_degenerate(Evaluation(["yes", "yes"], ["yes", "no"], {}, {}))
    True
    >>> is_degenerate(Evaluation(["yes", "yes"], ["yes", "yes"], {}, {}))
    False
    """
    constant = [all(value == values[0] for value in values) for values in (evaluation.predictions, evaluation.gold)]
    return constant == [True, False]
