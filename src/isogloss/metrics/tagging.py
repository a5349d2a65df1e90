"""Accuracy: the share of words with the correct tag, or of sentence pairs with the correct label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from isogloss.metrics.counts import Counts, ratio, same_length


@dataclass(frozen=True)
class TagCounts(Counts):
    """Number of words (or pairs) with the correct label, and total number."""

    correct: int
    total: int

    @property
    def accuracy(self) -> float:
        return ratio(self.correct, self.total)


def tag_counts(gold: Sequence[str], predicted: Sequence[str]) -> TagCounts:
    """The counts of one sentence.

    >>> tag_counts(["DET", "NOUN"], ["DET", "VERB"]).accuracy
    0.5
    """
    same_length(gold, predicted, "words")
    return TagCounts(sum(g == p for g, p in zip(gold, predicted, strict=True)), len(gold))


def label_counts(gold: str, predicted: str) -> TagCounts:
    """The counts of one example with a single label, as in natural language inference.

    >>> label_counts("neutral", "neutral")
    TagCounts(correct=1, total=1)
    """
    return TagCounts(int(gold == predicted), 1)
