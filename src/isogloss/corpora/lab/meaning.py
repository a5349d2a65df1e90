"""Meanings: language-independent representations of sentences.

A meaning is a tree of clauses and phrases whose leaves are concepts. All languages realise the same trees, so
translations, word alignments, inference labels and answers are known by construction.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple


class Phrase(NamedTuple):
    """A participant.

    `kind` is noun, PER, LOC or ORG (proper names), pronoun, adverb, year, question or gap (the position
    in a relative clause that its head noun fills).
    """

    head: str
    kind: str = "noun"
    plural: bool = False
    determiner: str = ""
    number: int = 0  # 0: not counted
    adjectives: tuple[str, ...] = ()
    second: str = ""  # surname of a person, or kind of an organisation
    owner: Phrase | None = None
    modifier: Adjunct | None = None
    relative: Clause | None = None
    conjunct: Phrase | None = None


class Adjunct(NamedTuple):
    """A phrase with a relation: in the house, with a friend; the relation of an adverb is ""."""

    relation: str
    phrase: Phrase


class Clause(NamedTuple):
    """A clause: who did what to whom, where and when. The verb `be` has a `predicate`."""

    verb: str
    subject: Phrase
    tense: str = "past"
    negated: bool = False
    object: Phrase | None = None
    recipient: Phrase | None = None
    goal: Phrase | None = None
    predicate: Phrase | Adjunct | str | None = None  # a noun phrase, a place, or an adjective
    place: Adjunct | None = None
    companion: Adjunct | None = None
    time: Adjunct | None = None
    manner: str = ""
    complement: Clause | None = None
    adverbial: tuple[str, Clause] | None = None  # because, while, …
    conjunct: tuple[str, Clause] | None = None  # and, but
    asks: str = ""  # the part that a question asks for: S, O, R, P, T (see `languages.Grammar.clause`)


# values in a meaning that are grammar, not content
GRAMMAR = {
    *("past", "present", "future", "noun", "PER", "LOC", "ORG", "pronoun", "adverb"),
    *("year", "question", "gap", "the", "a", "S", "O", "R", "P", "T"),
}


def concepts(meaning: tuple[object, ...]) -> list[str]:
    """The content of a meaning in a fixed order: concepts, names and numbers without grammar.

    >>> concepts(Clause("see", Phrase("dog", adjectives=("big",)), object=Phrase("cat", number=3)))
    ['see', 'dog', 'big', 'cat', '3']
    """
    content: list[str] = []
    for value in meaning:
        if isinstance(value, tuple):
            content += concepts(value)
        elif value and value is not True and value not in GRAMMAR:
            content.append(str(value))
    return content


def fingerprint(meaning: Clause) -> int:
    """A hash of the content of a meaning, which determines its split."""
    return zlib.crc32(" ".join(concepts(meaning)).encode())
