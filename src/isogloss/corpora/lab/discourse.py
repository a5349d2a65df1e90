"""Running text: lines that go on about somebody, tell the last one again in other words, or ask about it and answer.

Real text does all of it (a dog barks, the animal is hungry), and only so can a model learn from raw text what is a kind
of what, what excludes what, and to look for the same thing in another sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from isogloss.corpora.lab.company import verbs_for
from isogloss.corpora.lab.concepts import ABOVE, OPPOSITE, VERB_TABLE
from isogloss.corpora.lab.meaning import Clause, Phrase
from isogloss.corpora.lab.questions import KINDS, answer_of, ask
from isogloss.corpora.lab.sampling import TENSES, Sampler

RETOLD, GOING_ON, ASKED = 15, 30, 8  # per cent of lines; the others are about something new
UNBROADENED = ("every", "no", "few", "how_many")  # of every dog it does not follow that it is so of every animal


def running_text(sampler: Sampler, enters: Callable[[Clause], bool]) -> Iterator[Clause]:
    """Meanings without end, of those that `enters` lets in."""
    last: Clause | None = None
    while True:
        for meaning in (_next_to(last, sampler) if last else ()) or (sampler.sentence(),):
            if enters(meaning):
                yield meaning
                last = meaning


def _next_to(last: Clause, sampler: Sampler) -> tuple[Clause, ...]:
    """The one or two lines that may follow a line; none where the next is about something new."""
    draw = sampler.chance.below(100)
    if draw < RETOLD:
        return retold(last)
    if draw < RETOLD + GOING_ON:
        return going_on(last, sampler)
    return asked_and_answered(last, sampler) if draw < RETOLD + GOING_ON + ASKED else ()


def retold(clause: Clause) -> tuple[Clause, ...]:
    """Something that follows, in fewer and broader words or by the denial of its opposite; none where nothing does.

    >>> baker, apple = Phrase("baker", determiner="a", adjectives=("old",)), Phrase("apple", determiner="a")
    >>> (told,) = retold(Clause("devour", baker, object=apple))
    >>> told.subject.head, told.verb, told.object.head, told.subject.adjectives
    ('worker', 'eat', 'fruit', ())
    """
    subject, thing = _broader(clause.subject), _broader(clause.object) if clause.object else None
    if not _plainly_told(clause) or subject is None or (clause.object and thing is None):
        return ()
    if isinstance(clause.predicate, str):
        other = OPPOSITE.get(clause.predicate)
        same_one = subject._replace(head=clause.subject.head)
        return (Clause("be", same_one, clause.tense, negated=True, predicate=other),) if other else ()
    if clause.verb == "be":
        return ()
    verb = VERB_TABLE[clause.verb].broader or clause.verb
    told = Clause(verb, subject, clause.tense, object=thing, recipient=clause.recipient, goal=clause.goal)
    return () if _heads(told) == _heads(clause) else (told,)


def _plainly_told(clause: Clause) -> bool:
    """Not asked, denied, supposed, or told as what somebody knows or says."""
    supposed = clause.adverbial is not None and clause.adverbial[0] == "if"
    return not (clause.asks or clause.negated or clause.complement or supposed)


def _heads(clause: Clause) -> tuple[str, str, str]:
    return clause.verb, clause.subject.head, clause.object.head if clause.object else ""


def _broader(phrase: Phrase) -> Phrase | None:
    if phrase.kind in ("PER", "ORG", "LOC", "pronoun"):
        return phrase._replace(second="", conjunct=None)
    if phrase.kind != "noun" or phrase.determiner in UNBROADENED:
        return None
    return Phrase(ABOVE[phrase.head] or phrase.head, plural=phrase.plural, determiner="the", number=phrase.number)


def going_on(last: Clause, sampler: Sampler) -> tuple[Clause, ...]:
    """Something else about the last line's subject: by the same name, by the same noun, or by one above it."""
    if last.subject.kind not in ("PER", "noun"):
        return ()
    who = _again(last.subject, sampler)
    fitting = verbs_for("person" if who.kind == "PER" else who.head, "subject", sampler.topic)
    if not fitting.items:
        return ()
    verb = fitting.draw(sampler.chance)
    return (sampler.telling(verb, sampler.chance.choose(TENSES))._replace(subject=who),)


def _again(phrase: Phrase, sampler: Sampler) -> Phrase:
    if phrase.kind == "PER":
        return Phrase(phrase.head, "PER")
    above = ABOVE[phrase.head] if sampler.chance.below(2) else ""
    return Phrase(above or phrase.head, plural=phrase.plural, determiner="the")


def asked_and_answered(last: Clause, sampler: Sampler) -> tuple[Clause, ...]:
    """A question about a part of the last line, and the line again, without what hangs on it, as the answer."""
    if not _plainly_told(last) or last.verb == "be":
        return ()
    fact = last._replace(adverbial=None, conjunct=None, companion=None, manner="")
    kinds = [kind for kind in KINDS if answer_of(fact, kind)]
    question, _ = ask(fact, sampler.chance.choose(kinds))
    return question, fact
