"""Entailment between meanings: a small formal semantics that is independent of how pairs are generated.

A clause states that some, every or no entity of a description takes part in an event. Classes are never empty, numbers
are exact, and the sentences of a pair are about the same moment unless they state different times. Descriptions and
events are compared with the taxonomy: a red dog is an animal, running is moving.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from isogloss.corpora.lab.concepts import OPPOSITE, VERB_TABLE, is_a
from isogloss.corpora.lab.meaning import Adjunct, Clause, Phrase


class Description(NamedTuple):
    """An entity: a name, or a noun with adjectives; `number` is 0 if it is not counted."""

    noun: str = ""
    name: str = ""
    adjectives: frozenset[str] = frozenset()
    number: int = 0


class Event(NamedTuple):
    """An event without its subject."""

    verb: str
    tense: str
    object: Description | None = None
    goal: Description | None = None
    adjective: str = ""
    location: Description | None = None
    place: Description | None = None
    time: Phrase | None = None


class Statement(NamedTuple):
    """`every` or some of the subject takes part in the event; `holds` is False if none does."""

    every: bool
    holds: bool
    subject: Description
    event: Event


def decide(premise: Clause, hypothesis: Clause) -> str:
    """The label of a pair: entailment, contradiction or neutral; the hypothesis is one statement.

    >>> ann = Phrase("pana", "PER")
    >>> decide(Clause("run", ann), Clause("move", ann)), decide(Clause("run", ann), Clause("run", ann, negated=True))
    ('entailment', 'contradiction')
    """
    premise_facts, (claim,) = list(facts(premise)), facts(hypothesis)
    if any(entails(fact, claim) for fact in premise_facts):
        return "entailment"
    return "contradiction" if any(contradicts(fact, claim) for fact in premise_facts) else "neutral"


def facts(clause: Clause) -> Iterator[Statement]:
    """The statements that a sentence asserts: not what is only said, believed or supposed."""
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
    """Whether a positive fact entails a positive claim."""
    if claim.subject.number or (claim.event.object is not None and claim.event.object.number):
        if fact.event != claim.event:  # exact numbers are not preserved by a change of the event
            return False
    elif not _event_is(fact.event, claim.event):
        return False
    narrower, broader = _is(fact.subject, claim.subject), _is(claim.subject, fact.subject)
    if not fact.every:
        return not claim.every and narrower
    return broader if claim.every else narrower or broader


def _excludes(fact: Statement, claim: Statement) -> bool:
    """Whether a positive fact and a positive claim cannot both be true."""
    if fact.subject.number and claim.subject.number:
        plain = fact.subject._replace(number=claim.subject.number)
        return fact.subject != claim.subject == plain and fact.event == claim.event
    if fact.subject.name:
        return fact.subject == claim.subject and _events_exclude(fact.event, claim.event)
    related = (fact.every and _is(claim.subject, fact.subject)) or (claim.every and _is(fact.subject, claim.subject))
    # only states: events of different members do not exclude each other
    return related and fact.event.verb == "be" and _events_exclude(fact.event, claim.event)


def _events_exclude(first: Event, second: Event) -> bool:
    """The same moment, but an opposite quality, another town or another number."""
    if (first.verb, first.tense) != (second.verb, second.tense):
        return False
    if first.time != second.time and None not in (first.time, second.time):
        return False
    if first.adjective:
        return OPPOSITE.get(first.adjective) == second.adjective
    if first.location and second.location:
        return bool(first.location.name and second.location.name and first.location != second.location)
    if first.object and second.object and first.object.number and second.object.number:
        plain = [event._replace(object=event.object._replace(number=0)) for event in (first, second) if event.object]
        return plain[0] == plain[1] and first.object.number != second.object.number
    return False


def _is(narrower: Description, broader: Description) -> bool:
    """Whether everything that fits the first description fits the second."""
    if broader.name:
        return narrower.name == broader.name
    if broader.number:
        return narrower == broader
    noun = "person" if narrower.name else narrower.noun
    return is_a(noun, broader.noun) and broader.adjectives <= narrower.adjectives


def _event_is(narrower: Event, broader: Event) -> bool:
    a, b = narrower, broader
    if a.verb != b.verb and (a.verb == "be" or b.verb == "be" or not is_a(a.verb, b.verb)):
        return False
    if (a.tense, a.adjective) != (b.tense, b.adjective) or b.time not in (None, a.time):
        return False
    parts = ((a.object, b.object), (a.goal, b.goal), (a.location, b.location), (a.place, b.place))
    return all(second is None or (first is not None and _is(first, second)) for first, second in parts)


def _statement(clause: Clause) -> Statement:
    subject, predicate = clause.subject, clause.predicate
    event = Event(
        clause.verb,
        clause.tense,
        clause.object and _described(clause.object),
        clause.goal and _described(clause.goal),
        predicate if isinstance(predicate, str) else "",
        _described(predicate.phrase) if isinstance(predicate, Adjunct) else None,
        clause.place and _described(clause.place.phrase),
        clause.time and clause.time.phrase,
    )
    holds = not clause.negated and subject.determiner != "no"
    return Statement(subject.determiner == "every", holds, _described(subject), event)


def _described(phrase: Phrase) -> Description:
    if phrase.kind in ("PER", "LOC", "ORG"):
        return Description(name=phrase.head)
    return Description(phrase.head, "", frozenset(phrase.adjectives), phrase.number)
