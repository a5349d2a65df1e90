"""Spearman's ρ between cross-lingual gap and similarity: do languages with higher similarity lose less?

Similarity is the mean over the layers of a curve (embeddings included, final norm excluded), and each layer separately;
before and after fine-tuning. ρ is negative if the gap decreases with similarity; the absolute value, which the paper
reports, is in the column `strength`. The source language is excluded: its gap of 0 and similarity of 1 would inflate
any correlation.
"""

from __future__ import annotations

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.metrics.correlation import spearman
from isogloss.results.comparisons.deltas import score_rows
from isogloss.results.comparisons.target_languages import language_of, other_languages
from isogloss.results.rows.results import EXPERIMENT, Results

BEFORE = "before"  # the model before fine-tuning
CURVE_KEYS = ["index", "when", "layer"]
RUN_COLUMNS = ["study", "changes", "task"]  # columns of curves that identify their runs
CORRELATION_COLUMNS: dict[str, type[pl.DataType] | pl.DataType] = {
    **dict.fromkeys([*EXPERIMENT, "metric", "index", "when"], pl.String),
    "layer": pl.Int64,  # null: the mean over layers
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "strength": pl.Float64,
    "p": pl.Float64,
    "n": pl.Int64,
    "languages": pl.List(pl.String),
    "note": pl.String,
}


def gap_similarity(
    rows: pl.DataFrame, curves: pl.DataFrame, *, confidence: float = 0.95, draws: int = 0, seed: int = 0
) -> pl.DataFrame:
    """One row per experiment, metric, index and time, for the mean over layers (`layer` null) and for each layer.

    The interval is Fisher's, or a bootstrap over languages with `draws`. With fewer than 4 languages or constant values
    there is no correlation, and `note` says why.
    """
    experiment = [*EXPERIMENT, "metric"]
    scored = {key: set(group["target"]) for key, group in cross_lingual_gaps(rows).group_by(experiment)}
    results = []
    for key, group in gaps_beside_similarity(rows, curves).group_by([*experiment, *CURVE_KEYS], maintain_order=True):
        missing = sorted(scored[key[: len(experiment)]] - set(group["target"]))
        note = {"note": f"no curve of {', '.join(missing)}"} if missing else {"note": ""}
        named = dict(zip([*experiment, *CURVE_KEYS], key, strict=True))
        languages = {"languages": sorted({str(language_of(target)) for target in group["target"]})}
        results.append(named | note | languages | _correlation(group, confidence, draws, seed))
    return pl.DataFrame(results, schema=CORRELATION_COLUMNS)


def gaps_beside_similarity(rows: pl.DataFrame, curves: pl.DataFrame) -> pl.DataFrame:
    """The `gap` (mean over seeds; `gap_to` the test or dev set of the source) and `similarity` of each target.

    A curve is joined with the runs of its model and source, and of its study, changes and task if it has these columns.
    """
    gaps = cross_lingual_gaps(rows)
    if "when" not in curves.columns:
        curves = curves.with_columns(when=pl.lit(BEFORE))
    parts = [_join_curves(gaps, part) for part in curves.partition_by("when", maintain_order=True)]
    beside = pl.concat(parts) if parts else gaps.clear()
    if beside.is_empty():
        raise UsageError(
            f"no curve belongs to these results: scores of {_describe_keys(gaps)}, curves of {_describe_keys(curves)}"
        )
    return beside.sort(*EXPERIMENT, "metric", *CURVE_KEYS, "target")


def cross_lingual_gaps(rows: pl.DataFrame) -> pl.DataFrame:
    """The gap of each experiment, target and metric, mean over seeds, for the test sets that stand for
    other languages."""
    score_rows(rows)  # raises an error for duplicate scores
    gaps = other_languages(Results(rows.unique(maintain_order=True)).gaps())
    in_source = rows.filter(pl.col("target") == pl.col("source")).select("run", "metric")
    without_source = gaps.join(in_source, on=["run", "metric"], how="anti")
    if not without_source.is_empty():
        source = without_source["source"][0]
        raise UsageError(f"a gap needs a score in the source language: no test or dev set of '{source}' was scored")
    gaps = gaps.drop_nulls("gap")  # of targets that were scored by another script than the source
    return gaps.group_by([*EXPERIMENT, "target", "metric"], maintain_order=True).agg(
        gap=pl.col("gap").sort_by("seed").mean(), gap_to=pl.col("gap_to").unique().sort().str.join(" and ")
    )


def _join_curves(gaps: pl.DataFrame, curves: pl.DataFrame) -> pl.DataFrame:
    """The gaps joined with the curves of one time, by layer and for the mean over layers."""
    run_columns = [name for name in RUN_COLUMNS if name in curves.columns and curves[name].null_count() == 0]
    key = ["model", "source", "target", *run_columns, "index", "when"]
    # a missing layer makes the mean NaN: means over different layers are not comparable
    layers = curves.filter(pl.col("stage") != "final norm").with_columns(pl.col("value").fill_null(float("nan")))
    layers = layers.sort("layer", "value")  # fixed order of summation, so that ties stay ties
    by_layer = layers.group_by([*key, "layer"], maintain_order=True).agg(similarity=pl.col("value").mean())
    layer_means = by_layer.group_by(key, maintain_order=True).agg(pl.col("similarity").mean())
    both = pl.concat([layer_means.with_columns(layer=pl.lit(None, pl.Int64)), by_layer], how="diagonal")
    finite = both.filter(pl.col("similarity").is_finite())
    beside = gaps.join(finite, on=["model", "source", "target", *run_columns])
    return beside.select(*EXPERIMENT, "target", "metric", "gap", "gap_to", *CURVE_KEYS, "similarity")


def _describe_keys(frame: pl.DataFrame) -> str:
    """The models, sources and targets of a frame, for an error message."""
    names = {column: sorted(set(frame[column])) for column in ("model", "source", "target")}
    return "; ".join(f"{column} {', '.join(values) or 'none'}" for column, values in names.items())


def _correlation(group: pl.DataFrame, confidence: float, draws: int, seed: int) -> dict[str, object]:
    try:
        correlation = spearman(group["gap"], group["similarity"], confidence=confidence, draws=draws, seed=seed)
    except UsageError as error:
        return {"n": group.height, "note": str(error)}
    values = {name: getattr(correlation, name) for name in ("value", "low", "high", "p", "n")}
    return {**values, "strength": abs(correlation.value)}
