"""A word alignment held against a gold one of the same sentence pairs."""

from __future__ import annotations

from isogloss.core.errors import UsageError, shown
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.metrics.alignment import LinkCounts, link_counts
from isogloss.metrics.counts import same_length, total


def score_alignment(found: Corpus[AlignedPair], gold: Corpus[AlignedPair]) -> LinkCounts:
    """`.aer`, `.precision` and `.recall` of a whole bitext.

    >>> from isogloss.corpora.lab.laboratory import Laboratory
    >>> gold = Laboratory().bitext("qla", "qlb", 20)
    >>> score_alignment(gold, gold).aer
    0.0
    """
    return total(score_pairs(found, gold))


def score_pairs(found: Corpus[AlignedPair], gold: Corpus[AlignedPair]) -> list[LinkCounts]:
    """The counts of every sentence pair. A found link counts whatever its mark."""
    same_length(gold, found, "sentence pairs")
    counts = []
    for number, (one, other) in enumerate(zip(found, gold, strict=True), 1):
        if (one.source, one.target) != (other.source, other.target):
            theirs, ours = (" ".join((*pair.source, "|||", *pair.target)) for pair in (other, one))
            raise UsageError(f"pair {number}: the gold alignment is of {shown(theirs)}, not of {shown(ours)}")
        links = one.alignment
        counts.append(link_counts(other.alignment.sure, other.alignment.possible, links.sure + links.possible))
    return counts
