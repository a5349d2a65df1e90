"""Word alignments: the links between the words of a sentence and those of its translation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from isogloss.corpora.kinds.kind import CorpusKind

SURE = "-"
UNALIGNED_INDEX = -1  # index in links of words that a file explicitly marks as unaligned


class Link(NamedTuple):
    """Word `source` of a sentence is a translation of word `target` of the other; both counted from 0."""

    source: int
    target: int
    mark: str = SURE


@dataclass(frozen=True, slots=True)
class Alignment:
    """The links of one sentence pair in the order of the file; `sure` and `possible` exclude unaligned words.

    >>> alignment = Alignment((Link(0, 0), Link(1, 2, "?")))
    >>> alignment.sure, alignment.possible
    (((0, 0),), ((1, 2),))
    """

    links: tuple[Link, ...] = ()

    @property
    def sure(self) -> tuple[tuple[int, int], ...]:
        return tuple(link[:2] for link in self.links if link.mark == SURE and UNALIGNED_INDEX not in link)

    @property
    def possible(self) -> tuple[tuple[int, int], ...]:
        """The links that are possible but not sure."""
        return tuple(link[:2] for link in self.links if link.mark != SURE and UNALIGNED_INDEX not in link)


def count(alignments: Sequence[Alignment]) -> dict[str, int]:
    sure, possible = sum(len(a.sure) for a in alignments), sum(len(a.possible) for a in alignments)
    return {"sentence pairs": len(alignments), "sure links": sure} | ({"possible links": possible} if possible else {})


ALIGNMENT: CorpusKind[Alignment] = CorpusKind(name="alignment", count=count, is_language_pair=True)
