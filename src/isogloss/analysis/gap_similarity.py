"""Do languages that a model sees as similar lose less? Spearman's ρ of cross-lingual gap and similarity.

Similarity is the mean over the layers of a curve (embeddings included, the final norm left aside as it is no
layer of its own), and each layer by itself; before fine-tuning and after. The sign is kept: ρ is negative where
the gap shrinks as similarity grows. The paper reports the strength alone, here in a column of its own. The source
is not among the languages: its gap of 0 and similarity of 1 would make any correlation look strong.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.metrics.correlation import spearman
from isogloss.results.comparisons.deltas import score_rows
from isogloss.results.comparisons.transfer_means import other_language
from isogloss.results.rows.results import EXPERIMENT, Results

BEFORE = "before"  # what `similarity` measures of a model nothing was done to
CURVE_KEYS = ["index", "when", "layer"]
RUN_COLUMNS = ["study", "changes", "task"]  # what curve rows may say of the runs that they belong to
CORRELATION_COLUMNS = {
    **dict.fromkeys([*EXPERIMENT, "metric", "index", "when"], pl.String),
    "layer": pl.Int64,  # none: the mean over layers
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "strength": pl.Float64,
    "p": pl.Float64,
    "n": pl.Int64,
    "note": pl.String,
}


def gap_similarity(
    rows: pl.DataFrame, curves: pl.DataFrame, *, confidence: float = 0.95, draws: int = 0, seed: int = 0
) -> pl.DataFrame:
    """One row per experiment, metric, index and time, for the mean over layers (`layer` null) and for each layer.

    The interval is Fisher's, or a bootstrap over languages with `draws`. Fewer than 4 languages, or values that
    are all the same, have no correlation: the row says so in `note`.
    """
    experiment = [*EXPERIMENT, "metric"]
    scored = {key: set(group["target"]) for key, group in cross_lingual_gaps(rows).group_by(experiment)}
    results = []
    for key, group in gaps_beside_similarity(rows, curves).group_by([*experiment, *CURVE_KEYS], maintain_order=True):
        missing = sorted(scored[key[: len(experiment)]] - set(group["target"]))
        note = {"note": f"no curve of {', '.join(missing)}"} if missing else {"note": ""}
        named = dict(zip([*experiment, *CURVE_KEYS], key, strict=True))
        results.append(named | note | _correlation(group, confidence, draws, seed))
    return pl.DataFrame(results, schema=CORRELATION_COLUMNS)


def gaps_beside_similarity(rows: pl.DataFrame, curves: pl.DataFrame) -> pl.DataFrame:
    """Each target's `gap` (mean over seeds) and `similarity`: all that correlation and prediction need.

    A curve belongs to the runs of its model and source, and of its study, changes and task where it names them.
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
    """The gap of each experiment, target and metric, mean over seeds; test sets in the source language left out."""
    score_rows(rows)  # each score once, or an error
    gaps = Results(rows.unique(maintain_order=True)).gaps().filter(other_language())
    without_gap = gaps.filter(pl.col("gap").is_null())
    if not without_gap.is_empty():
        source = without_gap["source"][0]
        raise UsageError(f"no gap without a score in the source language: no test or dev set of '{source}' was scored")
    return gaps.group_by([*EXPERIMENT, "target", "metric"], maintain_order=True).agg(
        gap=pl.col("gap").sort_by("seed").mean()
    )


def _join_curves(gaps: pl.DataFrame, curves: pl.DataFrame) -> pl.DataFrame:
    """The gaps beside the curves of one time, layer by layer and on the mean."""
    run_columns = [name for name in RUN_COLUMNS if name in curves.columns and curves[name].null_count() == 0]
    key = ["model", "source", "target", *run_columns, "index", "when"]
    # a layer without a value leaves the mean without one: means over different layers do not compare
    layers = curves.filter(pl.col("stage") != "final norm").with_columns(pl.col("value").fill_null(float("nan")))
    layers = layers.sort("layer", "value")  # sums in one order, as languages may tie
    by_layer = layers.group_by([*key, "layer"], maintain_order=True).agg(similarity=pl.col("value").mean())
    layer_means = by_layer.group_by(key, maintain_order=True).agg(pl.col("similarity").mean())
    both = pl.concat([layer_means.with_columns(layer=pl.lit(None, pl.Int64)), by_layer], how="diagonal")
    finite = both.filter(pl.col("similarity").is_finite())
    beside = gaps.join(finite, on=["model", "source", "target", *run_columns])
    return beside.select(*EXPERIMENT, "target", "metric", "gap", *CURVE_KEYS, "similarity")


def _describe_keys(frame: pl.DataFrame) -> str:
    """The models, sources and targets of a frame, for an error message."""
    names = {column: sorted(set(frame[column])) for column in ("model", "source", "target")}
    return "; ".join(f"{column} {', '.join(values) or 'none'}" for column, values in names.items())


def _correlation(group: pl.DataFrame, confidence: float, draws: int, seed: int) -> dict[str, Any]:
    try:
        correlation = spearman(group["gap"], group["similarity"], confidence=confidence, draws=draws, seed=seed)
    except UsageError as error:
        return {"n": group.height, "note": str(error)}
    values = {name: getattr(correlation, name) for name in ("value", "low", "high", "p", "n")}
    return {**values, "strength": abs(correlation.value)}
