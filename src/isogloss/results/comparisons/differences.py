"""All differences to the reference and which are significant: of every target, and of the mean over languages.

Tables, findings, report and demo read their numbers and stars from here, so that one number has one significance.
"""

from __future__ import annotations

import polars as pl

from isogloss.results.comparisons.deltas import CELL, CROSSED, DELTA_COLUMNS, REFERENCE, deltas, score_rows
from isogloss.results.comparisons.marks import with_marks
from isogloss.results.comparisons.target_languages import uncounted_targets
from isogloss.results.comparisons.transfer_means import OTHER_TARGETS, TargetsDiffer, mean_over_languages

# `languages`: those of a mean, null for a single target
DIFFERENCE_COLUMNS: dict[str, type[pl.DataType] | pl.DataType] = {
    **DELTA_COLUMNS,
    "languages": pl.List(pl.String),
    "holm": pl.Float64,
    "significant": pl.Boolean,
    "stars": pl.String,
}


def differences(
    rows: pl.DataFrame,
    predictions: pl.LazyFrame | None = None,
    *,
    reference: str = REFERENCE,
    test: str = CROSSED,
    means: bool = True,
) -> pl.DataFrame:
    """The columns of `deltas`, with `languages`, `holm`, `significant` and `stars`.

    With `means`, also the target X: the mean over the other languages, if there are several. Its tests belong to the
    same family as those of the single targets.
    """
    single = deltas(rows, predictions, reference=reference, test=test)
    over_languages = _mean_differences(rows, reference) if means else single.clear()
    joined = pl.concat([single, over_languages], how="diagonal_relaxed")
    if "languages" not in joined.columns:
        joined = joined.with_columns(languages=pl.lit(None, pl.List(pl.String)))
    return with_marks(joined).select(*DIFFERENCE_COLUMNS)


def noted_differences(
    rows: pl.DataFrame, predictions: pl.LazyFrame | None = None, *, reference: str = REFERENCE, test: str = CROSSED
) -> tuple[pl.DataFrame, list[str]]:
    """The differences, without the mean over languages where targets are missing; and sentences on what is missing."""
    notes = []
    try:
        compared = differences(rows, predictions, reference=reference, test=test)
    except TargetsDiffer as error:
        compared = differences(rows, predictions, reference=reference, test=test, means=False)
        notes.append(f"The mean over languages is missing: {error}.")
    if uncounted := uncounted_targets(score_rows(rows)):
        notes.append(f"Not counted as languages in means: {', '.join(uncounted)}.")
    return compared, notes


def source_to_x(
    rows: pl.DataFrame, predictions: pl.LazyFrame | None = None, *, reference: str = REFERENCE
) -> pl.DataFrame:
    """The differences on the source and on the mean over the other languages, with `pair` such as "EN-X"."""
    compared = differences(rows, predictions, reference=reference)
    pair = pl.col("source").str.to_uppercase() + "-" + pl.col("target").str.to_uppercase()
    mean = pl.col("target") == OTHER_TARGETS
    selected = compared.filter(mean | (pl.col("target") == pl.col("source"))).sort(mean, maintain_order=True)
    return selected.with_columns(pair=pair)


def _mean_differences(rows: pl.DataFrame, reference: str) -> pl.DataFrame:
    """There are no examples that the mean is a score of: it is tested over seeds."""
    means = mean_over_languages(score_rows(rows))
    if means.is_empty():
        return pl.DataFrame(schema=DELTA_COLUMNS)
    experiment = [name for name in CELL if name != "target"]
    languages = means.select(*experiment, "languages").unique(experiment, keep="first", maintain_order=True)
    compared = deltas(means.drop("languages"), reference=reference)
    return compared.join(languages, on=experiment, how="left", maintain_order="left")
