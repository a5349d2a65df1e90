"""What follows from what: a small formal semantics of meanings, and nothing about how pairs are made.

A clause of the fragment states that some, every or no thing of a description takes part in an event. Classes
are never empty, numbers are exact, and sentences of one pair speak of the same moment
unless they give different times. Descriptions and events
are compared by the taxonomy: a red dog is an animal, who runs moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from isogloss.corpora.lab.concepts import OPPOSITE, VERB_TABLE, is_a
from isogloss.corpora.lab.meaning import Adjunct, Clause, Phrase


class Description(NamedTuple):
    """What something is: a name, or a noun with adjectives; `number` 0 where it is not counted."""

    noun: str = ""
    name: str = ""
    adjectives: frozenset[str] = frozenset()
    number: int = 0


class Event(NamedTuple):
    """What happens, without who does it."""

    verb: str
    tense: str
    object: Description | None = None
    goal: Description | None = None
    adjective: str = ""
    location: Description | None = None
    place: Description | None = None
    time: Phrase | None = None


class Statement(NamedTuple):
    """`every` or some of the subject takes part in the event; `holds` is False where none does."""

    every: bool
    holds: bool
    subject: Description
    event: Event


def decide(premise: Clause, hypothesis: Clause) -> str:
    """entailment, contradiction or neutral; the hypothesis is one statement.

    >>> ann = Phrase("pana", "PER")
    >>> decide(Clause("run", ann), Clause("move", ann)), decide(Clause("run", ann), Clause("run", ann, negated=True))
    ('entailment', 'contradiction')
    """
    known, (claim,) = list(facts(premise)), facts(hypothesis)
    if any(entails(fact, claim) for fact in known):
        return "entailment"
    return "contradiction" if any(contradicts(fact, claim) for fact in known) else "neutral"


def facts(clause: Clause) -> Iterator[Statement]:
    """What a sentence asserts: its clauses, but not what is only said, believed or supposed."""
    supposed = clause.adverbial is not None and clause.adverbial[0] == "if"
    if clause.complement is None and not supposed:
        yield _statement(clause)
    if clause.complement is not None and VERB_TABLE[clause.verb].frame == "c":
        yield from facts(clause.complement)
    if clause.adverbial is not None and not supposed:
        yield from facts(clause.adverbial[1])
    if clause.conjunct is not None:
        yield from facts(clause.conjunct[1])


def entails(fact: Statement, claim: Statement) -> bool:
    if fact.holds and claim.holds:
        return _implies(fact, claim)
    if not fact.holds and not claim.holds:  # by contraposition
        return _implies(claim._replace(holds=True), fact._replace(holds=True))
    return fact.holds and _excludes(fact, claim._replace(holds=True))


def contradicts(fact: Statement, claim: Statement) -> bool:
    if fact.holds and claim.holds:
        return _excludes(fact, claim)
    if fact.holds:
        return _implies(fact, claim._replace(holds=True))
    return claim.holds and _implies(claim, fact._replace(holds=True))


def _implies(fact: Statement, claim: Statement) -> bool:
    """Both hold: every member of what the fact says is of what the claim says."""
    if claim.subject.number or (claim.event.object is not None and claim.event.object.number):
        if fact.event != claim.event:  # exact numbers survive no change of the event
            return False
    elif not _event_is(fact.event, claim.event):
        return False
    narrower, broader = _is(fact.subject, claim.subject), _is(claim.subject, fact.subject)
    if not fact.every:
        return not claim.every and narrower
    return broader if claim.every else narrower or broader


def _excludes(fact: Statement, claim: Statement) -> bool:
    """Both hold, and cannot both be true."""
    if fact.subject.number and claim.subject.number:
        plain = fact.subject._replace(number=claim.subject.number)
        return fact.subject != claim.subject == plain and fact.event == claim.event
    if fact.subject.name:
        return fact.subject == claim.subject and _events_exclude(fact.event, claim.event)
    related = (fact.every and _is(claim.subject, fact.subject)) or (claim.every and _is(fact.subject, claim.subject))
    stative = fact.event.verb == "be"  # events of different members do not exclude each other
    return related and stative and _events_exclude(fact.event, claim.event)


def _events_exclude(one: Event, other: Event) -> bool:
    """The same moment, but an opposite quality, another town or another number of things."""
    if (one.verb, one.tense) != (other.verb, other.tense):
        return False
    if one.time != other.time and None not in (one.time, other.time):
        return False
    if one.adjective:
        return OPPOSITE.get(one.adjective) == other.adjective
    if one.location and other.location:
        return bool(one.location.name and other.location.name and one.location != other.location)
    if one.object and other.object and one.object.number and other.object.number:
        plain = [event._replace(object=event.object._replace(number=0)) for event in (one, other) if event.object]
        return plain[0] == plain[1] and one.object.number != other.object.number
    return False


def _is(one: Description, other: Description) -> bool:
    """Whatever fits the first description fits the second."""
    if other.name:
        return one.name == other.name
    if other.number:
        return one == other
    noun = "person" if one.name else one.noun
    return is_a(noun, other.noun) and other.adjectives <= one.adjectives


def _event_is(one: Event, other: Event) -> bool:
    verb = one.verb == other.verb or (one.verb != "be" != other.verb and is_a(one.verb, other.verb))
    if not verb or one.tense != other.tense or one.adjective != other.adjective:
        return False
    if other.time is not None and one.time != other.time:
        return False
    parts = [(event.object, event.goal, event.location, event.place) for event in (one, other)]
    return all(theirs is None or (ours is not None and _is(ours, theirs)) for ours, theirs in zip(*parts))


def _statement(clause: Clause) -> Statement:
    subject, predicate = clause.subject, clause.predicate
    location = predicate.phrase if isinstance(predicate, Adjunct) else None
    event = Event(
        clause.verb,
        clause.tense,
        _described(clause.object),
        _described(clause.goal),
        predicate if isinstance(predicate, str) else "",
        _described(location),
        _described(clause.place.phrase if clause.place else None),
        clause.time.phrase if clause.time else None,
    )
    described = _described(subject)
    assert described is not None
    return Statement(subject.determiner == "every", not clause.negated and subject.determiner != "no", described, event)


def _described(phrase: Phrase | None) -> Description | None:
    if phrase is None:
        return None
    if phrase.kind in ("PER", "LOC", "ORG"):
        return Description(name=phrase.head)
    return Description(phrase.head, "", frozenset(phrase.adjectives), phrase.number)
