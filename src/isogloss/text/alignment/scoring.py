"""Scores of a word alignment against the gold alignment of the same sentence pairs."""

from __future__ import annotations

from isogloss.core.errors import UsageError, shown
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.metrics.alignment import LinkCounts, link_counts
from isogloss.metrics.counts import same_length, total


def score_alignment(predicted: Corpus[AlignedPair], gold: Corpus[AlignedPair]) -> LinkCounts:
    """`.aer`, `.precision` and `.recall` of a bitext.

    >>> from isogloss.corpora.lab.laboratory import Laboratory
    >>> gold = Laboratory().bitext("qla", "qlb", 20)
    >>> score_alignment(gold, gold).aer
    0.0
    """
    return total(score_pairs(predicted, gold))


def score_pairs(predicted: Corpus[AlignedPair], gold: Corpus[AlignedPair]) -> list[LinkCounts]:
    """The counts of every sentence pair. Sure and possible predicted links count the same."""
    same_length(gold, predicted, "sentence pairs")
    counts = []
    for number, (predicted_pair, gold_pair) in enumerate(zip(predicted, gold, strict=True), 1):
        if (predicted_pair.source, predicted_pair.target) != (gold_pair.source, gold_pair.target):
            texts = [shown(" ".join((*pair.source, "|||", *pair.target))) for pair in (gold_pair, predicted_pair)]
            raise UsageError(f"pair {number}: the gold alignment is of {texts[0]}, not of {texts[1]}")
        links = predicted_pair.alignment
        counts.append(link_counts(gold_pair.alignment.sure, gold_pair.alignment.possible, links.sure + links.possible))
    return counts
