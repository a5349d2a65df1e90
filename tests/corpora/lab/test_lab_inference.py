"""Inference pairs: labels follow from the meanings, by two semantics that know nothing of each other."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from worlds import told, verdicts

from isogloss.core.seeds import Chance
from isogloss.corpora.lab.inference import contradicts, decide, facts
from isogloss.corpora.lab.laboratory import Laboratory, _meaning_pairs
from isogloss.corpora.lab.languages import LANGUAGES
from isogloss.corpora.lab.meaning import Clause, Phrase
from isogloss.corpora.lab.pairs import LABELS, MeaningPair, PairGenerator
from isogloss.corpora.lab.realise import realiser

ANN, BO = Phrase("pana", "PER"), Phrase("lazir", "PER")
WANTED = {"entailment": {True}, "contradiction": {False}, "neutral": {True, False}}


def some(noun: str, *adjectives: str, determiner: str = "a") -> Phrase:
    return Phrase(noun, determiner=determiner, adjectives=adjectives)


def every(noun: str) -> Phrase:
    return some(noun, determiner="every")


def no(noun: str) -> Phrase:
    return some(noun, determiner="no")


def count(n: int, noun: str) -> Phrase:
    return Phrase(noun, plural=True, number=n)


def be(subject: Phrase, adjective: str) -> Clause:
    return Clause("be", subject, predicate=adjective)


@pytest.mark.parametrize(
    ("premise", "hypothesis", "label"),
    [
        (Clause("run", ANN), Clause("move", ANN), "entailment"),
        (Clause("move", ANN), Clause("run", ANN), "neutral"),
        (Clause("run", ANN), Clause("run", BO), "neutral"),
        (Clause("run", ANN), Clause("run", some("person")), "entailment"),
        (Clause("run", ANN), Clause("run", some("dog")), "neutral"),
        (Clause("run", ANN), Clause("move", ANN, negated=True), "contradiction"),
        (Clause("move", ANN, negated=True), Clause("run", ANN, negated=True), "entailment"),
        (Clause("run", ANN, negated=True), Clause("move", ANN, negated=True), "neutral"),
        (Clause("run", some("dog", "big")), Clause("run", some("animal")), "entailment"),
        (Clause("run", some("animal")), Clause("run", some("dog")), "neutral"),
        (Clause("run", every("animal")), Clause("run", every("dog")), "entailment"),
        (Clause("run", every("dog")), Clause("run", every("animal")), "neutral"),
        (Clause("run", every("dog")), Clause("run", some("animal")), "entailment"),
        (Clause("run", every("dog")), Clause("run", no("dog")), "contradiction"),
        (Clause("run", no("animal")), Clause("run", no("dog")), "entailment"),
        (Clause("run", no("dog")), Clause("run", no("animal")), "neutral"),
        (Clause("run", some("dog")), Clause("run", no("animal")), "contradiction"),
        (Clause("see", ANN, object=count(3, "dog")), Clause("see", ANN, object=count(4, "dog")), "contradiction"),
        (Clause("see", ANN, object=count(3, "dog")), Clause("see", ANN, object=count(3, "animal")), "neutral"),
        (Clause("see", ANN, object=count(3, "dog")), Clause("see", ANN, object=some("animal")), "entailment"),
        (be(ANN, "big"), be(ANN, "small"), "contradiction"),
        (be(ANN, "big"), be(ANN, "small")._replace(negated=True), "entailment"),
        (be(ANN, "big"), be(ANN, "old"), "neutral"),
        (be(some("dog"), "big"), be(some("dog"), "small"), "neutral"),
        (be(every("dog"), "big"), be(some("dog"), "small"), "contradiction"),
        (be(every("dog"), "big"), be(no("dog"), "small"), "entailment"),
        (Clause("know", BO, complement=Clause("run", ANN)), Clause("move", ANN), "entailment"),
        (Clause("say", BO, complement=Clause("run", ANN)), Clause("move", ANN), "neutral"),
        (be(BO, "old")._replace(conjunct=("and", Clause("run", ANN))), Clause("move", ANN), "entailment"),
        (be(BO, "old")._replace(adverbial=("if", Clause("run", ANN))), Clause("run", ANN), "neutral"),
    ],
)
def test_textbook_cases(premise: Clause, hypothesis: Clause, label: str) -> None:
    assert decide(premise, hypothesis) == label
    if premise.adverbial is None:  # small worlds know no suppositions
        assert verdicts(premise, hypothesis, Chance(0, "worlds")) == WANTED[label]


def pairs() -> tuple[MeaningPair, ...]:
    return _meaning_pairs(0, "train", 900)


def test_labels_follow_from_the_meanings() -> None:
    assert all(decide(pair.premise, pair.hypothesis) == pair.label for pair in pairs())


def test_labels_hold_in_small_worlds() -> None:
    chance = Chance(0, "worlds")
    for pair in pairs()[:300]:
        assert verdicts(pair.premise, pair.hypothesis, chance) == WANTED[pair.label], pair


def test_operations_intend_the_label_they_give() -> None:
    """The maker asks the semantics before it keeps a pair; it must hardly ever be told no."""
    maker, agreed = PairGenerator(Chance(1, "operations")), Counter[bool]()
    for i in range(3000):
        pair = maker.propose(LABELS[i % 3])
        if pair:
            agreed[decide(pair.premise, pair.hypothesis) == pair.label] += 1
    assert agreed[True] > 1000
    assert agreed[False] < 0.03 * agreed[True]


def test_premises_do_not_contradict_themselves() -> None:
    for pair in pairs():
        known = list(facts(pair.premise))
        assert not any(contradicts(one, other) for one in known for other in known)


def test_only_names_are_denied_by_the_verb() -> None:
    """ "A dog does not bark" would be ambiguous."""
    clauses = [clause for pair in pairs() for clause in (*told(pair.premise), pair.hypothesis)]
    assert all(clause.subject.kind == "PER" for clause in clauses if clause.negated)


def test_labels_are_balanced_and_denials_tell_nothing() -> None:
    labels = Counter(pair.label for pair in pairs())
    assert max(labels.values()) - min(labels.values()) < 0.15 * len(pairs())
    for label in LABELS:
        hypotheses = [pair.hypothesis for pair in pairs() if pair.label == label]
        denied = sum(h.negated or h.subject.determiner == "no" for h in hypotheses) / len(hypotheses)
        assert 0.14 < denied < 0.26


@pytest.mark.parametrize("side", ["premise", "hypothesis"])
def test_one_sentence_alone_hardly_tells_the_label(side: str) -> None:
    """Naive Bayes over the words of one side; chance is a third."""
    words = [
        {w.lemma for w in realiser("qla").realise(getattr(pair, side)).words}
        for pair in _meaning_pairs(2, "train", 2400)
    ]
    labels = [pair.label for pair in _meaning_pairs(2, "train", 2400)]
    counts = {label: Counter[str]() for label in LABELS}
    for bag, label in zip(words[:1800], labels[:1800], strict=True):
        counts[label].update(bag)
    totals = Counter(labels[:1800])

    def guess(bag: set[str]) -> str:
        score = {
            label: sum(math.log((counts[label][w] + 1) / (totals[label] + 2)) for w in sorted(bag)) for label in LABELS
        }
        return max(LABELS, key=lambda label: score[label])

    right = sum(guess(bag) == label for bag, label in zip(words[1800:], labels[1800:], strict=True))
    assert right / 600 < 0.47


def test_pairs_are_parallel_across_languages() -> None:
    lab = Laboratory(0)
    corpora = [lab.nli(code, "dev", 12) for code in LANGUAGES]
    assert len({tuple(pair.label for pair in corpus) for corpus in corpora}) == 1
    assert len({corpus[0].premise for corpus in corpora}) == len(LANGUAGES)
    assert lab.nli("qla", "dev", 5).items == corpora[0].items[:5]
