"""Published values beside measured ones: scores, similarity of single layers, correlations of gap and similarity.

Published differences to the reference are added by `results.tables.with_published`. Values that are not scores are
published under a metric such as "spearman before" or "cka layer 5 after".
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from isogloss.report.inputs import ReportInputs
from isogloss.results.rows.curves import FINAL_NORM
from isogloss.results.tables.points import POINTS_PER_UNIT
from isogloss.results.tables.tables import with_published

PUBLISHED_RHO = "published |ρ|"
MISSING_NUMBER = pl.lit(None, pl.Float64)
SIMILARITY_METRIC = r"^(?<index>\S+) layer (?<layer>\d+) (?<when>before|after)$"
SIMILARITY_KEY = ["task", "source", "target", "changes", "index", "layer", "when"]
CORRELATION_KEY = ["task", "source", "changes", "when", "metric", "index"]


def with_published_scores(scores: pl.DataFrame, inputs: ReportInputs) -> pl.DataFrame:
    """Scores with the column `published`, for the reference only: for other conditions, differences are published."""
    published, reference = inputs.results.published, inputs.results.reference
    if published is None:
        return scores.with_columns(published=MISSING_NUMBER)
    joined = with_published(scores.with_columns(change="changes"), published, reference=reference)
    return joined.with_columns(published=pl.when(pl.col("changes") == reference).then("published_reference"))


def with_published_rho(
    correlations: pl.DataFrame, inputs: ReportInputs, main_metrics: Mapping[str, str]
) -> pl.DataFrame:
    """Correlations with the column `PUBLISHED_RHO`. The published ones are those of CKA and of each task's main
    metric, without their sign."""
    published = inputs.results.published
    if published is None:
        return correlations.with_columns(MISSING_NUMBER.alias(PUBLISHED_RHO))
    strengths = published.filter(pl.col("metric").str.starts_with("spearman ")).select(
        "task",
        "source",
        pl.col("value").alias(PUBLISHED_RHO),
        changes="change",
        when=pl.col("metric").str.strip_prefix("spearman "),
        metric=pl.col("task").replace_strict(main_metrics, default=None, return_dtype=pl.String),
        index=pl.lit("cka"),
    )
    return correlations.join(strengths, on=CORRELATION_KEY, how="left", maintain_order="left")


def published_similarity(inputs: ReportInputs) -> pl.DataFrame:
    """Similarity (mean over seeds) of the layers that have a published value, and that value."""
    published, curves = inputs.results.published, inputs.results.curves.frame
    if published is None:
        return pl.DataFrame()
    parsed = published.with_columns(pl.col("metric").str.extract_groups(SIMILARITY_METRIC).alias("parsed"))
    values = parsed.unnest("parsed").drop_nulls("index").rename({"change": "changes"})
    values = values.with_columns(pl.col("layer").cast(pl.Int64), published=pl.col("value") / POINTS_PER_UNIT)
    blocks = curves.filter(pl.col("stage") != FINAL_NORM)
    means = blocks.group_by(SIMILARITY_KEY, maintain_order=True).agg(pl.col("value").mean())
    joined = values.drop("value").join(means, on=SIMILARITY_KEY, maintain_order="left")
    return joined.select(*SIMILARITY_KEY, "value", "published")
