"""Similarity layer by layer: one row per model, pair of languages, layer and index, with its interval."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name

if TYPE_CHECKING:
    import altair

# `stage` tells the raw output of the last block from the same after the final norm (pre-LN families)
CURVE_COLUMNS = {
    "model": pl.String,
    "source": pl.String,
    "target": pl.String,
    "index": pl.String,
    "layer": pl.Int64,
    "stage": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "note": pl.String,
}
NEURON_COLUMNS = {
    "model": pl.String,
    "source": pl.String,
    "target": pl.String,
    "layer": pl.Int64,
    "stage": pl.String,
    "neuron": pl.Int64,
    "correlation": pl.Float64,
}
SHAPE_COLUMNS = {  # does the curve rise to an inner maximum and fall after it, and how sure is that?
    "model": pl.String,
    "source": pl.String,
    "target": pl.String,
    "index": pl.String,
    "peak": pl.Int64,
    "peak_low": pl.Int64,
    "peak_high": pl.Int64,
    "rises": pl.Boolean,
    "falls": pl.Boolean,
    "confidence": pl.Float64,
}
NEUTRAL_COLUMNS = {  # how alike a neuron's values are across languages, by `language_neutral`
    "model": pl.String,
    "layer": pl.Int64,
    "stage": pl.String,
    "neuron": pl.Int64,
    "mean": pl.Float64,
    "lowest": pl.Float64,
    "rank": pl.Int64,
    "of": pl.Int64,
}
PAIR = ["source", "target"]
# beside the model, what curves of a study may differ by
RUN_LABELS = ("study", "changes", "task", "seed", "when")
FINAL_NORM = "final norm"


@dataclass(frozen=True)
class Curves:
    """What `ig.similarity` returns. Curves of several models add with `+` and are drawn together."""

    frame: pl.DataFrame
    neurons: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=NEURON_COLUMNS))
    shapes: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SHAPE_COLUMNS))

    def __add__(self, other: Curves) -> Curves:
        return Curves(
            pl.concat([self.frame, other.frame]),
            pl.concat([self.neurons, other.neurons]),
            pl.concat([self.shapes, other.shapes]),
        )

    @property
    def indexes(self) -> list[str]:
        return self.frame["index"].unique(maintain_order=True).to_list()

    @property
    def labels(self) -> list[str]:
        """What tells these curves apart beside their pair: the model, and of a study all that there are several of."""
        several = [name for name in RUN_LABELS if name in self.frame.columns and self.frame[name].n_unique() > 1]
        return ["model", *several]

    def table(self, index: str) -> pl.DataFrame:
        """One row per model, pair and whatever else differs (`labels`), one column per layer.

        `12+norm` is layer 12 after the final norm.
        """
        check_name(index, self.indexes, "index of these curves")
        normed = pl.when(pl.col("stage") == FINAL_NORM).then(pl.lit("+norm")).otherwise(pl.lit(""))
        rows = self._single().filter(pl.col("index") == index)
        rows = rows.with_columns(layer=pl.col("layer").cast(pl.String) + normed)
        return rows.pivot("layer", index=[*self.labels, *PAIR], values="value")

    def mean(self) -> pl.DataFrame:
        """Mean and spread (standard deviation) over the pairs, as in the figures of the ANC paper."""
        groups = self._single().group_by(*self.labels, "index", "layer", "stage", maintain_order=True)
        return groups.agg(
            pl.col("value").mean().alias("mean"),
            pl.col("value").std().alias("spread"),
            pl.len().alias("pairs"),
        )

    def language_neutral(self, top: int = 10) -> pl.DataFrame:
        """The `top` most and least language-neutral neurons of each layer, by mean |correlation| over pairs."""
        if self.neurons.is_empty():
            raise UsageError("no neuron correlations here; ask similarity for the index 'anc'")
        ranked = (
            self.neurons.group_by("model", "layer", "stage", "neuron", maintain_order=True)
            .agg(pl.col("correlation").abs().mean().alias("mean"), pl.col("correlation").abs().min().alias("lowest"))
            .with_columns(
                pl.col("mean").rank("ordinal", descending=True).over("model", "layer", "stage").alias("rank"),
                pl.len().over("model", "layer", "stage").alias("of"),
            )
        )
        kept = ranked.filter((pl.col("rank") <= top) | (pl.col("rank") > pl.col("of") - top))
        return kept.sort("model", "layer", "stage", "rank")

    def plot(self, index: str | None = None, *, pairs: bool = True) -> altair.ConcatChart:
        """A chart for each index (or for one): a line per pair, or with `pairs=False` the mean and spread of all."""
        from isogloss.results.figures.curves import curve_chart

        wanted = [check_name(index, self.indexes, "index of these curves")] if index else self.indexes
        return curve_chart(self._single() if pairs else self.mean(), wanted, self.labels, pairs)

    def write(self, path: str | os.PathLike[str], *, pairs: bool = True) -> None:
        """Rows as `.csv`, `.tsv`, `.parquet` or `.json`; the charts as `.html`, `.svg`, `.png` or `.pdf`.

        With `pairs=False` mean and spread over the pairs.
        """
        from isogloss.results.rows.files import write_chart, write_rows

        if not write_rows(self.frame if pairs else self.mean(), path):
            write_chart(self.plot(pairs=pairs), path)

    def _single(self) -> pl.DataFrame:
        """The rows, if each is the only one of its curve and place: means of what cannot be told apart say nothing."""
        place = [*self.labels, *PAIR, "index", "layer", "stage"]
        twice = self.frame.filter(self.frame.select(place).is_duplicated())
        if not twice.is_empty():
            first = twice.row(0, named=True)
            told = f"{first['index']} of {first['model']}, {first['source']}-{first['target']}, layer {first['layer']}"
            of = "run" if "run" in twice.columns else "model"
            raise UsageError(f"two values of {told}: keep the rows of one {of}, such as Curves(curves.frame.filter(…))")
        return self.frame
