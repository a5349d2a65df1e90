"""Running text: what is told again follows, what is asked is answered, who is spoken of stays the same."""

from __future__ import annotations

from itertools import islice, pairwise

from isogloss.core.seeds import Chance
from isogloss.corpora.lab.discourse import continuation, paraphrase, question_and_answer, running_text
from isogloss.corpora.lab.inference import decide
from isogloss.corpora.lab.meaning import Clause, Phrase
from isogloss.corpora.lab.questions import fits
from isogloss.corpora.lab.sampling import Sampler


def lines(number: int, seed: int = 3) -> list[Clause]:
    sampler = Sampler(Chance(seed, "discourse"), topic_length=8)
    return list(islice(running_text(sampler, lambda _: True), number))


def simple(clause: Clause) -> bool:
    """What the laboratory's logic knows: a statement about a name or some of a kind; qualities, of names only."""
    parts = [clause.subject, clause.object] if clause.object else [clause.subject]
    if isinstance(clause.predicate, str) and clause.subject.kind != "PER":
        return False  # the logic reads "the judge" as "some judge"
    hard = ("every", "no", "few", "many", "this")
    return all(
        part.kind in ("PER", "noun") and part.determiner not in hard and not part.number and part.conjunct is None
        for part in parts
    )


def test_what_is_told_again_follows() -> None:
    told = [(clause, again) for clause in lines(3000) if simple(clause) for again in paraphrase(clause)]
    assert len(told) > 300
    wrong = [(clause, again) for clause, again in told if decide(clause, again) != "entailment"]
    assert not wrong, wrong[:2]


def test_the_denial_of_the_opposite() -> None:
    (told,) = paraphrase(Clause("be", Phrase("pana", "PER"), predicate="big"))
    assert (told.predicate, told.negated, told.subject.head) == ("small", True, "pana")


def test_what_cannot_be_told_again() -> None:
    ann = Phrase("pana", "PER")
    assert not paraphrase(Clause("run", ann, negated=True))
    assert not paraphrase(Clause("devour", Phrase("wolf", determiner="every"), object=Phrase("food", determiner="a")))
    assert not paraphrase(Clause("be", ann, predicate="red")), "red has no opposite"


def test_a_question_is_followed_by_its_answer() -> None:
    found = 0
    for line, following in pairwise(lines(4000)):
        if line.asks and line.verb == following.verb:
            found += any(fits(following, line, kind) for kind in ("who", "what", "where", "when", "how_many", "whose"))
    assert found > 150


def test_questions_are_about_what_was_said() -> None:
    sampler = Sampler(Chance(1))
    fact = Clause("eat", Phrase("pana", "PER"), object=Phrase("apple", determiner="a"), manner="quickly")
    question, answer = question_and_answer(fact, sampler)
    assert question.asks and (answer.subject, answer.object, answer.manner) == (fact.subject, fact.object, "")
    assert question_and_answer(Clause("be", Phrase("pana", "PER"), predicate="big"), sampler) == ()


def test_going_on_about_somebody() -> None:
    sampler = Sampler(Chance(2))
    (more,) = continuation(Clause("run", Phrase("pana", "PER", second="x")), sampler)
    assert more.subject == Phrase("pana", "PER")
    heads = {continuation(Clause("run", Phrase("dog", determiner="a")), sampler)[0].subject.head for _ in range(30)}
    assert heads == {"dog", "mammal"}
    assert continuation(Clause("run", Phrase("he", "pronoun")), sampler) == ()


def test_most_lines_hang_together() -> None:
    same = [line.subject.head == following.subject.head for line, following in pairwise(lines(3000))]
    assert 0.2 < sum(same) / len(same) < 0.6
