"""SRC-SRC and SRC-X, the rows of the paper's Table 1: the source's own score, and the mean over all other targets.

The mean over targets is taken for each run, so that its difference to the reference is paired by seed and its
interval is over seeds, as for a single target.
"""

from __future__ import annotations

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.results.comparisons.deltas import CELL, REFERENCE, deltas, score_rows

OTHER_TARGETS = "X"
LANGUAGE = r"^([^-_ ]+)"  # what the name of a corpus starts with: "en", "en-partut", "en_lines"


def source_to_x(
    rows: pl.DataFrame,
    predictions: pl.LazyFrame | None = None,
    *,
    reference: str = REFERENCE,
    confidence: float = 0.95,
) -> pl.DataFrame:
    """The columns of `deltas`, with the target `X` for the mean over the others, and `pair` such as "EN-X".

    Test sets in the source language but named otherwise ("en-lines") belong to neither.
    """
    scores = score_rows(rows)
    same = scores.filter(pl.col("target") == pl.col("source"))
    others = scores.filter(other_language())
    both = pl.concat([same, mean_over_targets(others, pl.lit(OTHER_TARGETS))])
    pair = pl.col("source").str.to_uppercase() + "-" + pl.col("target").str.to_uppercase()
    return deltas(both, predictions, reference=reference, confidence=confidence).with_columns(pair=pair)


def mean_over_targets(scores: pl.DataFrame, name: pl.Expr) -> pl.DataFrame:
    """One result row per run and metric for the targets of each `name`; runs must share their targets."""
    named = scores.with_columns(group=name)
    experiment = [column for column in scores.columns if column not in {"target", "value", "n"}]
    means = named.group_by([*experiment, "group"], maintain_order=True).agg(
        value=pl.col("value").sort_by("target").mean(), n=pl.col("n").sum(), targets=pl.col("target").sort()
    )
    _check_targets(means)
    return means.with_columns(target="group").select(scores.columns)


def other_language() -> pl.Expr:
    """Whether a row's target is in another language than its source."""
    return pl.col("target").str.extract(LANGUAGE) != pl.col("source").str.extract(LANGUAGE)


def _check_targets(means: pl.DataFrame) -> None:
    """Means over different targets must not be compared."""
    key = [name for name in CELL if name != "target"] + ["group"]
    for _, rows in means.group_by(key, maintain_order=True):
        every = set(rows["targets"].explode())
        for row in rows.iter_rows(named=True):
            if missing := sorted(every - set(row["targets"])):
                run = f"the run of change '{row['changes']}', seed {row['seed']}"
                raise UsageError(f"{run}, has no {row['metric']} on {', '.join(missing)}, as others have: no mean")
