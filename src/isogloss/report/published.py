"""Published values beside measured ones: scores, similarity of single layers, correlations of gap and similarity.

Differences to the reference have theirs from `results.tables.with_published`. What is no score is published under a
metric that says so: "spearman before", "cka layer 5 after".
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from isogloss.report.inputs import ReportInputs
from isogloss.results.rows.curves import FINAL_NORM
from isogloss.results.tables.tables import POINTS_PER_UNIT, with_published

STRENGTH = "published |ρ|"
NOTHING = pl.lit(None, pl.Float64)
SIMILARITY = r"^(?<index>\S+) layer (?<layer>\d+) (?<when>before|after)$"
PLACE = ["task", "source", "target", "changes", "index", "layer", "when"]


def with_published_scores(scores: pl.DataFrame, inputs: ReportInputs) -> pl.DataFrame:
    """Scores with the column `published`. Of others than the reference, differences are published."""
    published, reference = inputs.results.published, inputs.results.reference
    if published is None:
        return scores.with_columns(published=NOTHING)
    named = with_published(scores.with_columns(change="changes"), published, reference=reference)
    return named.with_columns(published=pl.when(pl.col("changes") == reference).then("published_reference"))


def with_published_strength(
    correlations: pl.DataFrame, inputs: ReportInputs, main_metrics: Mapping[str, str]
) -> pl.DataFrame:
    """Correlations with the column `STRENGTH`: those that were published are of CKA and of each task's main metric, and
    told without their sign."""
    published = inputs.results.published
    if published is None:
        return correlations.with_columns(NOTHING.alias(STRENGTH))
    told = published.filter(pl.col("metric").str.starts_with("spearman "))
    when = pl.col("metric").str.strip_prefix("spearman ")
    metric = pl.col("task").replace_strict(main_metrics, default=None, return_dtype=pl.String)
    told = told.select(
        "task",
        "source",
        pl.col("value").alias(STRENGTH),
        changes="change",
        when=when,
        metric=metric,
        index=pl.lit("cka"),
    )
    key = ["task", "source", "changes", "when", "metric", "index"]
    return correlations.join(told, on=key, how="left", maintain_order="left")


def published_similarity(inputs: ReportInputs) -> pl.DataFrame:
    """Similarity of the layers that there is a published value of, mean over seeds, and that value."""
    published, curves = inputs.results.published, inputs.results.curves.frame
    if published is None:
        return pl.DataFrame()
    named = published.with_columns(pl.col("metric").str.extract_groups(SIMILARITY).alias("named")).unnest("named")
    layer = pl.col("layer").cast(pl.Int64)
    told = (
        named.drop_nulls("index")
        .rename({"change": "changes"})
        .with_columns(layer, published=pl.col("value") / POINTS_PER_UNIT)
    )
    blocks = curves.filter(pl.col("stage") != FINAL_NORM)
    means = blocks.group_by(PLACE, maintain_order=True).agg(pl.col("value").mean())
    return told.drop("value").join(means, on=PLACE, maintain_order="left").select(*PLACE, "value", "published")
