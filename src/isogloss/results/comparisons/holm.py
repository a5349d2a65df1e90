"""Holm's correction of the rows of `deltas`: which differences hold although many are tested?"""

from __future__ import annotations

import polars as pl

from isogloss.metrics.significance import holm

FAMILY = ["study", "model", "task", "source", "metric"]  # tests that are corrected jointly


def with_holm_correction(deltas: pl.DataFrame) -> pl.DataFrame:
    """The rows with `holm`: p corrected for all tests of the same experiment and metric; null where p is null.

    >>> rows = {name: ["a", "a"] for name in FAMILY} | {"p": [0.01, 0.04]}
    >>> with_holm_correction(pl.DataFrame(rows))["holm"].to_list()
    [0.02, 0.04]
    """
    return deltas.with_columns(holm=pl.col("p").map_batches(_holm, return_dtype=pl.Float64).over(FAMILY))


def _holm(p: pl.Series) -> pl.Series:
    tested = p.is_not_null()
    corrected = iter(holm(p.drop_nulls().to_list())) if tested.any() else iter(())
    return pl.Series(p.name, [next(corrected) if has_p else None for has_p in tested], dtype=pl.Float64)
