"""F1 of named entities in BIO tags: over spans, and over single tokens.

Spans are read as in `conlleval`, including malformed sequences: an `I-` that does not continue a span of its type
starts one. The token-level micro F1 counts tokens other than `O` whose complete tag (`B-PER`) is correct.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from isogloss.core.errors import UsageError, shown
from isogloss.metrics.counts import Counts, same_length

MAX_CACHED_SEQUENCES = 100_000


class Span(NamedTuple):
    """An entity over the words `start` … `stop - 1`."""

    type: str
    start: int
    stop: int


@dataclass(frozen=True)
class F1Counts(Counts):
    """Number of gold spans (or tokens), of predicted ones, and of correct predictions."""

    gold: int
    predicted: int
    correct: int

    @property
    def precision(self) -> float:
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both; 0 if nothing is correct, even if there is nothing to find, as in seqeval."""
        return 2 * self.correct / (self.gold + self.predicted) if self.correct else 0.0


def read_spans(tags: Sequence[str]) -> list[Span]:
    """The entities of one sentence.

    >>> read_spans(["B-PER", "I-PER", "O", "I-LOC"])
    [Span(type='PER', start=0, stop=2), Span(type='LOC', start=3, stop=4)]
    """
    spans: list[Span] = []
    start, current = 0, ""
    for i, tag in enumerate([*tags, "O"]):
        mark, type = _split(tag)
        if current and (mark != "I" or type != current):
            spans.append(Span(current, start, i))
        if mark != "O" and (mark == "B" or type != current):
            start = i
        current = type
    return spans


def span_counts(gold: Sequence[str], predicted: Sequence[str]) -> F1Counts:
    """Entity counts of one sentence; an entity is correct if its type and both boundaries are.

    >>> span_counts(["B-PER", "I-PER", "O", "B-LOC"], ["B-PER", "O", "O", "B-LOC"]).f1
    0.5
    """
    same_length(gold, predicted, "words")
    gold_spans, predicted_spans = _spans(tuple(gold)), _spans(tuple(predicted))
    return F1Counts(len(gold_spans), len(predicted_spans), len(gold_spans & predicted_spans))


def token_counts(gold: Sequence[str], predicted: Sequence[str]) -> F1Counts:
    """Counts of one sentence's tokens other than `O`, for the token-level micro F1.

    >>> token_counts(["B-PER", "I-PER", "O", "B-LOC"], ["B-PER", "O", "O", "B-LOC"])
    F1Counts(gold=3, predicted=2, correct=2)
    """
    same_length(gold, predicted, "words")
    correct = sum([g == p != "O" for g, p in zip(gold, predicted, strict=True)])
    return F1Counts(len(gold) - gold.count("O"), len(predicted) - predicted.count("O"), correct)


@lru_cache(MAX_CACHED_SEQUENCES)
def _spans(tags: tuple[str, ...]) -> frozenset[Span]:
    """Cached: 10,000 sentences of PAN-X have only 1,890 different tag sequences."""
    return frozenset(read_spans(tags))


@cache
def _split(tag: str) -> tuple[str, str]:
    """`B-PER` → B and PER; `O` has no type."""
    mark, _, type = tag.partition("-")
    if tag == "O" or (mark in {"B", "I"} and type):
        return mark, type
    raise UsageError(f"expected a BIO tag such as O, B-PER or I-PER, got {shown(tag)}")
