"""Evaluations as rows: scores of whole corpora, and predictions of single items."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

import polars as pl

from isogloss.results.record import RESULT_COLUMNS
from isogloss.training.evaluation import Evaluation

Evaluations = Mapping[tuple[str, str], Evaluation]  # by split and target


def result_rows(evaluations: Evaluations, facts: Mapping[str, Any]) -> pl.DataFrame:
    """One row per corpus and metric; `facts` fill the columns that all rows share."""
    rows = [
        {"study": "", **facts, "split": split, "target": target, "metric": metric, "value": value, "n": len(one.gold)}
        for (split, target), one in evaluations.items()
        for metric, value in one.scores.items()
    ]
    return pl.DataFrame(rows, schema=RESULT_COLUMNS)


def prediction_rows(evaluations: Evaluations, facts: Mapping[str, Any]) -> pl.DataFrame:
    """One row per item of the test sets."""
    return pl.DataFrame(list(_items(evaluations, facts)), infer_schema_length=None)


def _items(evaluations: Evaluations, facts: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for (split, target), one in evaluations.items():
        if split != "test":
            continue
        texts = one.texts or [None] * len(one.gold)
        for item, (gold, prediction, text) in enumerate(zip(one.gold, one.predictions, texts, strict=True)):
            counts = {
                f"{metric}.{name}": value
                for metric, counted in one.counts.items()
                for name, value in vars(counted[item]).items()
            }
            row = {**facts, "target": target, "item": item, "gold": as_json(gold), "prediction": as_json(prediction)}
            yield {**row, "text": None if text is None else as_json(text), **counts}


def as_json(value: object) -> str:
    """A gold value or prediction as JSON text.

    >>> as_json([(2, "nsubj"), (0, "root")])
    '[[2, "nsubj"], [0, "root"]]'
    """
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return str(value)
