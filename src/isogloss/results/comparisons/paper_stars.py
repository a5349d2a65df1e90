"""Marks of significance with the meaning of a paper, for tables that are compared with its tables.

The cross-lingual adjustment paper marks a difference to the original model with one star, and a difference of continual
learning to the adjusted model with two, each at p < .05 without a correction.
"""

from __future__ import annotations

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.results.comparisons.deltas import CELL, deltas
from isogloss.results.comparisons.marks import SIGNIFICANCE_LEVEL
from isogloss.results.comparisons.published_values import STAR_COLUMNS

PUBLISHED_TEST = "published"


def with_paper_stars(
    differences: pl.DataFrame, rows: pl.DataFrame, predictions: pl.LazyFrame | None, published: pl.DataFrame | None
) -> tuple[pl.DataFrame, str]:
    """Differences with the marks of the paper as `stars`, and the sentence that explains them."""
    meanings = _meanings(published)
    if not meanings:
        raise UsageError("the paper of these published values declares no stars: see 'stars' of published_conditions")
    marked = []
    for change, (star, versus) in meanings.items():
        compared = rows.filter(pl.col("changes").is_in([change, versus]))
        if compared["changes"].n_unique() == 2:
            tested = deltas(compared, predictions, reference=versus, test=PUBLISHED_TEST)
            significant = pl.col("p") < SIGNIFICANCE_LEVEL
            mark = pl.when(significant).then(pl.lit(star)).otherwise(pl.lit(""))
            marked.append(tested.select(*CELL, "change", stars=mark))
    stars = pl.concat(marked) if marked else differences.select(*CELL, "change", stars=pl.lit("")).clear()
    joined = differences.drop("stars").join(stars, on=[*CELL, "change"], how="left", maintain_order="left")
    parts = [f"{star} differs from {versus}" for star, versus in dict.fromkeys(meanings.values())]
    note = (
        f"Stars as in the paper: {', '.join(parts)} (p < .05, not corrected; t-test over examples averaged over seeds, "
        "or permutation test)."
    )
    return joined.with_columns(pl.col("stars").fill_null("")), note


def _meanings(published: pl.DataFrame | None) -> dict[str, tuple[str, str]]:
    """By condition: its mark, and the condition that it is compared with."""
    if published is None or not set(STAR_COLUMNS) <= set(published.columns):
        return {}
    marks = published.filter(pl.col("star") != "").select("change", *STAR_COLUMNS).unique(maintain_order=True)
    return {change: (star, versus) for change, star, versus in marks.iter_rows()}
