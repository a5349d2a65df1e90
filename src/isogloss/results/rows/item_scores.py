"""The score of each item, from the counts in the predictions: which sentences have errors?"""

from __future__ import annotations

from operator import attrgetter

import polars as pl

from isogloss.results.comparisons.example_tests import COUNTS_BY_FIELDS, SCORE_NAMES, field_names


def with_item_scores(predictions: pl.DataFrame, metric: str) -> pl.DataFrame:
    """The rows with `score`, 0 to 1; null for items without counts of the metric.

    >>> rows = pl.DataFrame({"accuracy.correct": [1, 4], "accuracy.total": [4, 4]})
    >>> with_item_scores(rows, "accuracy")["score"].to_list()
    [0.25, 1.0]
    """
    columns = [name for name in predictions.columns if name.startswith(f"{metric}.")]
    fields = {name.removeprefix(f"{metric}."): name for name in columns if not _empty(predictions[name])}
    kind = COUNTS_BY_FIELDS.get(frozenset(fields))
    if kind is None:
        return predictions.with_columns(score=pl.lit(None, pl.Float64))
    names = [fields[name] for name in field_names(kind)]
    score = attrgetter(SCORE_NAMES.get(metric, metric))
    values = [None if None in row else float(score(kind(*row))) for row in predictions.select(names).iter_rows()]
    return predictions.with_columns(score=pl.Series(values, dtype=pl.Float64))


def _empty(column: pl.Series) -> bool:
    return column.null_count() == len(column)
