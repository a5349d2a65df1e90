"""Distances of related and unrelated words by model: histograms, and how well they separate."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    import altair

HISTOGRAM_COLUMNS = {
    "model": pl.String,
    "pair": pl.String,
    "layer": pl.String,
    "metric": pl.String,  # l2 or cosine
    "words": pl.String,  # related or unrelated
    "low": pl.Float64,
    "high": pl.Float64,
    "count": pl.Int64,
    "share": pl.Float64,
}
SUMMARY_COLUMNS = {
    "model": pl.String,
    "pair": pl.String,
    "layer": pl.String,
    "metric": pl.String,
    "related": pl.Float64,  # mean distances
    "unrelated": pl.Float64,
    "overlap": pl.Float64,
    "separation": pl.Float64,  # area under the ROC curve
    "d_prime": pl.Float64,
    "n": pl.Int64,  # related pairs
}
SHARE_COLUMNS = {  # share of the squared distance of related pairs in the dimensions with the largest differences
    "model": pl.String,
    "pair": pl.String,
    "layer": pl.String,
    "dimensions": pl.Int64,
    "share": pl.Float64,
}


@dataclass(frozen=True)
class DistanceHistograms:
    """The return value of `ig.word_distances`; those of several language pairs add with `+`."""

    frame: pl.DataFrame
    summary: pl.DataFrame
    shares: pl.DataFrame

    def __add__(self, other: DistanceHistograms) -> DistanceHistograms:
        frames = ((self.frame, other.frame), (self.summary, other.summary), (self.shares, other.shares))
        return DistanceHistograms(*(pl.concat(pair) for pair in frames))

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
        frames = (self.frame, self.summary, self.shares)
        schemas = (HISTOGRAM_COLUMNS, SUMMARY_COLUMNS, SHARE_COLUMNS)
        labelled = (
            frame.with_columns(model=name).select(*schema) for frame, schema in zip(frames, schemas, strict=True)
        )
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


NO_DISTANCES = DistanceHistograms(
    *(pl.DataFrame(schema=columns) for columns in (HISTOGRAM_COLUMNS, SUMMARY_COLUMNS, SHARE_COLUMNS))
)
