"""Significant differences and their stars: one definition for tables, sentences, report, explorer and diagnosis.

A difference is significant if p is below .05 after Holm's correction for its family of tests, and if the interval over
seeds, where there is one, excludes 0: a test over examples alone would mistake the variance of a few seeds for an
effect. One, two and three stars are significant differences with a corrected p below .05, .01 and .001. A family are
all tests of one experiment and metric: every target and the mean over languages, in every condition.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from isogloss.metrics.significance import holm

SIGNIFICANCE_LEVEL = 0.05
STAR_LEVELS = (SIGNIFICANCE_LEVEL, 0.01, 0.001)
FAMILY = ("study", "model", "task", "source", "metric")


def with_marks(rows: pl.DataFrame, family: Sequence[str] = FAMILY) -> pl.DataFrame:
    """Rows with `p`, `low` and `high`, and with `holm` (null where p is), `significant` and `stars`.

    An empty `family` is that of all rows.

    >>> rows = pl.DataFrame({"p": [0.01, 0.04, 0.0001], "low": [0.1, 0.1, -0.1], "high": [0.3, 0.2, 0.1]})
    >>> marked = with_marks(rows, family=())
    >>> marked["holm"].round(4).to_list(), marked["stars"].to_list()
    ([0.02, 0.04, 0.0003], ['*', '*', ''])
    """
    corrected = pl.col("p").cast(pl.Float64).map_batches(_holm, return_dtype=pl.Float64)
    rows = rows.with_columns(holm=corrected.over(*family) if family else corrected)
    excludes_zero = ((pl.col("low") > 0) | (pl.col("high") < 0)).fill_null(True)
    rows = rows.with_columns(significant=((pl.col("holm") < SIGNIFICANCE_LEVEL) & excludes_zero).fill_null(False))
    return rows.with_columns(stars=pl.when("significant").then(_stars()).otherwise(pl.lit("")))


def stars_note(reference: str) -> str:
    """What the stars of a table mean."""
    return (
        f"Stars: significant difference to {reference}, p < .05 (*), .01 (**), .001 (***) after Holm's correction for "
        "all tests of an experiment and metric, and an interval over seeds that excludes 0."
    )


def _holm(p: pl.Series) -> pl.Series:
    values = iter(holm(p.drop_nulls().to_list()))
    return pl.Series(p.name, [None if value is None else next(values) for value in p], dtype=pl.Float64)


def _stars() -> pl.Expr:
    return pl.concat_str(
        pl.when(pl.col("holm") < level).then(pl.lit("*")).otherwise(pl.lit("")) for level in STAR_LEVELS
    )
