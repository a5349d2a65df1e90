"""Attachment scores of dependency trees over gold words, as the CoNLL 2018 shared task counts them.

Every word counts, including punctuation. UAS is the share of words with the correct head; LAS the share with the
correct head and universal relation, without the subtype after the colon. Reference: Zeman et al. 2018, https://aclanthology.org/K18-2001.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from isogloss.metrics.counts import Counts, ratio, same_length

Arc = tuple[int, str]  # head (0 for the root) and relation of one word


@dataclass(frozen=True)
class AttachmentCounts(Counts):
    """Number of words, of correct heads, and of correct heads with the correct relation."""

    words: int
    heads: int
    labelled: int

    @property
    def uas(self) -> float:
        return ratio(self.heads, self.words)

    @property
    def las(self) -> float:
        return ratio(self.labelled, self.words)


def attachment_counts(gold: Sequence[Arc], predicted: Sequence[Arc]) -> AttachmentCounts:
    """The counts of one sentence, from (head, relation) of each word.

    >>> counts = attachment_counts([(2, "nsubj:pass"), (0, "root")], [(2, "nsubj"), (1, "root")])
    >>> counts.uas, counts.las
    (0.5, 0.5)
    """
    same_length(gold, predicted, "words")
    pairs = [(g, p) for g, p in zip(gold, predicted, strict=True) if g[0] == p[0]]
    labelled = sum(universal(g[1]) == universal(p[1]) for g, p in pairs)
    return AttachmentCounts(len(gold), len(pairs), labelled)


def universal(relation: str) -> str:
    """A relation without its subtype.

    >>> universal("acl:relcl")
    'acl'
    """
    return relation.partition(":")[0]
