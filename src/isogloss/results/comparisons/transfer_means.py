"""The mean over languages: the row X of the paper's Table 1.

The mean is computed for each run, so that its difference to the reference is paired by seed and its interval is over
seeds, as for a single target. `target_languages` defines which test sets count.
"""

from __future__ import annotations

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.results.comparisons.deltas import CELL
from isogloss.results.comparisons.target_languages import other_languages

OTHER_TARGETS = "X"
MIN_LANGUAGES_OF_MEAN = 2
RUN_AND_METRIC = [*(name for name in CELL if name != "target"), "run", "changes", "split", "seed"]


class TargetsDiffer(UsageError):
    """Runs of one experiment have different targets, so that their means are not comparable."""


def mean_over_languages(scores: pl.DataFrame) -> pl.DataFrame:
    """Result rows with the target X, one per run and metric with at least two other languages, and their `languages`.

    All runs of an experiment must have the same targets; test sets of one language are averaged first.
    """
    counted = other_languages(scores)
    key = RUN_AND_METRIC
    _check_targets(counted.group_by(key, maintain_order=True).agg(targets="target"))
    mean = pl.col("value").sort_by("target").mean()
    by_language = counted.group_by([*key, "language"], maintain_order=True).agg(mean, pl.col("n").sum())
    over_languages = by_language.group_by(key, maintain_order=True).agg(
        pl.col("value").sort_by("language").mean(), pl.col("n").sum(), languages=pl.col("language").sort()
    )
    several = over_languages.filter(pl.col("languages").list.len() >= MIN_LANGUAGES_OF_MEAN)
    return several.with_columns(target=pl.lit(OTHER_TARGETS))


def _check_targets(runs: pl.DataFrame) -> None:
    """Means over different targets are not comparable."""
    for _, rows in runs.group_by([name for name in CELL if name != "target"], maintain_order=True):
        targets = set(rows["targets"].explode())
        for row in rows.iter_rows(named=True):
            if missing := sorted(targets - set(row["targets"])):
                run = f"the run with changes '{row['changes']}', seed {row['seed']}"
                raise TargetsDiffer(
                    f"{run}, has no {row['metric']} on {', '.join(missing)}, unlike other runs: no mean over languages"
                )
