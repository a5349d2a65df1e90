from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from result_rows import curve_rows, result_rows
from scipy import stats

from isogloss.analysis.gap_similarity import cross_lingual_gaps, gap_similarity, gaps_beside_similarity
from isogloss.core.errors import UsageError

TARGETS = ["de", "fr", "hi", "ru", "tr", "zh"]
SCORES = {"de": 0.8, "fr": 0.75, "hi": 0.3, "ru": 0.5, "tr": 0.45, "zh": 0.2}
CURVES = {
    "de": [0.5, 0.9, 0.8],
    "fr": [0.6, 0.8, 0.6],
    "hi": [0.4, 0.3, 0.2],
    "ru": [0.3, 0.6, 0.9],
    "tr": [0.2, 0.7, 0.1],
    "zh": [0.1, 0.2, 0.5],
}


def scores() -> pl.DataFrame:
    two = {("REF", target): [value + 0.02, value - 0.02] for target, value in SCORES.items()}
    return result_rows({("REF", "en"): [0.9, 0.94], **two})


def test_the_gap_is_the_mean_over_seeds_without_the_source() -> None:
    gaps = cross_lingual_gaps(scores()).sort("target")
    assert gaps["target"].to_list() == TARGETS
    assert gaps["gap"].to_list() == pytest.approx([0.92 - SCORES[target] for target in TARGETS])


def test_correlations_are_scipys_on_the_mean_and_by_layer() -> None:
    found = gap_similarity(scores(), curve_rows(CURVES))
    assert found["layer"].to_list() == [None, 0, 1, 2]
    gaps = [-SCORES[target] for target in TARGETS]
    curves = np.array([CURVES[target] for target in TARGETS])
    for similarity, row in zip([curves.mean(axis=1), *curves.T], found.iter_rows(named=True), strict=True):
        expected = stats.spearmanr(gaps, similarity)
        assert row["value"] == pytest.approx(expected.statistic)
        assert row["strength"] == pytest.approx(abs(expected.statistic))
        assert row["p"] == pytest.approx(expected.pvalue)
        assert (row["n"], row["when"], row["note"]) == (6, "before", "")
        assert row["low"] <= row["value"] <= row["high"]
    assert found["value"][0] < 0  # more similar languages lose less


def test_the_interval_can_be_a_bootstrap() -> None:
    fisher, drawn = (gap_similarity(scores(), curve_rows(CURVES), draws=draws) for draws in (0, 200))
    assert fisher["value"].equals(drawn["value"])
    assert not fisher["low"].equals(drawn["low"])
    assert drawn.equals(gap_similarity(scores(), curve_rows(CURVES), draws=200))


def test_before_and_after_stay_apart_and_curves_of_seeds_are_averaged() -> None:
    reversed_ = {target: [1 - value for value in values] for target, values in CURVES.items()}
    after = [curve_rows(reversed_, task="pos", seed=seed, when="after", changes="REF") for seed in (0, 1)]
    before = curve_rows(CURVES, task=None, seed=None, when="before", changes="REF")
    other = curve_rows(CURVES, task="ner", seed=0, when="after", changes="REF")
    found = gap_similarity(scores(), pl.concat([before, *after, other], how="vertical_relaxed"))
    means = found.filter(pl.col("layer").is_null())
    assert means["when"].to_list() == ["after", "before"]
    assert means["value"][0] == pytest.approx(-means["value"][1])
    assert means["n"].to_list() == [6, 6]


def test_curves_of_another_change_do_not_count() -> None:
    with pytest.raises(UsageError, match="no curve belongs to these results: scores of model bert"):
        gap_similarity(scores(), curve_rows(CURVES, changes="1-2"))


def test_the_state_after_the_final_norm_is_no_layer_of_its_own() -> None:
    norm = curve_rows({target: [9.0 * i] for i, target in enumerate(TARGETS)}, stage="final norm")
    plain = gap_similarity(scores(), curve_rows(CURVES))
    assert gap_similarity(scores(), pl.concat([curve_rows(CURVES), norm])).equals(plain)


def test_a_language_without_a_curve_is_named() -> None:
    fewer = {target: values for target, values in CURVES.items() if target != "zh"}
    found = gap_similarity(scores(), curve_rows(fewer))
    assert found["n"].to_list() == [5] * 4
    assert set(found["note"]) == {"no curve of zh"}


@pytest.mark.parametrize("nothing", [float("nan"), None])
def test_a_layer_without_a_value_leaves_no_mean(nothing: float | None) -> None:
    damaged = {**CURVES, "zh": [0.1, nothing, 0.5]}
    found = gap_similarity(scores(), curve_rows(damaged))  # type: ignore[arg-type]
    assert found["n"].to_list() == [5, 6, 5, 6]


def test_too_few_languages_and_constant_similarity_have_no_correlation() -> None:
    few = gap_similarity(scores(), curve_rows({target: CURVES[target] for target in TARGETS[:3]}))
    assert few["value"].to_list() == [None] * 4
    assert "at least 4" in few["note"][0] and few["n"][0] == 3
    flat = gap_similarity(scores(), curve_rows({target: [0.5] for target in TARGETS}))
    assert "constant" in flat["note"][0]


def test_without_a_score_of_the_source_there_is_no_gap() -> None:
    with pytest.raises(UsageError, match="no test or dev set of 'en'"):
        gaps_beside_similarity(scores().filter(pl.col("target") != "en"), curve_rows(CURVES))


def test_the_order_of_rows_changes_nothing() -> None:
    rows, curves = scores(), curve_rows(CURVES)
    shuffled = gap_similarity(
        rows.sample(fraction=1, shuffle=True, seed=1), curves.sample(fraction=1, shuffle=True, seed=2)
    )
    assert shuffled.equals(gap_similarity(rows, curves))


def test_a_score_counts_once() -> None:
    rows = scores()
    assert gap_similarity(pl.concat([rows, rows]), curve_rows(CURVES)).equals(gap_similarity(rows, curve_rows(CURVES)))
    with pytest.raises(UsageError, match="two scores"):
        gap_similarity(pl.concat([rows, rows.with_columns(run=pl.lit("other"))]), curve_rows(CURVES))


def test_targets_of_another_scorer_than_the_source_have_no_gap() -> None:
    rows = result_rows({("", "en"): [0.9], ("", "fr"): [0.7], ("", "hi"): [0.5]})
    rows = rows.with_columns(run=pl.lit("r"), scorer=pl.when(pl.col("target") == "hi").then(pl.lit("mlqa")))
    assert cross_lingual_gaps(rows).select("target", "gap").rows() == [("fr", pytest.approx(0.2))]
    with pytest.raises(UsageError, match="no test or dev set of 'en' was scored"):
        cross_lingual_gaps(rows.filter(pl.col("target") != "en"))
