"""Differences, intervals and tests of any runs, against what `deltas` and the tests say of the same numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from report_inputs import SCORES, prediction, small
from result_rows import result_rows
from stores import parsed, runs_of, write_store

from isogloss.core.errors import UsageError
from isogloss.explorer.comparison import Significance, compare_scores, conditions, marks, metrics, significance
from isogloss.explorer.store_index import StoreIndex
from isogloss.metrics.significance import paired_bootstrap, permutation_test
from isogloss.metrics.tagging import TagCounts
from isogloss.report.inputs import ReportInputs
from isogloss.results.comparisons.deltas import deltas
from isogloss.results.rows.study_results import StudyResults

RUNS = [run.name for run in runs_of(small())]  # three seeds of REF, then three of 1-2


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> StoreIndex:
    folder = tmp_path_factory.mktemp("store")
    write_store(folder, small(), parsed())
    return StoreIndex(folder)


def test_seeds_of_an_experiment_make_one_column(index: StoreIndex) -> None:
    results = index.results(RUNS)
    assert [(one.label, len(one.runs)) for one in conditions(results, "accuracy")] == [("REF", 3), ("1-2", 3)]
    apart = conditions(results, "accuracy", pool_seeds=False)
    assert [one.label for one in apart][:2] == ["REF · seed 0", "REF · seed 1"]
    seeds = conditions(index.results(RUNS[:2]), "accuracy")
    assert [one.label for one in seeds] == ["seed 0", "seed 1"], "one experiment is taken apart"


def test_columns_are_those_that_have_the_metric(index: StoreIndex) -> None:
    results = index.results([RUNS[0], runs_of(parsed())[0].name])
    assert metrics(results) == ["accuracy", "las"]
    assert [one.runs for one in conditions(results, "las")] == [(runs_of(parsed())[0].name,)]


def test_differences_are_those_of_deltas(index: StoreIndex) -> None:
    results = index.results(RUNS)
    shown = compare_scores(results, conditions(results, "accuracy"), "accuracy")
    expected = {row["target"]: row for row in deltas(results.frame, reference="REF").iter_rows(named=True)}
    assert shown.keys() == expected.keys()
    for target, (first, second) in shown.items():
        row = expected[target]
        assert first.score == pytest.approx(np.mean(SCORES["REF", target]))
        assert (first.delta, second.score) == (None, row["mean"])
        assert (second.delta, second.low, second.high) == (row["delta"], row["low"], row["high"])
    assert shown["fr"][1].shade == "farthest-below"


def test_the_order_says_what_is_the_reference(index: StoreIndex) -> None:
    results = index.results(RUNS[::-1])
    shown = compare_scores(results, conditions(results, "accuracy"), "accuracy")
    assert shown["fr"][1].delta == pytest.approx(np.mean(SCORES["REF", "fr"]) - np.mean(SCORES["1-2", "fr"]))


def test_runs_with_other_seeds_are_compared_one_to_one(index: StoreIndex) -> None:
    results = index.results([RUNS[0], RUNS[4]])  # seed 0 of REF and seed 1 of 1-2
    shown = compare_scores(results, conditions(results, "accuracy"), "accuracy")
    assert shown["fr"][1].delta == pytest.approx(0.62 - 0.80)
    assert shown["fr"][1].low is None


def test_other_test_sets_are_not_compared(tmp_path: Path) -> None:
    rows = result_rows({("REF", "fr"): [0.5], ("1-2", "fr"): [0.4], ("REF", "de"): [0.5], ("1-2", "de"): [0.4]})
    odd = (pl.col("target") == "fr") & (pl.col("changes") == "1-2")
    rows = rows.with_columns(n=pl.when(odd).then(11).otherwise(pl.col("n")))
    results = StudyResults(rows)
    shown = compare_scores(results, conditions(results, "accuracy"), "accuracy")
    assert (shown["fr"][1].score, shown["fr"][1].delta) == (0.4, None)
    assert shown["de"][1].delta == pytest.approx(-0.1)


def sentences(chance: np.random.Generator) -> ReportInputs:
    """One seed, thirty sentences of ten words: REF has nine of them right on average, 1-2 seven."""
    rows = result_rows({("REF", "fr"): [0.9], ("1-2", "fr"): [0.7]}, n=30)
    made = []
    for run, share in zip(rows["run"], (0.9, 0.7), strict=True):
        for item in range(30):
            right = chance.random(10) < share
            made.append(prediction(run, "fr", item, ["w"] * 10, ["A"] * 10, np.where(right, "A", "B").tolist()))
    return ReportInputs("tests", StudyResults(rows, pl.DataFrame(made).lazy()))


def test_tests_and_intervals_are_over_the_sentences(tmp_path: Path) -> None:
    inputs = sentences(np.random.default_rng(0))
    write_store(tmp_path, inputs)
    results = StoreIndex(tmp_path).results([run.name for run in runs_of(inputs)])
    first, second = conditions(results, "accuracy")
    found = significance(results, first, second, "accuracy", "fr")
    frames = inputs.results.predictions.collect().partition_by("run", maintain_order=True)
    a, b = (
        [TagCounts(*row) for row in frame.select("accuracy.correct", "accuracy.total").iter_rows()] for frame in frames
    )
    assert found["p"] == permutation_test(a, b, lambda counts: counts.accuracy, 10_000).p  # the first p is the smallest
    bounds = paired_bootstrap(a, b, lambda counts: counts.accuracy, 1000)
    assert (found["low"], found["high"], found["over"]) == (bounds.low, bounds.high, "sentences")
    assert found["low"] < -0.2 < found["high"] < 0
    assert marks({("fr", 1): found})[0]["stars"] == "***"
    assert found["test"] == "permutation of examples"


def test_tests_of_several_seeds_keep_the_interval_over_seeds(index: StoreIndex) -> None:
    results = index.results(RUNS)
    first, second = conditions(results, "accuracy")
    found = significance(results, first, second, "accuracy", "fr")
    expected = (
        deltas(results.frame, results.predictions, reference="REF").filter(pl.col("target") == "fr").to_dicts()[0]
    )
    assert {name: found[name] for name in ("p", "low", "high", "test")} == {
        name: expected[name] for name in ("p", "low", "high", "test")
    }
    assert found["over"] == "seeds"


def test_stars_are_corrected_for_the_table() -> None:
    tests = [("fr", 0.01, -0.3, -0.1), ("de", 0.03, -0.2, -0.1), ("ar", 0.0001, -0.2, 0.1), ("ug", None, None, None)]
    cells = {
        (target, 1): Significance(delta=-0.2, low=low, high=high, p=p, test="t", n=9, over="seeds")
        for target, p, low, high in tests
    }
    found = {mark["target"]: (mark["holm"], mark["stars"]) for mark in marks(cells)}
    # of three tests: 3 · .0001, 2 · .01, 1 · .03; the interval of Arabic includes 0
    assert found == {"fr": (0.02, "*"), "de": (0.03, "*"), "ar": (pytest.approx(0.0003), ""), "ug": (None, "")}
    assert marks({("fr", 1): {**cells["fr", 1], "p": 0.04}, ("de", 1): {**cells["de", 1], "p": 0.04}})[0]["stars"] == ""


def test_what_cannot_be_tested(index: StoreIndex) -> None:
    results = index.results(RUNS)
    shown = conditions(results, "accuracy")
    nothing = replace(results, predictions=results.predictions.filter(pl.col("run") == ""))
    with pytest.raises(UsageError, match="no predictions"):
        significance(nothing, *shown, "accuracy", "fr")
