"""SRC-SRC and SRC-X, the rows of the paper's Table 1: the score on the source, and the mean over all other targets.

The mean over targets is computed for each run, so that its difference to the reference is paired by seed and its
interval is over seeds, as for a single target.
"""

from __future__ import annotations

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.results.comparisons.deltas import CELL, REFERENCE, deltas, score_rows

OTHER_TARGETS = "X"
LANGUAGE = r"^([^-_ ]+)"  # the start of a corpus name: "en", "en-partut", "en_lines"


def source_to_x(
    rows: pl.DataFrame, predictions: pl.LazyFrame | None = None, *, reference: str = REFERENCE
) -> pl.DataFrame:
    """The columns of `deltas`, with the target `X` for the mean over the other targets, and `pair` such as "EN-X".

    Test sets in the source language with another name ("en-lines") belong to neither.
    """
    scores = score_rows(rows)
    on_source = scores.filter(pl.col("target") == pl.col("source"))
    merged = pl.concat([on_source, _mean_over_targets(scores.filter(other_language()))])
    pair = pl.col("source").str.to_uppercase() + "-" + pl.col("target").str.to_uppercase()
    return deltas(merged, predictions, reference=reference).with_columns(pair=pair)


def other_language() -> pl.Expr:
    """Whether the target of a row is in another language than its source."""
    return pl.col("target").str.extract(LANGUAGE) != pl.col("source").str.extract(LANGUAGE)


def _mean_over_targets(scores: pl.DataFrame) -> pl.DataFrame:
    """One result row per run and metric; all runs of an experiment must have the same targets."""
    key = [column for column in scores.columns if column not in {"target", "value", "n"}]
    means = scores.group_by(key, maintain_order=True).agg(
        value=pl.col("value").sort_by("target").mean(), n=pl.col("n").sum(), targets=pl.col("target").sort()
    )
    _check_targets(means)
    return means.with_columns(target=pl.lit(OTHER_TARGETS)).select(scores.columns)


def _check_targets(means: pl.DataFrame) -> None:
    """Means over different targets are not comparable."""
    for _, rows in means.group_by([name for name in CELL if name != "target"], maintain_order=True):
        targets = set(rows["targets"].explode())
        for row in rows.iter_rows(named=True):
            if missing := sorted(targets - set(row["targets"])):
                run = f"the run with changes '{row['changes']}', seed {row['seed']}"
                raise UsageError(
                    f"{run}, has no {row['metric']} on {', '.join(missing)}, unlike other runs: no mean over targets"
                )
