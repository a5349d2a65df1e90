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

    def plot(self, metric: str = "l2") -> altair.ConcatChart:
        """A panel for each language pair and model, related and unrelated words over each other."""
        from isogloss.results.distance_figures import distance_chart

        return distance_chart(self.frame, self.summary, metric)

    def write(self, path: str | os.PathLike[str], metric: str = "l2") -> None:
        """Histograms as `.csv`, `.tsv`, `.parquet` or `.json`; the chart as `.html`, `.svg`, `.png` or `.pdf`."""
        from isogloss.results.files import write_chart, write_rows

        if not write_rows(self.frame, path):
            write_chart(self.plot(metric), path)
