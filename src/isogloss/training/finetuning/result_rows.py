"""Evaluations as rows: scores of corpora, and predictions of items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass

import polars as pl

from isogloss.results.rows.results import RESULT_COLUMNS
from isogloss.training.finetuning.evaluation import Evaluation

RunColumns = Mapping[str, object]  # column → value
Evaluations = Mapping[tuple[str, str], Evaluation]  # by split and target


def result_rows(evaluations: Evaluations, run_columns: RunColumns) -> pl.DataFrame:
    """One row per corpus and metric; `run_columns` are the values of the columns that all rows share."""
    rows = [
        {
            "study": "",
            **run_columns,
            "split": split,
            "target": target,
            "metric": metric,
            "value": value,
            "n": len(evaluation.gold),
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
        "gold": list(map(as_json, evaluation.gold)),
        "prediction": list(map(as_json, evaluation.predictions)),
        "text": list(map(as_json, evaluation.texts)) if evaluation.texts else [None] * size,
    }
    return pl.DataFrame(columns | counts, schema_overrides={"text": pl.String})


def as_json(value: object) -> str:
    """A gold value or prediction as JSON text.

    >>> as_json([(2, "nsubj"), (0, "root")])
    '[[2, "nsubj"], [0, "root"]]'
    """
    return ENCODER.encode(value)


def _to_json_value(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return str(value)


ENCODER = json.JSONEncoder(ensure_ascii=False, default=_to_json_value)  # created once, not for every value
