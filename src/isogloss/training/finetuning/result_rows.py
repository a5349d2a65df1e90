"""Evaluations as rows: scores of whole corpora, and predictions of single items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

import polars as pl

from isogloss.results.rows.results import RESULT_COLUMNS
from isogloss.training.finetuning.evaluation import Evaluation

Evaluations = Mapping[tuple[str, str], Evaluation]  # by split and target


def result_rows(evaluations: Evaluations, facts: Mapping[str, Any]) -> pl.DataFrame:
    """One row per corpus and metric; `facts` fill the columns that all rows share."""
    rows = [
        {
            "study": "",
            **facts,
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


def prediction_rows(evaluations: Evaluations, facts: Mapping[str, Any]) -> pl.DataFrame:
    """One row per item of the test sets."""
    parts = [
        _item_rows(evaluation, {**facts, "target": target})
        for (split, target), evaluation in evaluations.items()
        if split == "test"
    ]
    return pl.concat(parts, how="vertical_relaxed") if parts else pl.DataFrame()


def _item_rows(evaluation: Evaluation, facts: Mapping[str, Any]) -> pl.DataFrame:
    """The columns of one test set, each by itself: row by row takes twice as long."""
    size = len(evaluation.gold)
    counts = {
        f"{metric}.{name}": [getattr(each, name) for each in counted]
        for metric, counted in evaluation.counts.items()
        for name in vars(counted[0])
    }
    columns = {name: [value] * size for name, value in facts.items()} | {
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


def _to_json_value(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return str(value)


ENCODER = json.JSONEncoder(ensure_ascii=False, default=_to_json_value)  # made once, not for every value
