from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from result_rows import result_rows
from scipy import stats

from isogloss.core.errors import UnknownName, UsageError
from isogloss.results.comparisons.deltas import DELTA_COLUMNS, deltas
from isogloss.results.rows.results import Results

REF, CUT = [0.80, 0.82, 0.81, 0.85], [0.70, 0.71, 0.75, 0.74]


def test_a_delta_is_paired_by_seed_with_students_interval() -> None:
    (row,) = deltas(result_rows({("REF", "fr"): REF, ("1-2", "fr"): CUT})).iter_rows(named=True)
    expected = stats.ttest_rel(CUT, REF)
    interval = expected.confidence_interval(0.95)
    assert row["reference"] == pytest.approx(0.82)
    assert row["mean"] == pytest.approx(0.725)
    assert row["delta"] == pytest.approx(-0.095)
    assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high))
    assert row["p"] == pytest.approx(expected.pvalue)
    assert (row["test"], row["seeds"], row["n"]) == ("t over seeds", 4, 10)
    assert row["p"] < 0.01


def test_one_seed_has_a_difference_but_no_interval_and_no_test() -> None:
    (row,) = deltas(result_rows({("REF", "fr"): [0.8], ("1-2", "fr"): [0.7]})).iter_rows(named=True)
    assert row["delta"] == pytest.approx(-0.1)
    assert [row[name] for name in ("low", "high", "p", "test")] == [None] * 4


def test_seeds_that_all_differ_by_the_same_amount_are_no_evidence() -> None:
    """A t-test of two equal differences would be as sure as can be."""
    rows = result_rows({("REF", "fr"): [0.90, 0.92], ("1-2", "fr"): [0.91, 0.93], ("3-4", "fr"): [0.90, 0.92]})
    found = deltas(rows)
    assert found["p"].to_list() == [None, 1.0]
    assert found["low"].to_list() == pytest.approx([0.01, 0.0])


def test_only_seeds_that_both_have_are_compared() -> None:
    rows = result_rows({("REF", "fr"): [0.9, 0.8], ("1-2", "fr"): [0.0, 0.7, 0.6]})
    rows = rows.filter(~((pl.col("changes") == "1-2") & (pl.col("seed") == 0)))
    (row,) = deltas(rows).iter_rows(named=True)
    assert (row["reference"], row["mean"], row["seeds"]) == (0.8, 0.7, 1)


def test_a_cell_without_its_reference_has_no_delta() -> None:
    rows = result_rows({("REF", "fr"): [0.9], ("1-2", "fr"): [0.8], ("1-2", "ru"): [0.7]})
    french, russian = deltas(rows).iter_rows(named=True)
    assert french["delta"] == pytest.approx(-0.1)
    assert (russian["delta"], russian["reference"], russian["seeds"]) == (None, None, 0)


def test_experiments_stay_apart() -> None:
    scores = {("REF", "fr"): [0.9, 0.8], ("1-2", "fr"): [0.5, 0.6]}
    other = {("REF", "fr"): [0.1, 0.2], ("1-2", "fr"): [0.3, 0.4]}
    rows = pl.concat([result_rows(scores), *(result_rows(other, **{k: "z"}) for k in ("study", "model", "task"))])
    assert deltas(rows)["delta"].to_list() == pytest.approx([-0.3, 0.2, 0.2, 0.2])


def test_dev_sets_do_not_count() -> None:
    rows = pl.concat(
        [
            result_rows({("REF", "en"): [0.9], ("1-2", "en"): [0.8]}),
            result_rows({("REF", "en"): [0.5], ("1-2", "en"): [0.9]}, split="dev"),
        ]
    )
    assert deltas(rows)["delta"].to_list() == pytest.approx([-0.1])


def test_the_unchanged_model_is_the_reference_where_none_is_named() -> None:
    rows = result_rows({("", "fr"): [0.9], ("reinit('1-2')", "fr"): [0.8]})
    assert deltas(rows)["change"].to_list() == ["reinit('1-2')"]
    assert Results(rows).deltas().select(*DELTA_COLUMNS).equals(deltas(rows))
    assert deltas(rows, reference="reinit('1-2')")["delta"].to_list() == pytest.approx([0.1])
    with pytest.raises(UnknownName, match="did you mean 'REF'"):
        deltas(result_rows({("REF", "fr"): [0.9]}), reference="REFF")


def test_different_test_sets_are_an_error() -> None:
    rows = pl.concat([result_rows({("REF", "fr"): [0.9]}), result_rows({("1-2", "fr"): [0.8]}, n=11)])
    with pytest.raises(UsageError, match="the reference was scored on 10 items, '1-2' on 11"):
        deltas(rows)


def test_two_scores_of_one_seed_are_an_error_but_the_same_row_twice_is_not() -> None:
    rows = result_rows({("REF", "fr"): [0.9], ("1-2", "fr"): [0.8]})
    assert deltas(pl.concat([rows, rows])).equals(deltas(rows))
    again = rows.with_columns(run=pl.lit("another"), value=pl.col("value") / 2)
    with pytest.raises(UsageError, match="two scores of accuracy on fr"):
        deltas(pl.concat([rows, again]))


def test_nothing_to_compare_is_an_empty_frame() -> None:
    found = deltas(result_rows({("REF", "fr"): [0.9]}))
    assert found.is_empty() and found.schema == pl.Schema(DELTA_COLUMNS)


values = st.lists(st.integers(0, 1000), min_size=3, max_size=3).map(lambda numbers: [n / 1000 for n in numbers])
grids = st.dictionaries(st.tuples(st.sampled_from(["1-2", "3-4"]), st.sampled_from(["fr", "ru"])), values, min_size=1)


def grid_rows(scores: dict[tuple[str, str], list[float]]) -> pl.DataFrame:
    home = {("REF", target): [0.5, 0.6, 0.4] for target in ("fr", "ru")}
    return result_rows({**home, **scores})


@given(grids, st.integers(-3, 3), st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_a_constant_and_the_order_of_rows_change_nothing(scores, shift, random) -> None:  # type: ignore[no-untyped-def]
    rows = grid_rows(scores)
    order = list(range(rows.height))
    random.shuffle(order)
    plain, place = deltas(rows), ["change", "target"]
    assert deltas(rows[order]).sort(place).equals(plain.sort(place))
    shifted = deltas(rows.with_columns(pl.col("value") + shift))
    for column in ("delta", "low", "high"):
        np.testing.assert_allclose(shifted[column].to_numpy(), plain[column].to_numpy(), atol=1e-9)
    np.testing.assert_allclose((shifted["reference"] - plain["reference"]).to_numpy(), shift, atol=1e-9)


@given(grids)
@settings(max_examples=20)
def test_exchanging_reference_and_change_turns_the_sign(scores) -> None:  # type: ignore[no-untyped-def]
    rows = grid_rows(scores).filter(pl.col("changes").is_in(["REF", next(iter(scores))[0]]))
    there, place = deltas(rows), ["target"]
    back = deltas(rows, reference=next(iter(scores))[0])
    both = there.join(back, on=place)
    np.testing.assert_allclose(both["delta"].to_numpy(), -both["delta_right"].to_numpy(), atol=1e-12)
    np.testing.assert_allclose(both["low"].to_numpy(), -both["high_right"].to_numpy(), atol=1e-12)
    np.testing.assert_allclose(both["p"].to_numpy(), both["p_right"].to_numpy(), atol=1e-9, equal_nan=True)
