from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from result_rows import result_rows
from scipy import stats

from isogloss.core.errors import UsageError
from isogloss.results.comparisons.differences import source_to_x
from isogloss.results.rows.results import Results

SCORES = {
    ("REF", "en"): [0.90, 0.92, 0.91],
    ("REF", "fr"): [0.60, 0.64, 0.61],
    ("REF", "ru"): [0.40, 0.42, 0.45],
    ("1-2", "en"): [0.89, 0.90, 0.91],
    ("1-2", "fr"): [0.40, 0.46, 0.42],
    ("1-2", "ru"): [0.20, 0.22, 0.24],
}


def test_source_to_x_is_the_mean_over_targets_paired_by_seed() -> None:
    same, others = source_to_x(result_rows(SCORES)).iter_rows(named=True)
    assert (same["pair"], same["target"], same["reference"]) == ("EN-EN", "en", pytest.approx(0.91))
    assert same["delta"] == pytest.approx(-0.01)
    before = [0.50, 0.53, 0.53]  # of French and Russian, by hand
    after = [0.30, 0.34, 0.33]
    expected = stats.ttest_rel(after, before)
    interval = expected.confidence_interval(0.95)
    assert (others["pair"], others["target"], others["n"]) == ("EN-X", "X", 20)
    assert others["reference"] == pytest.approx(0.52)
    assert others["delta"] == pytest.approx(-0.59 / 3)
    assert (others["low"], others["high"]) == pytest.approx((interval.low, interval.high))
    assert others["p"] == pytest.approx(expected.pvalue)


def test_each_source_has_its_own_others() -> None:
    russian = {("REF", "ru"): [0.9], ("REF", "en"): [0.5], ("1-2", "ru"): [0.8], ("1-2", "en"): [0.2]}
    russian |= {("REF", "tr"): [0.4], ("1-2", "tr"): [0.1]}
    rows = pl.concat([result_rows(SCORES), result_rows(russian, source="ru")])
    found = source_to_x(rows)
    assert found["pair"].to_list() == ["EN-EN", "RU-RU", "EN-X", "RU-X"]
    assert found["delta"].to_list() == pytest.approx([-0.01, -0.1, -0.59 / 3, -0.3])
    assert Results(rows).source_to_x().equals(found)


@pytest.mark.parametrize("name", ["en-lines", "en_lines", "en lines"])
def test_other_test_sets_of_the_source_language_are_no_other_language(name: str) -> None:
    domain = {("REF", name): [0.1] * 3, ("1-2", name): [0.7] * 3}
    assert source_to_x(result_rows({**SCORES, **domain})).equals(source_to_x(result_rows(SCORES)))
    partut = result_rows({**SCORES, **domain}, source="en-partut").filter(pl.col("target") != "en")
    assert source_to_x(partut)["delta"].to_list() == pytest.approx([-0.59 / 3])


def test_a_mean_over_fewer_targets_is_an_error() -> None:
    rows = result_rows(SCORES)
    rows = rows.filter(~((pl.col("changes") == "1-2") & (pl.col("target") == "ru") & (pl.col("seed") == 1)))
    with pytest.raises(UsageError, match="run with changes '1-2', seed 1, has no accuracy on ru"):
        source_to_x(rows)


@settings(max_examples=20)
@given(st.randoms(use_true_random=False), st.integers(-2, 2))
def test_order_and_constant_change_nothing(random, shift: int) -> None:  # type: ignore[no-untyped-def]
    rows = result_rows(SCORES)
    order = list(range(rows.height))
    random.shuffle(order)
    plain = source_to_x(rows)
    assert source_to_x(rows[order]).sort("pair").equals(plain.sort("pair"))
    shifted = source_to_x(rows.with_columns(pl.col("value") + shift))
    np.testing.assert_allclose(shifted["delta"].to_numpy(), plain["delta"].to_numpy(), atol=1e-12)


def test_the_published_means_come_out_of_the_published_targets() -> None:
    """Parsing from English, layers 1-2: the paper's Table 5 for six targets, averaged by hand."""
    reference = {"fr": 68.94, "de": 67.43, "tr": 28.40, "id": 45.13, "ru": 59.70, "ar": 23.37}
    cut = {"fr": 55.31, "de": 57.08, "tr": 16.78, "id": 39.83, "ru": 54.10, "ar": 21.01}
    scores = {("REF", target): [value / 100] for target, value in reference.items()}
    scores |= {("1-2", target): [value / 100] for target, value in cut.items()}
    (row,) = source_to_x(result_rows(scores)).iter_rows(named=True)
    assert 100 * row["reference"] == pytest.approx(292.97 / 6)
    assert 100 * row["delta"] == pytest.approx(-48.86 / 6)


def test_facts_of_single_test_sets_do_not_separate_them() -> None:
    """Such as the share of unknown tokens, which differs between the targets of a run."""
    rows = result_rows(SCORES)
    share = rows["target"].rank("dense").cast(pl.Float64) / 10
    names = [name for name in ("unknown", "characters_per_token") if name in rows.columns]
    assert names
    measured = rows.with_columns(share.alias(name) for name in names)
    assert source_to_x(measured)["delta"].to_list() == source_to_x(rows)["delta"].to_list()
    assert source_to_x(measured).filter(target="X")["languages"].to_list() == [["fr", "ru"]]
