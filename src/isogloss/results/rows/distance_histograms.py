"""Distances of related and unrelated words by model: histograms, and how well they separate."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from isogloss.results.rows.results import Schema

if TYPE_CHECKING:
    import altair

# `metric`: l2 or cosine; `words`: related or unrelated
HISTOGRAM_COLUMNS: Schema = {
    **dict.fromkeys(["model", "pair", "layer", "metric", "words"], pl.String),
    **dict.fromkeys(["low", "high"], pl.Float64),
    "count": pl.Int64,
    "share": pl.Float64,
}
SUMMARY_COLUMNS: Schema = {
    **dict.fromkeys(["model", "pair", "layer", "metric"], pl.String),
    **dict.fromkeys(["related", "unrelated"], pl.Float64),  # mean distances
    "overlap": pl.Float64,
    "separation": pl.Float64,  # area under the ROC curve
    "d_prime": pl.Float64,
    "n": pl.Int64,  # related pairs
}
SHARE_COLUMNS: Schema = {  # share of the squared distance of related pairs in the dimensions that differ most
    **dict.fromkeys(["model", "pair", "layer"], pl.String),
    "dimensions": pl.Int64,
    "share": pl.Float64,
}
DISTANCE_SCHEMAS = (HISTOGRAM_COLUMNS, SUMMARY_COLUMNS, SHARE_COLUMNS)


@dataclass(frozen=True)
class DistanceHistograms:
    """The return value of `ig.word_distances`; those of several language pairs add with `+`."""

    frame: pl.DataFrame
    summary: pl.DataFrame
    shares: pl.DataFrame

    def __add__(self, other: DistanceHistograms) -> DistanceHistograms:
        frames = ((self.frame, other.frame), (self.summary, other.summary), (self.shares, other.shares))
        return DistanceHistograms(*map(pl.concat, frames))

    def labelled(self) -> DistanceHistograms:
        """The histograms of a study with a `model` that names condition, fine-tuning and whatever else differs.

        "Adjusted" was measured before fine-tuning, "Adjusted, fine-tuned (nli)" after it.
        """
        if "changes" not in self.frame.columns:
            return self
        distinct = {name for name in ("study", "model", "source", "seed") if self.frame[name].n_unique() > 1}
        prefixes = [pl.col(name) for name in ("study", "model") if name in distinct]
        task = pl.format("{} from {}", "task", "source") if "source" in distinct else pl.col("task")
        after = pl.when(pl.col("when") == "after").then(pl.concat_str(pl.lit(", fine-tuned ("), task, pl.lit(")")))
        seed = [pl.format(", seed {}", "seed")] if "seed" in distinct else []
        condition = pl.concat_str("changes", after.otherwise(pl.lit("")), *seed)
        name = pl.concat_str(*prefixes, condition, separator=" ")
        named = (frame.with_columns(model=name) for frame in (self.frame, self.summary, self.shares))
        labelled = (frame.select(*columns) for frame, columns in zip(named, DISTANCE_SCHEMAS, strict=True))
        return DistanceHistograms(*(frame.unique(maintain_order=True) for frame in labelled))

    def table(self) -> pl.DataFrame:
        """The summary with the shares of the distance, one column per number of dimensions."""
        if self.shares.is_empty():
            return self.summary
        key = [name for name in self.shares.columns if name not in ("dimensions", "share")]
        labelled = self.shares.with_columns(dimensions=pl.format("top {}", "dimensions"))
        wide = labelled.pivot("dimensions", index=key, values="share")
        return self.summary.join(wide, on=key, how="left", maintain_order="left")

    def plot(self, metric: str = "l2") -> altair.ConcatChart:
        """One panel per language pair and model; related and unrelated words overlaid."""
        from isogloss.results.figures.distances import distance_chart

        return distance_chart(self.frame, self.summary, metric)

    def write(self, path: str | os.PathLike[str], metric: str = "l2") -> None:
        """Histograms as `.csv`, `.tsv`, `.parquet` or `.json`; the chart as `.html`, `.svg`, `.png` or `.pdf`."""
        from isogloss.results.rows.files import write_chart, write_rows

        if not write_rows(self.frame, path):
            write_chart(self.plot(metric), path)


NO_DISTANCES = DistanceHistograms(*(pl.DataFrame(schema=columns) for columns in DISTANCE_SCHEMAS))
