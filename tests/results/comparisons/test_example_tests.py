from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from result_rows import result_rows
from scipy import stats

from isogloss.core.errors import UnknownName, UsageError
from isogloss.corpora.kinds.qa import Answer, Question
from isogloss.metrics.counts import Counts, total
from isogloss.metrics.crossed import crossed_test
from isogloss.metrics.significance import permutation_test
from isogloss.metrics.spans import F1Counts
from isogloss.results.comparisons.deltas import TESTS, deltas
from isogloss.results.comparisons.example_tests import COUNTS_BY_FIELDS, SCORE_NAMES, example_interval
from isogloss.tasks import TASKS
from isogloss.tasks.qa import gold as qa_gold
from isogloss.training.finetuning.evaluation import Evaluation
from isogloss.training.finetuning.target_evaluation import prediction_rows

random = np.random.default_rng(0)


def predictions(counts: dict[tuple[str, int], list[Counts]], metric: str, target: str = "fr") -> pl.LazyFrame:
    """As a run writes them, from counts by change and seed; the runs are those of `result_rows`."""
    frames = []
    for (change, seed), items in counts.items():
        nothing = [""] * len(items)
        evaluation = Evaluation(nothing, nothing, {metric: items}, {})
        frames.append(prediction_rows({("test", target): evaluation}, {"run": f"{change} {{}} {seed}", "seed": seed}))
    return pl.concat(frames).lazy()


def rows(seeds: int, metric: str, n: int) -> pl.DataFrame:
    scores = {("REF", "fr"): [0.5] * seeds, ("1-2", "fr"): [0.4 - 0.01 * seed for seed in range(seeds)]}
    return result_rows(scores).with_columns(metric=pl.lit(metric), n=pl.lit(n, pl.Int64))


def test_a_mean_over_examples_is_tested_by_t_on_their_means_over_seeds() -> None:
    right = {(change, seed): random.integers(0, 2, 40) for change in ("REF", "1-2") for seed in range(3)}
    counts = {
        key: [COUNTS_BY_FIELDS[frozenset({"correct", "total"})](int(x), 1) for x in one] for key, one in right.items()
    }
    (row,) = deltas(rows(3, "accuracy", 40), predictions(counts, "accuracy"), test="published").iter_rows(named=True)
    first, second = (np.mean([right[change, seed] for seed in range(3)], axis=0) for change in ("REF", "1-2"))
    assert row["test"] == "t over examples"
    assert row["p"] == pytest.approx(stats.ttest_rel(second, first).pvalue)
    assert row["low"] is not None  # the interval stays that over seeds


def test_answers_are_tested_by_their_own_f1() -> None:
    kind = COUNTS_BY_FIELDS[frozenset({"exact", "overlap", "total"})]
    overlaps = {(change, 0): random.random(30) for change in ("REF", "1-2")}
    counts = {key: [kind(0, float(x), 1) for x in one] for key, one in overlaps.items()}
    (row,) = deltas(rows(1, "f1", 30), predictions(counts, "f1")).iter_rows(named=True)
    assert row["p"] == pytest.approx(stats.ttest_rel(overlaps["1-2", 0], overlaps["REF", 0]).pvalue)
    assert (row["low"], row["test"]) == (None, "t over examples")


@pytest.mark.parametrize("metric", ["f1", "token_f1"])
def test_entities_are_tested_by_permutation_of_all_seeds(metric: str) -> None:
    counts: dict[tuple[str, int], list[Counts]] = {
        (change, seed): [F1Counts(2, 2, int(x)) for x in random.integers(0, worst, 25)]
        for change, worst in (("REF", 3), ("1-2", 2))
        for seed in range(2)
    }
    (row,) = deltas(rows(2, metric, 25), predictions(counts, metric), test="published").iter_rows(named=True)
    before, after = (counts[change, 0] + counts[change, 1] for change in ("REF", "1-2"))
    direct = permutation_test(before, after, lambda one: one.f1)  # type: ignore[attr-defined]
    assert (row["p"], row["test"]) == (direct.p, "permutation of examples")
    assert row["p"] < 0.05


def test_several_seeds_and_examples_are_both_samples() -> None:
    """Of scores that are means, as they are in the table; luck of a seed is no difference between changes."""
    right = {(change, seed): random.integers(0, 2, 40) for change in ("REF", "1-2") for seed in range(3)}
    counts = {
        key: [COUNTS_BY_FIELDS[frozenset({"correct", "total"})](int(x), 1) for x in one] for key, one in right.items()
    }
    (row,) = deltas(rows(3, "accuracy", 40), predictions(counts, "accuracy")).iter_rows(named=True)
    expected = crossed_test(*([right[change, seed] for seed in range(3)] for change in ("REF", "1-2")))
    assert (row["p"], row["test"]) == (pytest.approx(expected.p), "t over seeds and examples")
    lucky = {("REF", 0): 9, ("REF", 1): 9, ("1-2", 0): 9, ("1-2", 1): 6}
    counts = {key: [COUNTS_BY_FIELDS[frozenset({"correct", "total"})](good, 10)] * 200 for key, good in lucky.items()}
    found = {test: deltas(rows(2, "accuracy", 200), predictions(counts, "accuracy"), test=test) for test in TESTS}
    assert found["published"]["p"][0] < 0.01
    assert found["crossed"]["p"][0] > 0.2
    with pytest.raises(UnknownName, match="did you mean 'crossed'"):
        deltas(rows(2, "accuracy", 200), test="cross")


def test_without_a_score_for_all_but_one_the_examples_are_permuted() -> None:
    kind = COUNTS_BY_FIELDS[frozenset({"correct", "total"})]
    items: list[Counts] = [kind(1, 2), kind(0, 0), kind(0, 0)]  # all words are in one sentence
    counts = {(change, seed): items for change in ("REF", "1-2") for seed in range(2)}
    assert deltas(rows(2, "accuracy", 3), predictions(counts, "accuracy"))["test"][0] == "permutation of examples"


def test_the_permutation_agrees_with_all_permutations() -> None:
    before = [F1Counts(3, 3, x) for x in (3, 2, 3, 1, 2, 3, 3, 2)]
    after = [F1Counts(3, 2, x) for x in (1, 2, 1, 1, 2, 1, 2, 0)]
    observed = abs(total(after).f1 - total(before).f1)
    swaps = [
        abs(
            total([b if s else a for a, b, s in zip(before, after, coins, strict=True)]).f1
            - total([a if s else b for a, b, s in zip(before, after, coins, strict=True)]).f1
        )
        for coins in product([0, 1], repeat=8)
    ]
    exact = np.mean(np.array(swaps) >= observed - 1e-12)
    found = deltas(rows(1, "f1", 8), predictions({("REF", 0): [*before], ("1-2", 0): [*after]}, "f1"))
    assert found["p"][0] == pytest.approx(exact, abs=0.02)


def test_sentences_of_many_words_are_tested_by_permutation() -> None:
    kind = COUNTS_BY_FIELDS[frozenset({"correct", "total"})]
    counts = {(change, 0): [kind(right, 5) for _ in range(20)] for change, right in (("REF", 5), ("1-2", 3))}
    (row,) = deltas(rows(1, "accuracy", 20), predictions(counts, "accuracy")).iter_rows(named=True)
    assert row["test"] == "permutation of examples"
    assert row["p"] < 0.001


def test_a_metric_of_two_tasks_keeps_its_counts_apart() -> None:
    """`f1` is of entities in one task and of answers in another; together they lie in one frame."""
    answers = COUNTS_BY_FIELDS[frozenset({"exact", "overlap", "total"})]
    ner = {(change, 0): [F1Counts(2, 2, right)] * 20 for change, right in (("REF", 2), ("1-2", 0))}
    qa = {(change, 0): [answers(0, x / 20, 1) for x in range(20)] for change in ("REF", "1-2")}
    both = pl.concat(
        [predictions(ner, "f1"), predictions(qa, "f1", "ru")],  # type: ignore[arg-type]
        how="diagonal_relaxed",
    )
    scores = pl.concat([rows(1, "f1", 20), rows(1, "f1", 20).with_columns(target=pl.lit("ru"))])
    french, russian = deltas(scores, both).iter_rows(named=True)
    assert french["test"] == "permutation of examples"
    assert french["p"] < 0.001
    assert (russian["test"], russian["p"]) == ("t over examples", 1.0)


def test_runs_without_predictions_fall_back_to_the_seeds() -> None:
    counts = {("REF", seed): [F1Counts(2, 2, 1)] * 10 for seed in range(2)}
    found = deltas(rows(2, "f1", 10), predictions(counts, "f1"))  # type: ignore[arg-type]
    assert found["test"].to_list() == ["t over seeds"]
    assert deltas(rows(2, "f1", 10), pl.LazyFrame())["test"].to_list() == ["t over seeds"]


def test_predictions_of_other_items_are_an_error() -> None:
    counts = {("REF", 0): [F1Counts(2, 2, 1)] * 10, ("1-2", 0): [F1Counts(2, 2, 1)] * 9}
    with pytest.raises(UsageError, match="predictions of different items"):
        deltas(rows(1, "f1", 10), predictions(counts, "f1"))  # type: ignore[arg-type]


SAMPLES = {
    "pos": (["NOUN", "VERB"], ["NOUN", "NOUN"]),
    "parse": ([(2, "nsubj"), (0, "root")], [(2, "nsubj"), (1, "root")]),
    "ner": (["B-PER", "O"], ["B-PER", "B-LOC"]),
    "nli": ("neutral", "entailment"),
    "qa": (qa_gold(Question("q", "Who barks?", "The dog barks.", (Answer("dog", 4),))), (4, 13)),
}


@pytest.mark.parametrize("task", TASKS)
def test_the_counts_of_every_task_are_known(task: str) -> None:
    gold, predicted = SAMPLES[task]
    for name, metric in TASKS[task].metrics.items():
        counted = metric.count(gold, predicted)
        kind = COUNTS_BY_FIELDS[frozenset(vars(counted))]
        assert isinstance(counted, kind)
        assert getattr(counted, SCORE_NAMES.get(name, name)) == metric.of(counted)


def test_intervals_over_examples_are_those_of_the_tests() -> None:
    a, b = random.integers(0, 2, 40), random.integers(0, 2, 40)
    frames = [pl.DataFrame({"item": range(40), "correct": side, "total": [1] * 40}) for side in (a, b)]
    low, high = example_interval("accuracy", frames[:1], frames[1:]) or (0.0, 0.0)
    expected = stats.ttest_rel(b, a).confidence_interval()
    assert (low, high) == pytest.approx((expected.low, expected.high))
    assert example_interval("accuracy", frames[:1], [None]) is None


def test_a_clear_difference_stays_significant_among_many() -> None:
    """One seed: the smallest p of 1,000 permutations, times 60 tests, would be above .05."""
    kind = COUNTS_BY_FIELDS[frozenset({"correct", "total"})]
    counts = {(change, 0): [kind(right, 5) for _ in range(50)] for change, right in (("REF", 5), ("1-2", 2))}
    (row,) = deltas(rows(1, "accuracy", 50), predictions(counts, "accuracy")).iter_rows(named=True)
    assert 60 * row["p"] < 0.05
    (published,) = deltas(rows(1, "accuracy", 50), predictions(counts, "accuracy"), test="published").to_dicts()
    assert published["p"] == pytest.approx(1 / 1001)
