"""The score of every item by itself, from the counts that predictions carry: which sentences went wrong?"""

from __future__ import annotations

from operator import attrgetter

import polars as pl

from isogloss.results.comparisons.example_tests import COUNTS, SCORES


def with_item_scores(predictions: pl.DataFrame, metric: str) -> pl.DataFrame:
    """The rows with `score`, 0 to 1; null where an item has no counts of the metric.

    >>> rows = pl.DataFrame({"accuracy.correct": [1, 4], "accuracy.total": [4, 4]})
    >>> with_item_scores(rows, "accuracy")["score"].to_list()
    [0.25, 1.0]
    """
    own = [name for name in predictions.columns if name.startswith(f"{metric}.") and not _empty(predictions[name])]
    fields = {name.removeprefix(f"{metric}."): name for name in own}
    kind = COUNTS.get(frozenset(fields))
    if kind is None:
        return predictions.with_columns(score=pl.lit(None, pl.Float64))
    names = [fields[field] for field in kind.__dataclass_fields__]  # type: ignore[attr-defined]
    score = attrgetter(SCORES.get(metric, metric))
    values = [None if None in row else float(score(kind(*row))) for row in predictions.select(names).iter_rows()]
    return predictions.with_columns(score=pl.Series(values, dtype=pl.Float64))


def _empty(column: pl.Series) -> bool:
    return column.null_count() == len(column)
