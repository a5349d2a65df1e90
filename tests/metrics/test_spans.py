from __future__ import annotations

import warnings

import pytest
import seqeval.metrics
import seqeval.metrics.sequence_labeling
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from shared_data import shared

from isogloss.core.errors import UsageError
from isogloss.core.files import read_lines
from isogloss.core.seeds import Chance
from isogloss.metrics.counts import score_each, total
from isogloss.metrics.spans import F1Counts, read_spans, span_counts, token_counts

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-WORK-OF-ART", "I-WORK-OF-ART"]
Sentences = list[list[str]]

# any order of tags, so mostly malformed BIO
pairs = st.lists(st.lists(st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS)), max_size=12), min_size=1, max_size=6)


def unzip(examples: list[list[tuple[str, str]]]) -> tuple[Sentences, Sentences]:
    return [[g for g, _ in words] for words in examples], [[p for _, p in words] for words in examples]


def assert_like_seqeval(gold: Sentences, predicted: Sentences) -> None:
    counts = total(score_each(span_counts, gold, predicted))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # undefined scores, which are 0
        assert counts.precision == pytest.approx(seqeval.metrics.precision_score(gold, predicted))
        assert counts.recall == pytest.approx(seqeval.metrics.recall_score(gold, predicted))
        assert counts.f1 == pytest.approx(seqeval.metrics.f1_score(gold, predicted))


def assert_like_sklearn(gold: Sentences, predicted: Sentences) -> None:
    counts = total(score_each(token_counts, gold, predicted))
    flat = [tag for tags in gold for tag in tags], [tag for tags in predicted for tag in tags]
    labels = [tag for tag in [*TAGS, "B-ORG", "I-ORG"] if tag != "O"]
    options = {"labels": labels, "average": "micro", "zero_division": 0}
    assert counts.precision == pytest.approx(sklearn.metrics.precision_score(*flat, **options))
    assert counts.recall == pytest.approx(sklearn.metrics.recall_score(*flat, **options))
    assert counts.f1 == pytest.approx(sklearn.metrics.f1_score(*flat, **options))


@given(st.lists(st.sampled_from(TAGS), max_size=15))
def test_spans_against_seqeval(tags: list[str]) -> None:
    expected = [(type, start, end + 1) for type, start, end in seqeval.metrics.sequence_labeling.get_entities(tags)]
    assert [tuple(span) for span in read_spans(tags)] == expected


@given(pairs)
def test_scores_against_seqeval(examples: list[list[tuple[str, str]]]) -> None:
    assert_like_seqeval(*unzip(examples))


@given(pairs.filter(any))
def test_token_scores_against_sklearn(examples: list[list[tuple[str, str]]]) -> None:
    assert_like_sklearn(*unzip(examples))


@pytest.mark.parametrize("lang", ["en", "ru", "zh"])
def test_real_entities_with_errors(lang: str) -> None:
    text = "\n".join(read_lines(shared(f"data/panx/dev-{lang}.tsv.xz")))
    gold = [[line.split("\t")[1] for line in block.splitlines()] for block in text.split("\n\n")[:1000] if block]
    chance = Chance(0, "entities", lang)
    tags = sorted({tag for sentence in gold for tag in sentence})
    predicted = [[chance.choose(tags) if chance.happens(0.1) else tag for tag in sentence] for sentence in gold]
    assert 0.2 < total(score_each(span_counts, gold, predicted)).f1 < 0.9
    assert_like_seqeval(gold, predicted)
    assert_like_sklearn(gold, predicted)


def test_by_hand() -> None:
    gold = ["B-PER", "I-PER", "O", "B-LOC", "B-LOC", "O"]
    predicted = ["B-PER", "I-PER", "I-LOC", "B-LOC", "I-LOC", "O"]
    assert span_counts(gold, predicted) == F1Counts(gold=3, predicted=3, correct=1)
    assert token_counts(gold, predicted) == F1Counts(gold=4, predicted=5, correct=3)
    counts = F1Counts(4, 5, 3)
    assert (counts.precision, counts.recall, counts.f1) == (0.6, 0.75, 2 / 3)


@pytest.mark.parametrize("tag", ["PER", "B", "B-", "S-PER", "o", ""])
def test_other_schemes_are_refused(tag: str) -> None:
    with pytest.raises(UsageError, match="expected a BIO tag"):
        read_spans(["O", tag])
