"""Distances of related and unrelated words, model by model: histograms, and how well they keep apart."""

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
SHARE_COLUMNS = {  # of the squared distance of related pairs, in the dimensions that carry most of it
    "model": pl.String,
    "pair": pl.String,
    "layer": pl.String,
    "dimensions": pl.Int64,
    "share": pl.Float64,
}


@dataclass(frozen=True)
class DistanceHistograms:
    """What `ig.word_distances` returns; those of several language pairs add with `+`."""

    frame: pl.DataFrame
    summary: pl.DataFrame
    shares: pl.DataFrame

    def __add__(self, other: DistanceHistograms) -> DistanceHistograms:
        frames = ((self.frame, other.frame), (self.summary, other.summary), (self.shares, other.shares))
        return DistanceHistograms(*(pl.concat(both) for both in frames))

    def labelled(self) -> DistanceHistograms:
        """Those of a study as those of models by name: column, fine-tuned or not, and whatever else differs.

        "Adjusted" was measured before fine-tuning, "Adjusted, fine-tuned (nli)" after it.
        """
        if "changes" not in self.frame.columns:
            return self
        several = {name for name in ("study", "model", "source", "seed") if self.frame[name].n_unique() > 1}
        before = [pl.col(name) for name in ("study", "model") if name in several]
        task = pl.format("{} from {}", "task", "source") if "source" in several else pl.col("task")
        after = pl.when(pl.col("when") == "after").then(pl.concat_str(pl.lit(", fine-tuned ("), task, pl.lit(")")))
        seed = [pl.format(", seed {}", "seed")] if "seed" in several else []
        column = pl.concat_str("changes", after.otherwise(pl.lit("")), *seed)
        name = pl.concat_str(*before, column, separator=" ")
        frames = (self.frame, self.summary, self.shares)
        schemas = (HISTOGRAM_COLUMNS, SUMMARY_COLUMNS, SHARE_COLUMNS)
        named = (one.with_columns(model=name).select(*schema) for one, schema in zip(frames, schemas, strict=True))
        return DistanceHistograms(*(one.unique(maintain_order=True) for one in named))

    def table(self) -> pl.DataFrame:
        """The summary with the shares of the distance beside it, a column for each number of dimensions."""
        if self.shares.is_empty():
            return self.summary
        key = [name for name in self.shares.columns if name not in ("dimensions", "share")]
        named = self.shares.with_columns(dimensions=pl.format("top {}", "dimensions"))
        wide = named.pivot("dimensions", index=key, values="share")
        return self.summary.join(wide, on=key, how="left", maintain_order="left")

    def plot(self, metric: str = "l2") -> altair.ConcatChart:
        """A panel for each language pair and model, related and unrelated words over each other."""
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
