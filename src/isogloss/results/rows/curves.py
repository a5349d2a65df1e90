"""Similarity by layer: one row per model, language pair, layer and index, with its interval."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.results.rows.readability import READABILITY_COLUMNS
from isogloss.results.rows.results import Schema

if TYPE_CHECKING:
    import altair

CURVE_VALUES = ("value", "low", "high")
# `stage` distinguishes the raw output of the last block from the output of the final norm (pre-LN families)
CURVE_COLUMNS: Schema = {
    **dict.fromkeys(["model", "source", "target", "index"], pl.String),
    "layer": pl.Int64,
    "stage": pl.String,
    **dict.fromkeys(CURVE_VALUES, pl.Float64),
    "n": pl.Int64,
    "note": pl.String,
    **dict.fromkeys(["source_unknown", "target_unknown"], pl.Float64),  # share of unknown tokens in the sentences
}
NEURON_COLUMNS: Schema = {
    **dict.fromkeys(["model", "source", "target"], pl.String),
    "layer": pl.Int64,
    "stage": pl.String,
    "neuron": pl.Int64,
    "correlation": pl.Float64,
}
SHAPE_COLUMNS: Schema = {  # the verdict of first align, then predict, and what it rests on
    **dict.fromkeys(["model", "source", "target", "index"], pl.String),
    **dict.fromkeys(["peak", "peak_low", "peak_high"], pl.Int64),
    **dict.fromkeys(["rise", "fall", "effect", "p"], pl.Float64),  # p: of sentence noise
    **dict.fromkeys(["control_effect", "control_bound"], pl.Float64),  # of untrained networks
    "control_draws": pl.Int64,
    **dict.fromkeys(["verdict", "reason"], pl.String),
}
TEXT_COLUMNS: Schema = {**dict.fromkeys(["model", "language"], pl.String), **READABILITY_COLUMNS}
NEUTRAL_COLUMNS: Schema = {  # how similar a neuron's values are across languages, by `language_neutral`
    "model": pl.String,
    "layer": pl.Int64,
    "stage": pl.String,
    "neuron": pl.Int64,
    **dict.fromkeys(["mean", "lowest"], pl.Float64),
    **dict.fromkeys(["rank", "of"], pl.Int64),
}
PAIR = ["source", "target"]
# properties besides the model in which the curves of a study may differ
RUN_LABELS = ("study", "changes", "task", "seed", "when")
FINAL_NORM = "final norm"


@dataclass(frozen=True)
class Curves:
    """The return value of `ig.similarity`. Curves of several models add with `+` and share one chart.

    `frame`: the curves; `neurons`: the correlation of every neuron; `shapes`: the verdict on every curve; `texts`: how
    the tokenizer of a model splits the sentences of each language.
    """

    frame: pl.DataFrame
    neurons: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=NEURON_COLUMNS))
    shapes: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SHAPE_COLUMNS))
    texts: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=TEXT_COLUMNS))

    def __add__(self, other: Curves) -> Curves:
        names = ("frame", "neurons", "shapes", "texts")
        return Curves(*(pl.concat([getattr(self, name), getattr(other, name)]) for name in names))

    @property
    def indexes(self) -> list[str]:
        return self.frame["index"].unique(maintain_order=True).to_list()

    @property
    def labels(self) -> list[str]:
        """What distinguishes these curves besides their pair: the model, and what differs between the runs."""
        distinct = [name for name in RUN_LABELS if name in self.frame.columns and self.frame[name].n_unique() > 1]
        return ["model", *distinct]

    def table(self, index: str) -> pl.DataFrame:
        """One row per model, pair and other distinguishing property (`labels`), one column per layer.

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
        return groups.agg(mean=pl.col("value").mean(), spread=pl.col("value").std(), pairs=pl.len())

    def language_neutral(self, top: int = 10) -> pl.DataFrame:
        """The `top` most and least language-neutral neurons of each layer, by mean |correlation| over pairs."""
        if self.neurons.is_empty():
            raise UsageError("these curves have no neuron correlations: compute similarity with the index 'anc'")
        layer, strength = ["model", "layer", "stage"], pl.col("correlation").abs()
        neurons = self.neurons.group_by(*layer, "neuron", maintain_order=True)
        rank = pl.col("mean").rank("ordinal", descending=True).over(layer)
        means = neurons.agg(mean=strength.mean(), lowest=strength.min())
        ranked = means.with_columns(rank=rank, of=pl.len().over(layer))
        extremes = ranked.filter((pl.col("rank") <= top) | (pl.col("rank") > pl.col("of") - top))
        return extremes.sort(*layer, "rank")

    def plot(self, index: str | None = None, *, pairs: bool = True) -> altair.ConcatChart:
        """One chart per index (or for one index): a line per pair, or mean and spread over pairs with `pairs=False`."""
        from isogloss.results.figures.curves import curve_chart

        indexes = [check_name(index, self.indexes, "index of these curves")] if index else self.indexes
        return curve_chart(self._single() if pairs else self.mean(), indexes, self.labels, pairs)

    def write(self, path: str | os.PathLike[str], *, pairs: bool = True) -> None:
        """Rows as `.csv`, `.tsv`, `.parquet` or `.json`; the charts as `.html`, `.svg`, `.png` or `.pdf`.

        With `pairs=False`, mean and spread over the pairs.
        """
        from isogloss.results.rows.files import write_chart, write_rows

        if not write_rows(self.frame if pairs else self.mean(), path):
            write_chart(self.plot(pairs=pairs), path)

    def _single(self) -> pl.DataFrame:
        """The rows, checked to be unique for each curve, layer and stage: others could not be distinguished."""
        key = [*self.labels, *PAIR, "index", "layer", "stage"]
        duplicates = self.frame.filter(self.frame.select(key).is_duplicated())
        if not duplicates.is_empty():
            first = duplicates.row(0, named=True)
            name = f"{first['index']} of {first['model']}, {first['source']}-{first['target']}, layer {first['layer']}"
            unit = "run" if "run" in duplicates.columns else "model"
            raise UsageError(
                f"two values of {name}: select the rows of one {unit}, e.g. Curves(curves.frame.filter(…))"
            )
        return self.frame
