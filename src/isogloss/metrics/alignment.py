"""Alignment error rate, precision and recall of word links, against sure and possible gold links.

Annotators mark links as sure or, where they are uncertain, as possible; every sure link is also possible. Precision
is the share of predicted links that are possible, recall the share of sure links that are predicted:

    precision = |A ∩ P| / |A|    recall = |A ∩ S| / |S|    AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)

If every gold link is sure, the AER is 1 − F1.

Reference: Och & Ney (2003), A systematic comparison of various statistical alignment models.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from isogloss.metrics.counts import Counts, ratio

Pair = tuple[int, int]  # a word of the source and a word of the target


@dataclass(frozen=True)
class LinkCounts(Counts):
    """Predicted links, sure gold links, and how many of the predicted links are sure and how many at least possible."""

    predicted: int
    sure: int
    predicted_sure: int
    predicted_possible: int

    @property
    def precision(self) -> float:
        return ratio(self.predicted_possible, self.predicted)

    @property
    def recall(self) -> float:
        return ratio(self.predicted_sure, self.sure)

    @property
    def aer(self) -> float:
        """0 for a perfect alignment, 1 if no predicted link is possible; NaN without any links."""
        return 1 - ratio(self.predicted_sure + self.predicted_possible, self.predicted + self.sure)


def link_counts(sure: Iterable[Pair], possible: Iterable[Pair], predicted: Iterable[Pair]) -> LinkCounts:
    """The counts of one sentence pair; `possible` with or without the sure links.

    >>> counts = link_counts(sure=[(0, 0), (1, 1)], possible=[(1, 2)], predicted=[(0, 0), (1, 2), (2, 2)])
    >>> counts.precision, counts.recall, counts.aer
    (0.6666666666666666, 0.5, 0.4)
    """
    sure_links, links = set(sure), set(predicted)
    possible_links = sure_links | set(possible)
    return LinkCounts(len(links), len(sure_links), len(links & sure_links), len(links & possible_links))
