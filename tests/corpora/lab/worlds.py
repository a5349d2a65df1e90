"""Small worlds in which a clause is true or false: a second, slow semantics to check the first against.

A world is a few individuals and a list of happenings. Truth is evaluated on the meanings themselves, by looking
at every individual; nothing here compares two sentences.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from isogloss.core.seeds import Chance
from isogloss.corpora.lab.concepts import OPPOSITE, VERB_TABLE, is_a
from isogloss.corpora.lab.meaning import Adjunct, Clause, Phrase


@dataclass(frozen=True)
class Thing:
    number: int
    noun: str
    name: str = ""
    adjectives: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Happening:
    who: Thing
    verb: str
    tense: str
    what: Thing | None = None
    goal: str = ""
    quality: str = ""
    location: str = ""
    place: str = ""
    time: Phrase | None = None


@dataclass
class World:
    things: list[Thing] = field(default_factory=list)
    happenings: list[Happening] = field(default_factory=list)

    def is_possible(self) -> bool:
        """Nobody has opposite qualities, or is in two towns, at one moment."""
        states = [h for h in self.happenings if h.verb == "be"]
        for one in states:
            for other in states:
                same = one.who == other.who and one.tense == other.tense
                if not same or (one.time != other.time and None not in (one.time, other.time)):
                    continue
                if one.quality and OPPOSITE[one.quality] == other.quality:
                    return False
                if one.location and other.location and one.location != other.location:
                    return False
        return True


def fits(thing: Thing, phrase: Phrase) -> bool:
    if phrase.kind == "PER":
        return thing.name == phrase.head
    return is_a(thing.noun, phrase.head) and set(phrase.adjectives) <= thing.adjectives


def happens(happening: Happening, clause: Clause) -> bool:
    """Whether a happening is one the clause tells of, apart from who does it to what."""
    verb = clause.verb == happening.verb or (
        "be" not in (clause.verb, happening.verb) and is_a(happening.verb, clause.verb)
    )
    predicate = clause.predicate
    return (
        verb
        and happening.tense == clause.tense
        and (clause.goal is None or happening.goal == clause.goal.head)
        and (not isinstance(predicate, str) or happening.quality == predicate)
        and (not isinstance(predicate, Adjunct) or happening.location == predicate.phrase.head)
        and (clause.place is None or happening.place == clause.place.phrase.head)
        and (clause.time is None or happening.time == clause.time.phrase)
    )


def tells_of(clause: Clause, happening: Happening) -> bool:
    what = happening.what
    return happens(happening, clause) and (not clause.object or (what is not None and fits(what, clause.object)))


def takes_part(world: World, who: Thing, clause: Clause) -> bool:
    found = [h for h in world.happenings if h.who == who and happens(h, clause)]
    if clause.object is None:
        return bool(found)
    things = {h.what for h in found if h.what is not None and fits(h.what, clause.object)}
    return len(things) == clause.object.number if clause.object.number else bool(things)


def is_true(world: World, clause: Clause) -> bool:
    who = [thing for thing in world.things if fits(thing, clause.subject)]
    taking = sum(takes_part(world, thing, clause) for thing in who)
    if clause.subject.kind == "PER":
        return (taking > 0) != clause.negated
    if clause.subject.number:
        return taking == clause.subject.number
    return {"a": taking > 0, "some": taking > 0, "every": taking == len(who) > 0, "no": taking == 0}[
        clause.subject.determiner
    ]


def told(clause: Clause) -> list[Clause]:
    """The clauses a premise asserts, flat."""
    parts = []
    if clause.complement is None:
        parts.append(clause._replace(adverbial=None, conjunct=None))
    elif VERB_TABLE[clause.verb].frame == "c":
        parts += told(clause.complement)
    for joined in (clause.adverbial, clause.conjunct):
        if joined:
            parts += told(joined[1])
    return parts


def add(world: World, clause: Clause, who: Thing, chance: Chance) -> None:
    """Let it happen, in one of the ways the clause leaves open."""
    predicate, phrase = clause.predicate, clause.object
    verbs = [v for v in VERB_TABLE if is_a(v, clause.verb)] if clause.verb != "be" else ["be"]
    for _ in range((phrase.number if phrase else 0) or 1):
        world.happenings.append(
            Happening(
                *(who, chance.choose(verbs) if not phrase or not phrase.number else clause.verb, clause.tense),
                found_or_new(world, phrase, chance, clause.subject.determiner == "every") if phrase else None,
                clause.goal.head if clause.goal else "",
                predicate if isinstance(predicate, str) else "",
                predicate.phrase.head if isinstance(predicate, Adjunct) else "",
                clause.place.phrase.head if clause.place else chance.choose(("", "elsewhere")),
                clause.time.phrase if clause.time else None,
            )
        )


def found_or_new(world: World, phrase: Phrase, chance: Chance, every: bool) -> Thing:
    """Something that fits, already there or new; if every person sees an uncle, no new uncle helps."""
    known = [thing for thing in world.things if fits(thing, phrase)]
    return (
        chance.choose(known) if known and not phrase.number and (every or chance.below(2)) else new_thing(world, phrase)
    )


def new_thing(world: World, phrase: Phrase) -> Thing:
    is_name = phrase.kind == "PER"
    thing = Thing(
        len(world.things),
        "person" if is_name else phrase.head,
        phrase.head if is_name else "",
        frozenset(phrase.adjectives),
    )
    world.things.append(thing)
    return thing


def make_true(world: World, clause: Clause, chance: Chance) -> None:
    """Change the world as little as needed (the caller checks that it worked)."""
    subject = clause.subject
    who = [thing for thing in world.things if fits(thing, subject)]
    if clause.negated or subject.determiner == "no":
        world.happenings = [h for h in world.happenings if not (h.who in who and tells_of(clause, h))]
    elif subject.determiner == "every":
        for _ in range(2):  # what was new the first time takes part the second
            for thing in [thing for thing in world.things if fits(thing, subject)] or [new_thing(world, subject)]:
                if not takes_part(world, thing, clause):
                    add(world, clause, thing, chance)
    else:
        wanted = subject.number or 1
        taking = [thing for thing in who if takes_part(world, thing, clause)]
        for thing in taking[wanted:] if subject.number else []:
            world.happenings = [h for h in world.happenings if h.who != thing]
        for _ in range(wanted - len(taking)):
            is_known = subject.kind == "PER" and who
            add(world, clause, who[0] if is_known else new_thing(world, subject), chance)


def opposite_of(clause: Clause) -> Clause | None:
    """A clause that is false where the given one is true, if there is a simple one."""
    subject = clause.subject
    if subject.kind == "PER":
        return clause._replace(negated=not clause.negated)
    other = {"a": "no", "some": "no", "no": "a"}.get(subject.determiner)
    return clause._replace(subject=subject._replace(determiner=other)) if other else None


def verdicts(premise: Clause, hypothesis: Clause, chance: Chance, tries: int = 24) -> set[bool]:
    """Whether the hypothesis is true in worlds where the premise is: {True}, {False} or both."""
    facts = told(premise)
    named = [clause.subject for clause in (*facts, hypothesis) if clause.subject.kind == "PER"]
    described = [clause.subject for clause in (*facts, hypothesis) if clause.subject.kind == "noun"]
    seen = set()
    for attempt in range(tries):
        world = World()
        for phrase in dict.fromkeys(named):
            new_thing(world, phrase)
        for phrase in described:  # classes are never empty
            new_thing(world, phrase)
        first = hypothesis if attempt % 3 == 0 else opposite_of(hypothesis) if attempt % 3 == 1 else None
        for clause in (*([first] if first else []), *chance.shuffled(facts), *facts):
            if not is_true(world, clause):
                make_true(world, clause, chance)
        if world.is_possible() and all(is_true(world, fact) for fact in facts):
            seen.add(is_true(world, hypothesis))
    return seen
