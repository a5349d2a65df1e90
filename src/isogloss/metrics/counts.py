"""Counts of examples, which add up to the counts of a corpus.

Each metric counts one example at a time. The counts of all examples are kept for significance tests; the score of a
corpus is that of their `total`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, TypeVar

from isogloss.core.errors import UsageError

C = TypeVar("C", bound="Counts")
T = TypeVar("T")


class Counts:
    """Base class of counts: frozen dataclasses of numbers that add field by field.

    `scorer` is the scoring script, for metrics that several scripts compute differently.
    """

    scorer: ClassVar[str] = ""

    def __add__(self: C, other: C) -> C:
        if type(other) is not type(self):
            return NotImplemented
        return total([self, other])


def total(counts: Sequence[C]) -> C:
    """The counts of a corpus from those of its examples (at least one).

    >>> from isogloss.metrics.tagging import TagCounts
    >>> total([TagCounts(1, 2), TagCounts(3, 4)])
    TagCounts(correct=4, total=6)
    """
    if not counts:
        raise UsageError("no examples to score: the corpus is empty")
    if len(kinds := {type(each).__name__ for each in counts}) > 1:
        raise UsageError(f"only counts of one kind can be added, got {' and '.join(sorted(kinds))}")
    return type(counts[0])(*map(sum, zip(*(vars(each).values() for each in counts), strict=True)))


def score_each(count: Callable[[T, T], C], gold: Iterable[T], predicted: Iterable[T]) -> list[C]:
    """`count(gold, predicted)` of every example; gold and predicted must have the same length.

    >>> from isogloss.metrics.tagging import tag_counts
    >>> score_each(tag_counts, [["DET", "NOUN"], ["VERB"]], [["DET", "VERB"], ["VERB"]])
    [TagCounts(correct=1, total=2), TagCounts(correct=1, total=1)]
    """
    gold, predicted = list(gold), list(predicted)
    same_length(gold, predicted, "examples")
    return [count(g, p) for g, p in zip(gold, predicted, strict=True)]


def same_length(gold: Sequence[object], predicted: Sequence[object], unit: str) -> None:
    """Raise an error unless both sides have the same number of units."""
    if len(gold) != len(predicted):
        raise UsageError(
            f"gold and predicted must have the same number of {unit}, got {len(gold)} and {len(predicted)}"
        )


def ratio(part: float, total: float) -> float:
    """`part / total`; NaN if the total is 0."""
    return part / total if total else math.nan
