"""Frequencies, topics and collocates of concepts.

Frequencies follow Zipf's law with integer weights and are the same in every language. Every verb and noun has preferred
collocates, so that each concept has a characteristic distribution: this lets a model align languages without parallel
text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from isogloss.core.seeds import Chance
from isogloss.corpora.lab.concepts import ABOVE, ADJECTIVE_LIST, DESCRIBES, VERB_TABLE, WORLD_SEED, is_a, members, names
from isogloss.corpora.lab.vocabulary import MANNERS

TOPIC_COUNT = 16
TOPIC_BOOST = 12
AFFINITY_WEIGHTS = (1, 1, 1, 1, 30)


class Table(NamedTuple):
    """Items and the cumulative sums of their weights."""

    items: Sequence[str]
    sums: Sequence[int]

    def draw(self, chance: Chance) -> str:
        return self.items[bisect_right(self.sums, chance.below(self.sums[-1]))]


def zipf(items: Sequence[str]) -> list[int]:
    """Weights that decrease with the rank.

    >>> zipf("abcd")
    [200, 150, 120, 100]
    """
    return [600 // (rank + 3) for rank in range(len(items))]


@cache
def topics(concept: str) -> frozenset[int]:
    """The topics of a concept: three draws, which may coincide."""
    chance = Chance(WORLD_SEED, "topics", concept)
    return frozenset(chance.below(TOPIC_COUNT) for _ in range(3))


def topical_table(items: Sequence[str], weights: Sequence[int], topic: int) -> Table:
    boosted = (w * (TOPIC_BOOST if topic in topics(item) else 1) for item, w in zip(items, weights))
    return Table(items, list(accumulate(boosted)))


@cache
def collocates(owner: str, role: str, topic: int) -> Table:
    """The concepts that may fill a role of a verb or modify a noun, weighted within a topic."""
    return topical_table(*_weighted_candidates(owner, role), topic)


@cache
def _weighted_candidates(owner: str, role: str) -> tuple[Sequence[str], list[int]]:
    items = _candidates(owner, role)
    chance = Chance(WORLD_SEED, "affinity", owner, role)
    return items, [_frequency(item) * chance.choose(AFFINITY_WEIGHTS) for item in items]


@cache
def _frequency(concept: str) -> int:
    """The frequency of a concept, by its rank among its siblings in the table of concepts."""
    if concept in ABOVE:
        sisters: Sequence[str] = [noun for noun in ABOVE if ABOVE[noun] == ABOVE[concept]]
    else:
        sisters = ADJECTIVE_LIST if concept in DESCRIBES else MANNERS
    return zipf(sisters)[sisters.index(concept)]


def _candidates(owner: str, role: str) -> Sequence[str]:
    if role in ("subject", "object"):
        verb = VERB_TABLE[owner]
        return members(verb.subjects if role == "subject" else verb.objects)
    if role == "adjective":
        return [a for a in ADJECTIVE_LIST if any(is_a(owner, kind) for kind in DESCRIBES[a])]
    if role == "manner":
        return MANNERS
    return members((role,))  # owner "": any noun of a class


@cache
def verbs(frame: str, topic: int) -> Table:
    items = [verb.name for verb in VERB_TABLE.values() if verb.frame == frame]
    return topical_table(items, zipf(items), topic)


@cache
def name_table(kind: str, topic: int) -> Table:
    return topical_table(names(kind), zipf(names(kind)), topic)


@cache
def verbs_for(noun: str, role: str, topic: int) -> Table:
    """Verbs that take the noun in a role: intransitive or transitive verbs for subjects, transitive for objects."""
    frames, classes = ("it", "subjects") if role == "subject" else ("t", "objects")
    verbs = [verb for verb in VERB_TABLE.values() if verb.frame in frames]
    items = [verb.name for verb in verbs if any(is_a(noun, kind) for kind in getattr(verb, classes))]
    return topical_table(items, zipf(items), topic)
