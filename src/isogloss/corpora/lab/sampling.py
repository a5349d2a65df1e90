"""Random sampling of meanings."""

from __future__ import annotations

from collections.abc import Sequence

from isogloss.core.seeds import Chance
from isogloss.corpora.lab.collocations import TOPIC_COUNT, collocates, name_table, verbs, verbs_for
from isogloss.corpora.lab.concepts import ABOVE, VERB_TABLE, is_a
from isogloss.corpora.lab.meaning import Adjunct, Clause, Phrase, concepts
from isogloss.corpora.lab.vocabulary import DAYS, PLACE_RELATIONS, SEASONS, WHEN

FRAMES = ("i", "t", "d", "m", "c", "b", "adjective", "noun", "where")
FRAME_WEIGHTS = (18, 34, 11, 10, 4, 4, 9, 6, 4)
SIMPLE_FRAMES = FRAME_WEIGHTS[:4]  # without embedded clauses
MAX_CONCEPTS = 12  # about 25 words
TENSES = ("past", "past", "past", "present", "present", "future")
RELATIVE_TENSES = ("past", "past", "present")
PERSONAL = ("he", "she", "they", "we", "i", "you")


class Sampler:
    """Samples meanings one after another.

    `budget` limits the size of a sentence: every optional part uses some of it.
    """

    def __init__(self, chance: Chance, *, name_percent: int = 30, topic_length: int = 1):
        self.chance = chance
        self.name_percent = name_percent  # of persons and places with a proper name
        self.topic_length = topic_length  # sentences per topic, on average
        self.topic = chance.below(TOPIC_COUNT)
        self.budget = 0

    def collocate(self, owner: str, role: str) -> str:
        """A random filler of a role of a verb, or a modifier of a noun."""
        return collocates(owner, role, self.topic).draw(self.chance)

    def noun(self, kind: str) -> str:
        return self.collocate("", kind)

    def verb(self, frame: str) -> str:
        return verbs(frame, self.topic).draw(self.chance)

    def name(self, kind: str) -> str:
        return name_table(kind, self.topic).draw(self.chance)

    def sentence(self) -> Clause:
        """A meaning of bounded size: a statement or, rarely, a question."""
        while True:
            meaning = self._sentence()
            if len(concepts(meaning)) <= MAX_CONCEPTS:
                return meaning

    def _sentence(self) -> Clause:
        chance = self.chance
        if chance.below(self.topic_length) == 0:
            self.topic = chance.below(TOPIC_COUNT)
        self.budget = 3 + chance.below(9)
        if chance.below(100) < 4:
            return self.question()
        clause = self._lengthened(self.clause(FRAME_WEIGHTS))
        if self.budget >= 4 and chance.below(3):
            clause = clause._replace(conjunct=(chance.choose(("and", "and", "but")), self.clause(SIMPLE_FRAMES)))
        return clause

    def sentence_with_verb(self, verb: str, tense: str) -> Clause:
        """A sentence of one clause with the given verb."""
        self.budget = 3 + self.chance.below(5)
        frame = VERB_TABLE[verb].frame
        clause = self._doing(verb, frame, tense, self.chance.below(100) < 14)
        return self._lengthened(self._adjuncts(clause, frame))

    def _lengthened(self, clause: Clause) -> Clause:
        short = clause.verb == "be" or VERB_TABLE[clause.verb].frame == "i"
        return clause._replace(time=self.time(clause.tense)) if short and clause.time is None else clause

    def clause(self, frames: Sequence[int]) -> Clause:
        """A clause of a random frame, with adjuncts within the budget."""
        chance = self.chance
        frame = chance.choose_weighted(FRAMES[: len(frames)], frames)
        tense = chance.choose(TENSES)
        negated = chance.below(100) < 14
        if frame in ("adjective", "noun", "where"):
            clause = self._being(frame, tense, negated)
        else:
            clause = self._doing(self.verb(frame), frame, tense, negated)
        return self._adjuncts(clause, frame)

    def question(self) -> Clause:
        """A question about one part of a clause."""
        chance = self.chance
        asks = chance.choose("SOPT")
        frame = "t" if asks == "O" else chance.choose(("i", "t"))
        clause = self._doing(self.verb(frame), frame, chance.choose(TENSES), False)
        if asks == "S":
            place = self.location() if frame == "i" else None
            return clause._replace(asks="S", subject=question_phrase(clause.subject), place=place)
        if clause.object and asks == "O":
            return clause._replace(asks="O", object=self._asked_object(clause.object))
        if asks == "P":
            return clause._replace(asks="P", place=Adjunct("", Phrase("where", "question")))
        return clause._replace(asks="T", time=Adjunct("", Phrase("when", "question")))

    def _asked_object(self, phrase: Phrase) -> Phrase:
        """A question phrase: what, how many, or whose."""
        draw = self.chance.below(3)
        if phrase.kind != "noun" or draw == 0:
            return question_phrase(phrase)
        if draw == 1:
            return Phrase(phrase.head, plural=True, determiner="how_many", adjectives=phrase.adjectives)
        return Phrase(phrase.head, adjectives=phrase.adjectives, owner=Phrase("whose", "question"))

    def _being(self, frame: str, tense: str, negated: bool) -> Clause:
        chance = self.chance
        if frame == "adjective":
            noun = self.noun(chance.choose(("person", "animal", "thing", "place")))
            subject = self.noun_phrase(noun)
            return Clause("be", subject, tense, negated, predicate=self.collocate(noun, "adjective"))
        if frame == "where":
            noun = self.noun(chance.choose(("person", "thing", "animal")))
            return Clause("be", self.noun_phrase(noun), tense, negated, predicate=self.location())
        subject = self.person()
        kind = chance.choose(("worker", "leader", "soldier", "relative", "artist"))
        predicate = self.noun_phrase(self.noun(kind), determiner="a", plural=subject.plural)
        return Clause("be", subject, tense, negated, predicate=predicate)

    def _doing(self, verb: str, frame: str, tense: str, negated: bool) -> Clause:
        subject = self.filler(self.collocate(verb, "subject"), subject=True)
        clause = Clause(verb, subject, tense, negated)
        if frame in "td":
            clause = clause._replace(object=self.filler(self.collocate(verb, "object")))
        if frame == "d":
            clause = clause._replace(recipient=self.person())
        elif frame == "m":
            clause = clause._replace(goal=self.place())
        elif frame in "cb":
            clause = clause._replace(complement=self.clause(SIMPLE_FRAMES))
        return clause

    def _adjuncts(self, clause: Clause, frame: str) -> Clause:
        chance = self.chance
        if self._includes(40, 1):
            clause = clause._replace(time=self.time(clause.tense))
        if frame in "itd" and self._includes(35, 2):
            clause = clause._replace(place=self.location())
        if clause.verb != "be" and self._includes(22, 1):
            clause = clause._replace(manner=self.collocate(clause.verb, "manner"))
        if frame in "itm" and self._includes(14, 2):
            relation = chance.choose(("with", "with", "for"))
            clause = clause._replace(companion=Adjunct(relation, self.person()))
        if self._includes(22, 4):
            marker = chance.choose(("because", "while", "if", "although"))
            clause = clause._replace(adverbial=(marker, self.clause(SIMPLE_FRAMES)))
        return clause

    def _includes(self, percent: int, room: int) -> bool:
        """Whether to include an optional part; if so, its cost is subtracted from the budget."""
        if self.budget < room or self.chance.below(100) >= percent:
            return False
        self.budget -= room
        return True

    def filler(self, noun: str, subject: bool = False) -> Phrase:
        """A phrase with the noun, or a person or place by name instead."""
        if is_a(noun, "person"):
            return self.person(noun, subject)
        if is_a(noun, "place") and self.chance.below(100) < self.name_percent:
            return Phrase(self.name("place"), "LOC")
        return self.noun_phrase(noun)

    def person(self, noun: str = "", subject: bool = False) -> Phrase:
        """A person: by name, by pronoun, by organisation or by a noun."""
        chance = self.chance
        draw = chance.below(100)
        if draw < self.name_percent:
            surname = self.name("surname") if self._includes(40, 1) else ""
            return self._joined(Phrase(self.name("given"), "PER", second=surname))
        if draw < self.name_percent + 12:
            return self.organisation()
        if subject and draw < self.name_percent + 24:
            pronoun = chance.choose(PERSONAL)
            return Phrase(pronoun, "pronoun", plural=pronoun in ("they", "we"))
        return self.noun_phrase(noun or self.noun("person"))

    def organisation(self) -> Phrase:
        kind = self.noun("institution") if self._includes(60, 1) else ""
        return Phrase(self.name("organisation"), "ORG", second=kind)

    def place(self) -> Phrase:
        if self.chance.below(100) < self.name_percent + 10:
            return Phrase(self.name("place"), "LOC")
        return self.noun_phrase(self.noun("place"))

    def location(self) -> Adjunct:
        place = self.place()
        return Adjunct("in" if place.kind == "LOC" else self.chance.choose(PLACE_RELATIONS), place)

    def time(self, tense: str) -> Adjunct:
        chance = self.chance
        draw = chance.below(10)
        if draw < 4:
            return Adjunct("", Phrase(chance.choose(WHEN[tense]), "adverb"))
        if draw < 6:
            return Adjunct("on", Phrase(chance.choose(DAYS)))
        if draw < 8 or tense == "present":
            return Adjunct("in", Phrase(chance.choose(SEASONS)))
        return Adjunct("in", Phrase(str((1900 if tense == "past" else 2030) + chance.below(120)), "year"))

    def noun_phrase(self, noun: str, *, determiner: str = "", plural: bool | None = None) -> Phrase:
        """A noun with determiner, adjectives, owner, modifier, relative clause and conjunct within the budget."""
        chance = self.chance
        if plural is None:
            plural = chance.below(100) < 30
        number = 0
        if not determiner:
            determiner, number = self._quantity(plural)
            plural = (plural and determiner not in ("every", "this")) or number > 0 or determiner in ("many", "few")
        phrase = Phrase(noun, "noun", plural, determiner, number)
        fitting = collocates(noun, "adjective", self.topic)
        if fitting.items and self._includes(38, 1):
            first, second = fitting.draw(chance), fitting.draw(chance)
            has_two = first != second and self._includes(15, 1)
            phrase = phrase._replace(adjectives=(first, second) if has_two else (first,))
        if self.budget < 2:
            return phrase
        draw = chance.below(100)
        if draw < 15:
            self.budget -= 2
            return phrase._replace(owner=self.person()) if draw < 9 else phrase._replace(modifier=self.location())
        if draw < 24 and self.budget >= 3:
            self.budget -= 3
            return phrase._replace(relative=self.relative(noun, plural))
        return self._joined(phrase)

    def relative(self, noun: str, plural: bool) -> Clause | None:
        """A relative clause with the noun as subject or object, if there is a verb for it."""
        chance = self.chance
        role = chance.choose(("subject", "subject", "object"))
        fitting = verbs_for(noun, role, self.topic)
        if not fitting.items:
            return None
        verb = fitting.draw(chance)
        clause = Clause(verb, Phrase(noun, "gap", plural), chance.choose(RELATIVE_TENSES), chance.below(100) < 10)
        if role == "object":
            subject = self.filler(self.collocate(verb, "subject"), subject=True)
            return clause._replace(subject=subject, object=clause.subject)
        if VERB_TABLE[verb].frame == "i":
            return clause._replace(place=self.location())
        return clause._replace(object=self.filler(self.collocate(verb, "object")))

    def _quantity(self, plural: bool) -> tuple[str, int]:
        draw = self.chance.below(100)
        if draw < 48:
            return "the", 0
        if draw < 74:
            return "a", 0
        if draw < 86:
            return "", (2 + self.chance.below(11) if draw < 82 else 13 + self.chance.below(187))
        return ("every", "some", "many", "few", "this", "no")[(draw - 86) % 6], 0

    def _joined(self, phrase: Phrase) -> Phrase:
        if not self._includes(10, 2):
            return phrase
        if phrase.kind == "PER":
            conjunct = Phrase(self.name("given"), "PER")
        else:
            sibling = self.noun(ABOVE[phrase.head] or phrase.head)
            conjunct = Phrase(sibling, "noun", phrase.plural, "the" if phrase.determiner == "the" else "a")
        return phrase._replace(conjunct=conjunct) if conjunct.head != phrase.head else phrase


def question_phrase(phrase: Phrase) -> Phrase:
    """`who` or `what` in place of a phrase."""
    somebody = phrase.kind in ("PER", "pronoun") or (phrase.kind == "noun" and is_a(phrase.head, "person"))
    return Phrase("who" if somebody else "what", "question")
