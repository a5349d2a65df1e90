"""Result rows and curves for tests, from the values that a test needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from isogloss.results.rows.curves import CURVE_COLUMNS
from isogloss.results.rows.results import RESULT_COLUMNS

FACTS = {"study": "s", "model": "bert", "task": "pos", "source": "en", "split": "test", "metric": "accuracy", "n": 10}


def result_rows(scores: Mapping[tuple[str, str], Sequence[float]], **facts: Any) -> pl.DataFrame:
    """From scores by condition and target, one for each seed: `{("REF", "fr"): [0.5, 0.6]}`."""
    rows = [
        {**FACTS, "changes": change, "target": target, "run": f"{change} {facts} {seed}", "seed": seed, "value": value}
        | facts
        for (change, target), values in scores.items()
        for seed, value in enumerate(values)
    ]
    return pl.DataFrame(rows, schema=RESULT_COLUMNS)


def curve_rows(layers: Mapping[str, Sequence[float]], **facts: Any) -> pl.DataFrame:
    """From similarities by target, one for each layer from 0: `{"fr": [0.1, 0.7]}`."""
    rows = [
        {"model": "bert", "source": "en", "index": "cka", "low": None, "high": None, "n": 100, "note": ""}
        | {"target": target, "layer": layer, "stage": "block" if layer else "embedding", "value": value, **facts}
        for target, values in layers.items()
        for layer, value in enumerate(values)
    ]
    return pl.DataFrame(rows, schema_overrides=CURVE_COLUMNS)
