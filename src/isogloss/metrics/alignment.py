"""Alignment error rate, precision and recall of word links, against sure and possible gold links.

Annotators mark a link as sure, or as possible where they hesitate; every sure link is possible too. Precision
asks whether the links found are possible, recall whether the sure ones were found:

    precision = |A ∩ P| / |A|    recall = |A ∩ S| / |S|    AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)

Where every gold link is sure, the AER is 1 − F1.

Reference: Och & Ney (2003), A systematic comparison of various statistical alignment models.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from isogloss.metrics.counts import Counts, ratio

Pair = tuple[int, int]  # a word of the source and a word of the target


@dataclass(frozen=True)
class LinkCounts(Counts):
    """Links found, sure links in the gold, and how many of those found are sure and how many at least possible."""

    found: int
    sure: int
    found_sure: int
    found_possible: int

    @property
    def precision(self) -> float:
        return ratio(self.found_possible, self.found)

    @property
    def recall(self) -> float:
        return ratio(self.found_sure, self.sure)

    @property
    def aer(self) -> float:
        """0 for a perfect alignment, 1 where nothing found is even possible; not a number without any links."""
        return 1 - ratio(self.found_sure + self.found_possible, self.found + self.sure)


def link_counts(sure: Iterable[Pair], possible: Iterable[Pair], found: Iterable[Pair]) -> LinkCounts:
    """The counts of one sentence pair; `possible` with or without the sure links.

    >>> counts = link_counts(sure=[(0, 0), (1, 1)], possible=[(1, 2)], found=[(0, 0), (1, 2), (2, 2)])
    >>> counts.precision, counts.recall, counts.aer
    (0.6666666666666666, 0.5, 0.4)
    """
    certain, links = set(sure), set(found)
    allowed = certain | set(possible)
    return LinkCounts(len(links), len(certain), len(links & certain), len(links & allowed))
