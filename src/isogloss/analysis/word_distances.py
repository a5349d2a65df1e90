"""Distances of related and unrelated words in several models.

The analysis of Efimov, Boytsov, Arslanova & Braslavski (2023): the original model, the adjusted one, and both after
fine-tuning, with and without continual learning (of a fine-tuned network, the `encoder`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import polars as pl

from isogloss.analysis.aligned_vectors import aligned_vectors
from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.indexes.distances import Distances, Metric, distances, top_dimension_share
from isogloss.models.loading.loaded_model import Layer, LoadedModel
from isogloss.results.rows.distance_histograms import (
    HISTOGRAM_COLUMNS,
    SHARE_COLUMNS,
    SUMMARY_COLUMNS,
    DistanceHistograms,
)

METRICS: tuple[Metric, ...] = ("l2", "cosine")
TOP_DIMENSIONS = (10, 100)
Row = dict[str, object]


def word_distances(
    models: Mapping[str, LoadedModel],
    bitext: Corpus[AlignedPair],
    *,
    layer: Layer = "last",
    words: str = "mean",
    metrics: Sequence[Metric] = METRICS,
    top: Sequence[int] = TOP_DIMENSIONS,
    links: int = 10_000,
    bins: int = 50,
    seed: int = 0,
) -> DistanceHistograms:
    """Histograms, overlap and separation of distances, and the share of the distance in the top dimensions.

    Related words are linked in the bitext; unrelated pairs are sampled from the same words (see `distances`).

    Args:
        models: Models by name.
        bitext: Sentence pairs with word links.
        layer: A layer, or "last" for the input of heads.
        words: The vector of a word: "mean", "first" or "last" of its sub-words.
        metrics: "l2" and "cosine", or one of them.
        top: The numbers of dimensions whose share of the distance is computed.
        links: The maximum number of links, the same for every model.
        bins: The number of bins of the histograms.
        seed: The seed of the samples.
    """
    if not models:
        raise UsageError("models: expected at least one, got none; pass {'original': model, 'adjusted': …}")
    histograms: list[Row] = []
    summaries: list[Row] = []
    shares: list[Row] = []
    for name, model in models.items():
        X, Y = aligned_vectors(model, bitext, layer=layer, words=words, links=links, seed=seed)
        labels = {"model": name, "pair": bitext.lang, "layer": str(layer)}
        for metric in metrics:
            measured = distances(X, Y, metric, bins, seed)
            histograms += _histogram(measured, {**labels, "metric": metric})
            summaries.append({**labels, "metric": metric, **_summary(measured)})
        shares += [{**labels, "dimensions": k, "share": v} for k, v in top_dimension_share(X, Y, top).items()]
    return DistanceHistograms(
        pl.DataFrame(histograms, schema=HISTOGRAM_COLUMNS),
        pl.DataFrame(summaries, schema=SUMMARY_COLUMNS),
        pl.DataFrame(shares, schema=SHARE_COLUMNS),
    )


def _histogram(measured: Distances, labels: Mapping[str, str]) -> list[Row]:
    edges = list(pairwise(measured.edges.tolist()))
    return [
        {**labels, "words": words, "low": low, "high": high, "count": int(count), "share": float(count / counts.sum())}
        for words, counts in (("related", measured.related_counts), ("unrelated", measured.unrelated_counts))
        for (low, high), count in zip(edges, counts, strict=True)
    ]


def _summary(measured: Distances) -> dict[str, float]:
    return {
        "related": float(measured.related.mean()),
        "unrelated": float(measured.unrelated.mean()),
        "overlap": measured.overlap,
        "separation": measured.separation,
        "d_prime": measured.d_prime,
        "n": len(measured.related),
    }
