"""Distances of related and unrelated words, model by model, against the index they come from; their chart and files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import isogloss as ig
from isogloss.analysis.aligned_vectors import aligned_vectors
from isogloss.core.errors import UnknownName, UsageError
from isogloss.indexes.distances import distances
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.results.rows.distance_histograms import DistanceHistograms

Tiny = Callable[[str], LoadedModel]
PAIRS = ig.Laboratory(0).bitext("qla", "qlc", 30)


@pytest.fixture(scope="module")
def measured(tiny: Tiny) -> DistanceHistograms:
    return ig.word_distances({"original": tiny("bert"), "other": tiny("xlm-roberta")}, PAIRS, bins=20, top=(2, 16))


def test_rows_are_those_of_the_index(tiny: Tiny, measured: DistanceHistograms) -> None:
    X, Y = aligned_vectors(tiny("bert"), PAIRS)
    for metric in ("l2", "cosine"):
        one = distances(X, Y, metric, bins=20)  # type: ignore[arg-type]
        (row,) = measured.summary.filter(model="original", metric=metric).iter_rows(named=True)
        assert (row["overlap"], row["separation"], row["d_prime"]) == (one.overlap, one.separation, one.d_prime)
        assert (row["related"], row["unrelated"], row["n"]) == (one.related.mean(), one.unrelated.mean(), len(X))
        counted = measured.frame.filter(model="original", metric=metric, words="unrelated")
        assert counted["count"].to_list() == one.unrelated_counts.tolist()
        assert counted["low"].to_list() == one.edges[:-1].tolist()
    assert measured.summary["pair"].unique().to_list() == ["qla>qlc"]


def test_shares_add_up(measured: DistanceHistograms) -> None:
    totals = measured.frame.group_by("model", "metric", "words").agg(pl.col("share").sum())
    np.testing.assert_allclose(totals["share"], 1)
    whole = measured.shares.filter(dimensions=16)["share"]
    np.testing.assert_allclose(whole, 1)
    assert (measured.shares.filter(dimensions=2)["share"] < whole).all()


def test_a_model_that_maps_translations_together_separates(tiny: Tiny) -> None:
    """The same sentence on both sides, each word linked to itself."""
    alike = PAIRS.with_items(
        type(pair)(pair.source, pair.source, ig.Laboratory(0).bitext("qla", "qla", 1)[0].alignment)
        for pair in PAIRS[:1]
    )
    summary = ig.word_distances({"m": tiny("bert")}, alike, metrics=["l2"]).summary
    assert summary["separation"][0] == 1 and summary["related"][0] < 1e-5 < summary["unrelated"][0]


def test_they_add_and_are_drawn(tiny: Tiny, measured: DistanceHistograms, tmp_path: Path) -> None:
    more = ig.word_distances({"original": tiny("bert")}, ig.Laboratory(0).bitext("qla", "qld", 20), bins=20)
    both = measured + more
    assert both.summary.height == 6 and set(both.summary["pair"]) == {"qla>qlc", "qla>qld"}
    chart = both.plot("cosine").to_dict()
    assert len(chart["concat"]) == 3
    titles = [panel["title"]["text"] for panel in chart["concat"]]
    assert titles == ["original · qla>qlc", "other · qla>qlc", "original · qla>qld"]
    both.write(tmp_path / "d.csv")
    assert pl.read_csv(tmp_path / "d.csv").height == both.frame.height
    both.write(tmp_path / "d.svg")
    assert "related" in (tmp_path / "d.svg").read_text(encoding="utf-8")


def test_what_cannot_be_is_told(tiny: Tiny, measured: DistanceHistograms) -> None:
    with pytest.raises(UsageError, match="models: expected at least one, got none"):
        ig.word_distances({}, PAIRS)
    with pytest.raises(UnknownName, match="did you mean 'cosine'"):
        measured.plot("cosin")
