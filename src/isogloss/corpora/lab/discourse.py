"""Running text: lines that continue about the same subject, paraphrase the last line, or ask and answer about it.

Real text has these relations (a dog barks, the animal is hungry). From them a model can learn hyponymy, exclusion, and
to look for the same entity in another sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from isogloss.corpora.lab.collocations import verbs_for
from isogloss.corpora.lab.concepts import ABOVE, OPPOSITE, VERB_TABLE
from isogloss.corpora.lab.meaning import Clause, Phrase
from isogloss.corpora.lab.questions import QUESTION_KINDS, answer_of, ask
from isogloss.corpora.lab.sampling import TENSES, Sampler

PARAPHRASE_PERCENT, CONTINUATION_PERCENT, QUESTION_PERCENT = 15, 30, 8  # of lines; all others have a new topic
NOT_UPWARD_MONOTONE = ("every", "no", "few", "how_many")  # what is true of every dog need not be true of every animal


def running_text(sampler: Sampler, enters: Callable[[Clause], bool]) -> Iterator[Clause]:
    """An infinite stream of meanings that satisfy `enters`."""
    last: Clause | None = None
    while True:
        for meaning in (_following_lines(last, sampler) if last else ()) or (sampler.sentence(),):
            if enters(meaning):
                yield meaning
                last = meaning


def _following_lines(last: Clause, sampler: Sampler) -> tuple[Clause, ...]:
    """One or two lines that follow a line; none if the next line has a new topic."""
    draw = sampler.chance.below(100) - PARAPHRASE_PERCENT
    if draw < 0:
        return paraphrase(last)
    if draw < CONTINUATION_PERCENT:
        return continuation(last, sampler)
    return question_and_answer(last, sampler) if draw < CONTINUATION_PERCENT + QUESTION_PERCENT else ()


def paraphrase(clause: Clause) -> tuple[Clause, ...]:
    """An entailed clause, with fewer and broader words or as the denial of the opposite; none if there is none.

    >>> baker, apple = Phrase("baker", determiner="a", adjectives=("old",)), Phrase("apple", determiner="a")
    >>> (clause,) = paraphrase(Clause("devour", baker, object=apple))
    >>> clause.subject.head, clause.verb, clause.object.head, clause.subject.adjectives
    ('worker', 'eat', 'fruit', ())
    """
    subject, broader_object = _broader(clause.subject), _broader(clause.object) if clause.object else None
    if not _is_asserted(clause) or subject is None or (clause.object and broader_object is None):
        return ()
    if isinstance(clause.predicate, str):
        opposite = OPPOSITE.get(clause.predicate)
        same_subject = subject._replace(head=clause.subject.head)
        return (Clause("be", same_subject, clause.tense, negated=True, predicate=opposite),) if opposite else ()
    if clause.verb == "be":
        return ()
    verb = VERB_TABLE[clause.verb].broader or clause.verb
    broader = Clause(verb, subject, clause.tense, object=broader_object, recipient=clause.recipient, goal=clause.goal)
    return () if _heads(broader) == _heads(clause) else (broader,)


def _is_asserted(clause: Clause) -> bool:
    """Not a question, negated, conditional, or the complement of a verb of knowing or saying."""
    supposed = clause.adverbial is not None and clause.adverbial[0] == "if"
    return not (clause.asks or clause.negated or clause.complement or supposed)


def _heads(clause: Clause) -> tuple[str, str, str]:
    return clause.verb, clause.subject.head, clause.object.head if clause.object else ""


def _broader(phrase: Phrase) -> Phrase | None:
    if phrase.kind in ("PER", "ORG", "LOC", "pronoun"):
        return phrase._replace(second="", conjunct=None)
    if phrase.kind != "noun" or phrase.determiner in NOT_UPWARD_MONOTONE:
        return None
    return Phrase(ABOVE[phrase.head] or phrase.head, plural=phrase.plural, determiner="the", number=phrase.number)


def continuation(last: Clause, sampler: Sampler) -> tuple[Clause, ...]:
    """Another clause about the last subject: with the same name, the same noun, or a hypernym."""
    if last.subject.kind not in ("PER", "noun"):
        return ()
    subject = _again(last.subject, sampler)
    fitting = verbs_for("person" if subject.kind == "PER" else subject.head, "subject", sampler.topic)
    if not fitting.items:
        return ()
    verb = fitting.draw(sampler.chance)
    return (sampler.sentence_with_verb(verb, sampler.chance.choose(TENSES))._replace(subject=subject),)


def _again(phrase: Phrase, sampler: Sampler) -> Phrase:
    if phrase.kind == "PER":
        return Phrase(phrase.head, "PER")
    above = ABOVE[phrase.head] if sampler.chance.below(2) else ""
    return Phrase(above or phrase.head, plural=phrase.plural, determiner="the")


def question_and_answer(last: Clause, sampler: Sampler) -> tuple[Clause, ...]:
    """A question about a part of the last line, and the line without its adjuncts as the answer."""
    if not _is_asserted(last) or last.verb == "be":
        return ()
    fact = last._replace(adverbial=None, conjunct=None, companion=None, manner="")
    kinds = [kind for kind in QUESTION_KINDS if answer_of(fact, kind)]
    question, _ = ask(fact, sampler.chance.choose(kinds))
    return question, fact
