from __future__ import annotations

import math

import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from isogloss.core.errors import UsageError
from isogloss.metrics.attachment import AttachmentCounts
from isogloss.metrics.counts import score_each, total
from isogloss.metrics.tagging import TagCounts, label_counts, tag_counts

tags = st.sampled_from(["NOUN", "VERB", "DET"])


@given(st.lists(st.lists(st.tuples(tags, tags), min_size=1), min_size=1))
def test_accuracy_against_sklearn(examples: list[list[tuple[str, str]]]) -> None:
    gold = [[g for g, _ in words] for words in examples]
    predicted = [[p for _, p in words] for words in examples]
    counts = total(score_each(tag_counts, gold, predicted))
    flat = [pair for words in examples for pair in words]
    assert counts.accuracy == pytest.approx(sklearn.metrics.accuracy_score(*zip(*flat, strict=True)))


def test_counts_add() -> None:
    assert TagCounts(1, 2) + TagCounts(3, 4) == TagCounts(4, 6)
    with pytest.raises(TypeError):
        TagCounts(1, 2) + AttachmentCounts(1, 1, 1)  # type: ignore[operator]


def test_labels() -> None:
    counts = score_each(label_counts, ["entailment", "neutral", "neutral"], ["entailment", "neutral", "contradiction"])
    assert total(counts) == TagCounts(2, 3)


def test_a_share_of_nothing_is_not_a_number() -> None:
    assert math.isnan(tag_counts([], []).accuracy)


def test_different_lengths_are_refused() -> None:
    with pytest.raises(UsageError, match="the same number of words, got 2 and 1"):
        tag_counts(["DET", "NOUN"], ["DET"])
