"""Generation of inference pairs: a premise, and a hypothesis derived from it by operations on the meaning.

Operations weaken or strengthen a statement, deny it, replace a quality by its opposite, or change the participants.
They are chosen so that denials, numbers, names and class nouns occur with every label. A pair is accepted only if
`inference.decide`, which is independent of the operations, gives the same label.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from isogloss.corpora.kinds.nli import LABELS
from isogloss.corpora.lab.collocations import TOPIC_COUNT, collocates
from isogloss.corpora.lab.concepts import ABOVE, NOUN_LIST, OPPOSITE, VERB_TABLE, is_a
from isogloss.corpora.lab.inference import decide
from isogloss.corpora.lab.meaning import Adjunct, Clause, Phrase
from isogloss.corpora.lab.sampling import TENSES, Sampler

PLAIN_PREMISE_PERCENT = 90  # of premises, which consist of the fact only
CLAIMED_PERCENT = 5  # of neutral pairs, in which the fact is only reported
CIRCUMSTANCE_PERCENT = 75  # of changes, which add or drop a time or a place; all others use the taxonomy
DENIED_HYPOTHESIS_PERCENT = 20  # of hypotheses with every label
NEGATED_FACT_PERCENT = 35  # of facts about persons


class MeaningPair(NamedTuple):
    """Premise and hypothesis as meanings."""

    premise: Clause
    hypothesis: Clause
    label: str


class PairGenerator(Sampler):
    """Generates inference pairs with balanced labels."""

    def pairs(self) -> Iterator[MeaningPair]:
        for label in self.chance.stream(LABELS):
            denied = self.chance.below(100) < DENIED_HYPOTHESIS_PERCENT
            pair = self.propose(label)
            while pair is None or _denies(pair.hypothesis) != denied or decide(pair.premise, pair.hypothesis) != label:
                pair = self.propose(label)
            yield pair

    def propose(self, label: str) -> MeaningPair | None:
        """A pair that should have the label, or None if an operation does not apply."""
        chance = self.chance
        self.topic = chance.below(TOPIC_COUNT)
        fact = self.statement()
        claimed = label == "neutral" and chance.below(100) < CLAIMED_PERCENT
        hypothesis = self._hypothesis(fact, chance.choose(LABELS) if claimed else label)
        if hypothesis is None:
            return None
        return MeaningPair(self._premise(fact, claimed), hypothesis, label)

    def _hypothesis(self, fact: Clause, label: str) -> Clause | None:
        draw = self.chance.below(100)
        if label == "entailment":
            return self._denied(self._opposed(fact)) if draw < 20 else self._weakened(fact)
        if label == "contradiction":
            return self._opposed(fact) if draw < 40 else self._denied(self._weakened(fact))
        changed = self._strengthened(fact) if draw < 50 else self._changed(self._weakened(fact) or fact)
        return self._denied(changed) if self.chance.below(100) < 35 else changed

    def statement(self) -> Clause:
        """A simple statement about a named person, or about some, every, no or a number of a class."""
        chance = self.chance
        frame = chance.choose(("i", "t", "t", "t", "m", "adjective", "adjective", "where"))
        tense = chance.choose(TENSES)
        if frame == "adjective":
            noun = self.noun("person")
            clause = Clause("be", self._subject(noun), tense, predicate=self._quality(noun))
            clause = clause._replace(subject=clause.subject._replace(adjectives=()))
        elif frame == "where":
            clause = Clause("be", self._subject(self.noun("being")), tense, predicate=self._town())
        else:
            verb = self.verb(frame)
            clause = Clause(verb, self._subject(self.collocate(verb, "subject")), tense)
            if frame == "t":
                clause = clause._replace(object=self._object_phrase(self.collocate(verb, "object")))
            elif frame == "m":
                clause = clause._replace(goal=self._town().phrase)
            if frame != "m" and chance.below(3) == 0:
                clause = clause._replace(place=self._town())
        if chance.below(3) == 0:
            clause = clause._replace(time=self.time(tense))
        if _is_counted(clause) and clause.subject.determiner == "no":
            return clause._replace(subject=clause.subject._replace(determiner="a"))
        deny = clause.subject.kind == "PER" and not _is_counted(clause) and chance.below(100) < NEGATED_FACT_PERCENT
        return clause._replace(negated=deny)

    def _subject(self, noun: str) -> Phrase:
        chance = self.chance
        draw = chance.below(100)
        if is_a(noun, "person") and draw < 55:
            return Phrase(self.name("given"), "PER")
        if draw < 70:
            return self._with_adjective(Phrase(noun, determiner="a"))
        if draw < 80:
            return Phrase(noun, plural=True, number=2 + chance.below(11))
        return Phrase(noun, determiner="every" if draw < 88 else "no")

    def _object_phrase(self, noun: str) -> Phrase:
        if self.chance.below(100) < 25:
            return Phrase(noun, plural=True, number=2 + self.chance.below(11))
        return self._with_adjective(Phrase(noun, determiner="a"))

    def _with_adjective(self, phrase: Phrase) -> Phrase:
        fitting = collocates(phrase.head, "adjective", self.topic)
        if not fitting.items or self.chance.below(2):
            return phrase
        return phrase._replace(adjectives=(fitting.draw(self.chance),))

    def _town(self) -> Adjunct:
        return Adjunct("in", Phrase(self.name("place"), "LOC"))

    def _quality(self, noun: str) -> str:
        """A quality of a noun, with an opposite."""
        return self.chance.choose([a for a in collocates(noun, "adjective", self.topic).items if a in OPPOSITE])

    def _premise(self, fact: Clause, claimed: bool) -> Clause:
        """The fact, possibly in a longer sentence; if `claimed`, only reported or believed by somebody."""
        chance = self.chance
        draw = chance.below(100)
        if claimed:
            return self._reported(fact, "b")
        if draw < PLAIN_PREMISE_PERCENT:
            return fact
        way = chance.below(100)
        if way < 25:
            return self._reported(fact, "c")
        other_fact = self.statement()._replace(subject=self._other_name(fact))
        if way < 50:
            return self._reported(other_fact, "b")._replace(conjunct=("and", fact))
        if way < 80:
            return other_fact._replace(conjunct=(chance.choose(("and", "but")), fact))
        return other_fact._replace(adverbial=(chance.choose(("because", "while", "although")), fact))

    def _reported(self, fact: Clause, frame: str) -> Clause:
        verb, reporter = self.verb(frame), self._other_name(fact)
        return Clause(verb, reporter, self.chance.choose(("past", "present")), complement=fact)

    def _other_name(self, fact: Clause) -> Phrase:
        while True:
            name = Phrase(self.name("given"), "PER")
            if name.head != fact.subject.head:
                return name

    def _weakened(self, fact: Clause) -> Clause | None:
        """An entailed statement: a step up the taxonomy, or down in a denial."""
        if _is_counted(fact):  # exact numbers are not preserved by other changes
            return fact if self.chance.below(2) else _uncounted(fact)
        up = not _denies(fact)
        return self._moved(fact, subject_up=up and fact.subject.determiner != "every", event_up=up)

    def _strengthened(self, fact: Clause) -> Clause | None:
        """A compatible statement that is not entailed."""
        up = _denies(fact)
        return self._moved(fact, subject_up=up or fact.subject.determiner == "every", event_up=up)

    def _moved(self, fact: Clause, *, subject_up: bool, event_up: bool) -> Clause | None:
        """The statement with one part made broader or narrower."""
        if self.chance.below(100) < CIRCUMSTANCE_PERCENT:
            return self._circumstance(fact, event_up)
        steps = (self._subject_moved, self._object_moved, self._verb_moved, self._circumstance)
        step = self.chance.choose(steps)
        return step(fact, subject_up if step == self._subject_moved else event_up)

    def _subject_moved(self, fact: Clause, up: bool) -> Clause | None:
        moved = self._broader(fact.subject) if up else self._narrower(fact.subject)
        if moved is None or (moved.adjectives and isinstance(fact.predicate, str)):
            return None  # no big dog is small
        if fact.negated and moved.kind == "noun":  # Ann does not sing: no person sings
            return fact._replace(subject=moved._replace(determiner="no"), negated=False)
        return fact._replace(subject=moved)

    def _object_moved(self, fact: Clause, up: bool) -> Clause | None:
        if fact.object is None:
            return None
        moved = self._broader(fact.object) if up else self._narrower(fact.object)
        return fact._replace(object=moved) if moved else None

    def _broader(self, phrase: Phrase) -> Phrase | None:
        if phrase.kind == "PER":
            return Phrase("person", determiner="a")
        if phrase.kind != "noun" or phrase.number:
            return None
        if phrase.adjectives and self.chance.below(2):
            return phrase._replace(adjectives=())
        broader = ABOVE[phrase.head]
        return phrase._replace(head=broader) if broader else None

    def _narrower(self, phrase: Phrase) -> Phrase | None:
        if phrase.kind != "noun":
            return None
        below = [noun for noun in NOUN_LIST if ABOVE[noun] == phrase.head]
        if below and self.chance.below(2):
            return phrase._replace(head=self.chance.choose(below))
        fitting = collocates(phrase.head, "adjective", self.topic)
        if phrase.adjectives or not fitting.items:
            return None
        return phrase._replace(adjectives=(fitting.draw(self.chance),))

    def _verb_moved(self, fact: Clause, up: bool) -> Clause | None:
        if fact.verb == "be":
            return None
        if up:
            broader = VERB_TABLE[fact.verb].broader
            return fact._replace(verb=broader) if broader else None
        narrower = [verb.name for verb in VERB_TABLE.values() if verb.broader == fact.verb]
        return fact._replace(verb=self.chance.choose(narrower)) if narrower else None

    def _circumstance(self, fact: Clause, up: bool) -> Clause | None:
        """The statement without its place and time, or with a new one."""
        if up:
            return fact._replace(place=None, time=None) if fact.place or fact.time else None
        if fact.time is None:
            return fact._replace(time=self.time(fact.tense))
        return fact._replace(place=self._town()) if fact.place is None and fact.predicate is None else None

    def _denied(self, fact: Clause | None) -> Clause | None:
        """The denial of a statement; the statement of a denial."""
        if fact is None or _is_counted(fact):
            return None
        if fact.subject.kind == "PER":
            return fact._replace(negated=not fact.negated)
        determiner = {"a": "no", "some": "no", "every": "no", "no": "a"}[fact.subject.determiner]
        return fact._replace(subject=fact.subject._replace(determiner=determiner, plural=False))

    def _opposed(self, fact: Clause) -> Clause | None:
        """The opposite quality, another town, or another number."""
        if _denies(fact):
            return None
        if fact.subject.number:
            return fact._replace(subject=self._recounted(fact.subject))
        if fact.subject.kind != "PER" and fact.subject.determiner != "every":
            return None  # one dog may be big and another small
        if isinstance(fact.predicate, str):
            return fact._replace(predicate=OPPOSITE[fact.predicate])
        if isinstance(fact.predicate, Adjunct):
            return fact._replace(predicate=self._town())
        if fact.subject.kind == "PER" and fact.object is not None and fact.object.number:
            return fact._replace(object=self._recounted(fact.object))
        return None

    def _recounted(self, phrase: Phrase) -> Phrase:
        return phrase._replace(number=2 + (phrase.number - 1 + self.chance.below(10)) % 11)

    def _changed(self, fact: Clause) -> Clause | None:
        """Another subject, object or quality."""
        if fact.subject.kind == "PER":
            return fact._replace(subject=self._other_name(fact))
        if fact.object is not None and not fact.object.number:
            noun = self.collocate(fact.verb, "object")
            return fact._replace(object=fact.object._replace(head=noun, adjectives=()))
        if isinstance(fact.predicate, str):
            return fact._replace(predicate=self._quality("person"))
        return None


def _denies(clause: Clause) -> bool:
    return clause.negated or clause.subject.determiner == "no"


def _is_counted(clause: Clause) -> bool:
    return bool(clause.subject.number or (clause.object is not None and clause.object.number))


def _uncounted(clause: Clause) -> Clause:
    """`some` in place of numbers."""
    if clause.subject.number:
        clause = clause._replace(subject=clause.subject._replace(number=0, determiner="some"))
    if clause.object is not None and clause.object.number:
        clause = clause._replace(object=clause.object._replace(number=0, determiner="some"))
    return clause
