"""The rule of Easy, Intermediate and Hard, against its wording spelt out, and on scores whose tests are known."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

from isogloss.diagnosis.difficulty import Difference, below_no_baseline, classify, compare_systems, to_differences
from isogloss.metrics.crossed import crossed_test
from isogloss.metrics.significance import holm, paired_t_test
from isogloss.results.rows.results import RESULT_COLUMNS, Results

SIGNS = (-0.1, -1e-9, 0.0, 1e-9, 0.1)


def by_the_book(plain: list[float], adapted: list[float]) -> str:
    if min(plain) >= 0:
        return "Easy"
    return "Intermediate" if min(adapted) >= 0 else "Hard"


def test_every_combination_of_signs() -> None:
    names = [(system, base) for system in ("fine-tuned", "adapted") for base in ("BiLSTM", "monolingual")]
    for deltas in itertools.product(SIGNS, repeat=4):
        listed = [Difference(*pair, delta, True) for pair, delta in zip(names, deltas, strict=True)]
        found = classify(listed)
        assert found.level == by_the_book(list(deltas[:2]), list(deltas[2:])), deltas
        assert below_no_baseline(listed[:2]) == (min(deltas[:2]) >= 0)


@pytest.mark.parametrize("sure", itertools.product([True, False], repeat=4))
@pytest.mark.parametrize(
    ("deltas", "level", "needed"),
    [
        ((0.1, 0.2, -0.1, -0.1), "Easy", lambda s: s[0] and s[1]),  # both baselines are beaten
        ((-0.1, 0.2, 0.1, 0.1), "Intermediate", lambda s: s[0] and s[2] and s[3]),  # one baseline is enough to fail
        ((-0.1, -0.2, 0.1, 0.1), "Intermediate", lambda s: (s[0] or s[1]) and s[2] and s[3]),
        ((-0.1, 0.2, -0.1, 0.2), "Hard", lambda s: s[0] and s[2]),
        ((-0.1, -0.1, -0.2, -0.1), "Hard", lambda s: (s[0] or s[1]) and (s[2] or s[3])),
    ],
)
def test_sure_if_all_that_it_rests_on_is_significant(deltas, level, needed, sure) -> None:  # type: ignore[no-untyped-def]
    names = [(system, base) for system in ("fine-tuned", "adapted") for base in ("BiLSTM", "monolingual")]
    found = classify([Difference(*pair, *rest) for pair, *rest in zip(names, deltas, sure, strict=True)])
    assert (found.level, found.sure) == (level, needed(sure))


def test_without_adaptation_hard_and_intermediate_cannot_be_told_apart() -> None:
    assert classify([Difference("fine-tuned", "BiLSTM", 0.1, True)]).level == "Easy"
    undecided = classify([Difference("fine-tuned", "BiLSTM", -0.1, True)])
    assert (undecided.level, undecided.sure) == ("Undecided", True)


def results(right: dict[str, list[list[int]]]) -> Results:
    """Systems with the number of right words (of 10) of every item, by seed."""
    rows, predictions = [], []
    for (system, seeds), study in zip(right.items(), itertools.count(), strict=False):
        for seed, items in enumerate(seeds):
            facts = {"study": f"study {study}", "run": f"{system}{seed}", "model": system, "changes": "REF"}
            facts |= {"task": "pos", "source": "ug", "target": "ug", "seed": seed}  # type: ignore[dict-item]
            value = sum(items) / 10 / len(items)
            rows.append({**facts, "split": "test", "metric": "accuracy", "value": value, "n": len(items)})
            predictions += [
                {**facts, "item": i, "accuracy.correct": n, "accuracy.total": 10} for i, n in enumerate(items)
            ]
    return Results(pl.DataFrame(rows, schema=RESULT_COLUMNS), pl.DataFrame(predictions).lazy())


def test_differences_are_tested_on_the_same_examples_and_corrected() -> None:
    right = {
        "fine-tuned": [[7, 8, 6, 7, 9] * 8, [8, 7, 7, 6, 9] * 8, [7, 7, 7, 7, 9] * 8],
        "BiLSTM": [[9, 9, 9, 8, 9] * 8, [9, 9, 9, 9, 9] * 8, [9, 9, 9, 9, 8] * 8],
        "adapted": [[9, 9, 9, 8, 9] * 8, [9, 9, 9, 9, 9] * 8, [9, 9, 9, 9, 9] * 8],
    }
    frame = compare_systems(results(right), [("fine-tuned", "BiLSTM"), ("adapted", "BiLSTM")], "accuracy")
    first, second = frame.iter_rows(named=True)
    assert (first["system"], first["baseline"], first["seeds"]) == ("fine-tuned", "BiLSTM", 3)
    assert first["delta"] == pytest.approx((7.4 + 7.4 + 7.4) / 30 - (8.8 + 9 + 8.8) / 30)
    scores = [np.array(right[name]) / 10 for name in ("BiLSTM", "fine-tuned", "adapted")]
    tests = [crossed_test(scores[0], other) for other in scores[1:]]
    p = [one.p for one in tests]
    assert frame["p"].to_list() == pytest.approx(p)
    assert frame.select("low", "high").rows() == [pytest.approx((one.low, one.high)) for one in tests]
    assert frame["holm"].to_list() == pytest.approx(list(holm(p)))
    assert (first["significant"], second["significant"]) == (True, False)
    assert to_differences(frame) == [
        Difference("fine-tuned", "BiLSTM", first["delta"], True),
        Difference("adapted", "BiLSTM", second["delta"], False),
    ]
    assert classify(to_differences(frame)).level == "Intermediate"


def test_a_difference_that_seeds_do_not_share_is_not_significant() -> None:
    right = {"fine-tuned": [[9] * 40, [5] * 40, [9] * 40], "BiLSTM": [[5] * 40, [6] * 40, [5] * 40]}
    (row,) = compare_systems(results(right), [("fine-tuned", "BiLSTM")], "accuracy").iter_rows(named=True)
    scores = [np.array(right[name]) / 10 for name in ("BiLSTM", "fine-tuned")]
    assert paired_t_test(*scores).p < 0.001 < 0.05 < row["p"]  # over sentences alone it would be
    assert row["low"] < 0 < row["high"] and not row["significant"]


def test_one_seed_is_tested_on_examples_alone() -> None:
    right = {"fine-tuned": [[9, 8] * 20], "BiLSTM": [[5, 6] * 20]}
    (row,) = compare_systems(results(right), [("fine-tuned", "BiLSTM")], "accuracy").iter_rows(named=True)
    assert row["p"] == pytest.approx(paired_t_test([5, 6] * 20, [9, 8] * 20).p) and row["significant"]


def test_without_predictions_nothing_is_tested() -> None:
    alone = Results(results({"fine-tuned": [[9] * 4, [8] * 4], "BiLSTM": [[5] * 4, [6] * 4]}).frame)
    (row,) = compare_systems(alone, [("fine-tuned", "BiLSTM")], "accuracy").iter_rows(named=True)
    assert row["delta"] == pytest.approx(0.3)
    assert (row["p"], row["holm"], row["low"], row["significant"]) == (None, None, None, False)


def test_nothing_to_compare() -> None:
    assert compare_systems(results({"fine-tuned": [[9] * 4]}), [], "accuracy").is_empty()
