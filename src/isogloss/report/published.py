"""Published values beside measured ones: scores, similarity of single layers, correlations of gap and similarity.

Published differences to the reference are added by `results.comparisons.published_values`. Values that are not scores
are published under a metric such as "spearman before" or "cka layer 5 after".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from isogloss.report.inputs import ReportInputs
from isogloss.results.comparisons.published_values import joined_reasons, mean_mismatch, with_conditions, with_published
from isogloss.results.rows.curves import FINAL_NORM
from isogloss.results.tables.points import POINTS_PER_UNIT

PUBLISHED_RHO = "published |ρ|"
MISSING_NUMBER = pl.lit(None, pl.Float64)
SIMILARITY_METRIC = r"^(?<index>\S+) layer (?<layer>\d+) (?<when>before|after)$"
SIMILARITY_KEY = ["task", "source", "target", "changes", "index", "layer", "when"]
CORRELATION_KEY = ["task", "source", "changes", "when", "metric", "index"]


def with_published_scores(scores: pl.DataFrame, inputs: ReportInputs) -> pl.DataFrame:
    """Scores with the columns `published` and `mismatch`, for the reference only: for other conditions, differences are
    published."""
    published, reference = inputs.results.published, inputs.results.reference
    if published is None:
        return scores.with_columns(published=MISSING_NUMBER, mismatch=pl.lit(None, pl.String))
    joined = with_published(scores.with_columns(change="changes"), published, reference=reference)
    is_reference = pl.when(pl.col("changes") == reference)
    return joined.with_columns(
        published=is_reference.then("published_reference"), mismatch=is_reference.then("reference_mismatch")
    )


def with_published_rho(
    correlations: pl.DataFrame, inputs: ReportInputs, main_metrics: Mapping[str, str]
) -> pl.DataFrame:
    """Correlations with the columns `PUBLISHED_RHO` and `mismatch`. The published ones are those of CKA and of each
    task's main metric, without their sign."""
    published = inputs.results.published
    if published is None:
        return correlations.with_columns(MISSING_NUMBER.alias(PUBLISHED_RHO), mismatch=pl.lit(None, pl.String))
    strengths = (
        with_conditions(published)
        .filter(pl.col("metric").str.starts_with("spearman "))
        .select(
            *(["model"] if "model" in published.columns else []),
            "task",
            "source",
            "mismatch",
            pl.col("value").alias(PUBLISHED_RHO),
            published_languages="languages",
            changes="change",
            when=pl.col("metric").str.strip_prefix("spearman "),
            metric=pl.col("task").replace_strict(main_metrics, default=None, return_dtype=pl.String),
            index=pl.lit("cka"),
        )
    )
    key = [*CORRELATION_KEY, *(["model"] if "model" in published.columns else [])]
    joined = correlations.join(strengths, on=key, how="left", maintain_order="left")
    reasons = [
        None if reason is None else joined_reasons(_sample_mismatch(published, measured), reason)
        for reason, published, measured in joined.select("mismatch", "published_languages", "languages").iter_rows()
    ]
    return joined.with_columns(mismatch=pl.Series(reasons, dtype=pl.String)).drop("published_languages")


def _sample_mismatch(published: Sequence[str] | None, measured: Sequence[str] | None) -> str:
    """As for means: a correlation over other languages is not comparable."""
    return mean_mismatch(published, measured).replace("mean of", "correlation over", 1)


def published_similarity(inputs: ReportInputs) -> pl.DataFrame:
    """Similarity (mean over seeds) of the layers that have a published value, and that value."""
    published, curves = inputs.results.published, inputs.results.curves.frame
    if published is None:
        return pl.DataFrame()
    parsed = with_conditions(published).with_columns(
        pl.col("metric").str.extract_groups(SIMILARITY_METRIC).alias("parsed")
    )
    values = parsed.unnest("parsed").drop_nulls("index").rename({"change": "changes"})
    values = values.with_columns(pl.col("layer").cast(pl.Int64), published=pl.col("value") / POINTS_PER_UNIT)
    blocks = curves.filter(pl.col("stage") != FINAL_NORM)
    key = [*SIMILARITY_KEY, *(["model"] if "model" in published.columns else [])]
    means = blocks.group_by(key, maintain_order=True).agg(pl.col("value").mean())
    joined = values.drop("value").join(means, on=key, maintain_order="left")
    return joined.select(*SIMILARITY_KEY, "value", "published", "mismatch")
