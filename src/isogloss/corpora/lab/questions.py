"""Stories with questions: several events and a question about one of them, with the answer from the meaning.

The other events are distractors: the same action by other persons, other actions of the same person. The question
contains all other parts of its event, so that only one event fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from isogloss.corpora.lab.collocations import TOPIC_COUNT, collocates
from isogloss.corpora.lab.concepts import VERB_TABLE
from isogloss.corpora.lab.meaning import Adjunct, Clause, Phrase, concepts
from isogloss.corpora.lab.sampling import Sampler, question_phrase

QUESTION_KINDS = ("who", "what", "where", "when", "how_many", "whose")
SLOTS = ("subject", "object", "goal", "place", "time", "recipient")


class Story(NamedTuple):
    """Events in the order of the text; the question is about event number `about`.

    `path` is the address of the answer in that event: the prefix of the keys of its words (see `realise`).
    """

    events: tuple[Clause, ...]
    question: Clause
    about: int
    path: str
    kind: str


class StoryGenerator(Sampler):
    """Generates stories with balanced kinds of questions."""

    def stories(self) -> Iterator[Story]:
        for kind in self.chance.stream(QUESTION_KINDS):
            story = self.propose(kind)
            while not is_answerable(story):
                story = self.propose(kind)
            yield story

    def propose(self, kind: str) -> Story:
        chance = self.chance
        self.topic = chance.below(TOPIC_COUNT)
        tense = chance.choose(("past", "past", "future"))
        frame = chance.choose(("t", "m")) if kind == "where" else "t"
        verb = self.verb(frame)
        event = self._event(verb, tense, kind)
        same_deed = [self._event(verb, tense, kind) for _ in range(1 + chance.below(2))]
        other_deeds = [self._event(self.verb("t"), tense, kind) for _ in range(1 + chance.below(2))]
        same_person = [deed._replace(subject=event.subject) for deed in other_deeds]
        events = chance.shuffled([event, *same_deed, *same_person])
        question, path = ask(event, kind)
        return Story(tuple(events), question, events.index(event), path, kind)

    def _event(self, verb: str, tense: str, kind: str) -> Clause:
        """One event with the part that `kind` asks for, and random other parts."""
        chance = self.chance
        clause = Clause(verb, Phrase(self.name("given"), "PER"), tense)
        if VERB_TABLE[verb].frame == "m":
            clause = clause._replace(goal=Phrase(self.name("place"), "LOC"))
        else:
            clause = clause._replace(object=self._object(verb, kind))
            if kind == "where" or chance.below(3) == 0:
                clause = clause._replace(place=self.location())
        if kind == "when" or chance.below(3) == 0:
            clause = clause._replace(time=self.time(tense))
        return clause

    def _object(self, verb: str, kind: str) -> Phrase:
        chance = self.chance
        noun = self.collocate(verb, "object")
        if kind == "how_many" or chance.below(5) == 0:
            return Phrase(noun, plural=True, number=2 + chance.below(30))
        phrase = Phrase(noun, determiner=chance.choose(("a", "the")))
        fitting = collocates(noun, "adjective", self.topic)
        if fitting.items and chance.below(2):
            phrase = phrase._replace(adjectives=(fitting.draw(chance),))
        if kind == "whose" or (kind != "what" and chance.below(6) == 0):
            phrase = phrase._replace(owner=Phrase(self.name("given"), "PER"))
        return phrase


def ask(event: Clause, kind: str) -> tuple[Clause, str]:
    """The question for one part of an event, and the address of the answer."""
    if kind == "who":
        return event._replace(subject=question_phrase(event.subject), asks="S"), "s"
    if kind == "when":
        return event._replace(time=Adjunct("", Phrase("when", "question")), asks="T"), "t"
    if kind == "where":
        where = event._replace(goal=None, place=Adjunct("", Phrase("where", "question")), asks="P")
        return where, "g" if event.goal else "p"
    assert event.object is not None
    if kind == "what":
        return event._replace(object=Phrase("what", "question"), asks="O"), "o"
    if kind == "how_many":
        counted = event.object._replace(number=0, determiner="how_many")
        return event._replace(object=counted, asks="O"), "o:number"
    owned = event.object._replace(owner=Phrase("whose", "question"), determiner="")
    return event._replace(object=owned, asks="O"), "on"


def is_answerable(story: Story) -> bool:
    """One event fits the question; the answer occurs once, is not in the question, and has alternatives."""
    answers = [answer_of(event, story.kind) for event in story.events]
    fitting = [event for event in story.events if fits(event, story.question, story.kind)]
    gold = answers[story.about]
    is_unique = story.kind == "who" or answers.count(gold) == 1
    is_in_question = set(concepts((gold,))) & set(concepts(story.question))
    has_alternatives = any(answer not in (None, gold) for answer in answers)
    return len(fitting) == 1 and is_unique and has_alternatives and not is_in_question


def fits(event: Clause, question: Clause, kind: str) -> bool:
    """Whether the content of the question is true of the event.

    >>> ann, bo = Phrase("pana", "PER"), Phrase("lazir", "PER")
    >>> event = Clause("eat", ann, object=Phrase("apple", determiner="a"))
    >>> fits(event, ask(event, "what")[0], "what"), fits(event._replace(subject=bo), ask(event, "what")[0], "what")
    (True, False)
    """
    if answer_of(event, kind) is None:
        return False
    event_question, _ = ask(event, kind)
    parts = [(getattr(question, slot), getattr(event_question, slot)) for slot in SLOTS]
    return event_question.verb == question.verb and all(part in (None, event_part) for part, event_part in parts)


def answer_of(event: Clause, kind: str) -> object:
    """The part of the event that a kind of question asks for, or None."""
    if kind == "who":
        return event.subject
    if kind == "when":
        return event.time
    if kind == "where":
        return event.goal or (event.place and event.place.phrase)
    if event.object is None or kind == "what":
        return event.object
    return event.object.number or None if kind == "how_many" else event.object.owner
