"""Surface realisation of meanings by the grammar of a language.

Every word has a key, its address in the meaning (`s.o:head` …). Words of two languages with the same key express the
same part of the meaning, which gives the gold word alignment. Trees follow Universal Dependencies v2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from isogloss.corpora.lab.languages import LANGUAGES
from isogloss.corpora.lab.lexicon import PERSONS, Form, lexicon
from isogloss.corpora.lab.meaning import Adjunct, Clause, Phrase
from isogloss.corpora.lab.scripts import capitalised, transliterate
from isogloss.corpora.lab.vocabulary import NUMBERS
from isogloss.corpora.lab.words import Sentence, Word

PERSONAL_FEATURES = {
    "i": "Number=Sing|Person=1|PronType=Prs",
    "you": "Number=Sing|Person=2|PronType=Prs",
    "he": "Gender=Masc|Number=Sing|Person=3|PronType=Prs",
    "she": "Gender=Fem|Number=Sing|Person=3|PronType=Prs",
    "we": "Number=Plur|Person=1|PronType=Prs",
    "they": "Number=Plur|Person=3|PronType=Prs",
}
DETERMINER_FEATURES = {
    **{"this": "PronType=Dem", "every": "PronType=Tot", "some": "PronType=Ind", "no": "PronType=Neg"},
    **{"many": "PronType=Ind", "few": "PronType=Ind", "how_many": "PronType=Int", "whose": "Poss=Yes|PronType=Int"},
}
HeadAndWords = tuple[Word, list[Word]]


class Realiser:
    """Realises meanings in one language. `realise` returns sentences; other methods a head and its words in order."""

    def __init__(self, code: str):
        self.language = LANGUAGES[code]
        self.grammar = self.language.grammar
        self.lexicon = lexicon(code)
        self.clause_order = self.grammar.clause.split()
        self.phrase_order = self.grammar.phrase.split()
        self.before = self.grammar.adpositions == "before"
        self.verb_last = self.clause_order.index("V") > self.clause_order.index("O")
        self._invariant: dict[str, Form] = {}
        self._moved: list[Word] = []  # extraposed relative clauses, for the end of the clause

    def realise(self, meaning: Clause) -> Sentence:
        """The sentence for a meaning, with its final punctuation.

        >>> meaning = Clause("sleep", Phrase("dog", determiner="the"))
        >>> [word.upos for word in realiser("qla").realise(meaning).words]
        ['DET', 'NOUN', 'VERB', 'PUNCT']
        """
        root, words = self.clause(meaning, "", "root")
        words.append(self._mark("?" if meaning.asks else ".", ".", root))
        first = words[0]
        first.form = capitalised(first.form, self.language.script)
        first.fused = capitalised(first.fused, self.language.script)
        return Sentence(self.language.code, words)

    def clause(self, clause: Clause, path: str, deprel: str) -> HeadAndWords:
        outer = self._moved
        self._moved = [] if deprel != "acl:relcl" else outer
        head, group = self._predicate(clause, path, deprel)
        parts = {"V": group}
        if clause.subject.kind != "gap":
            role = "agent" if clause.object else "subject"
            parts["S"] = self._argument(clause.subject, path + "s", role, "nsubj", head)
        if clause.object and clause.object.kind != "gap":
            parts["O"] = self._argument(clause.object, path + "o", "object", "obj", head)
        if clause.recipient and "recipient" in self.grammar.marking:
            parts["R"] = self._argument(clause.recipient, path + "r", "recipient", "iobj", head)
        elif clause.recipient:
            parts["R"] = self.adjunct(Adjunct("to", clause.recipient), path + "r", "obl", head)
        goal = clause.goal and Adjunct("to", clause.goal)
        for slot, adjunct in (("G", goal), ("P", clause.place), ("W", clause.companion), ("T", clause.time)):
            if adjunct:
                parts[slot] = self.adjunct(adjunct, path + slot.lower(), "obl", head)
        if clause.manner:
            parts["M"] = [self._word(clause.manner, "ADV", "advmod", path + "m", head)]
        if clause.complement:
            parts["C"] = self._marked("that", clause.complement, path + "c", "ccomp", head)
        if clause.adverbial:
            parts["A"] = self._adverbial(clause, path + "a", head)
        first = parts.pop(clause.asks) if clause.asks and self.grammar.question_first else []
        words = first + _in_order(parts, self.clause_order)
        if self._moved is not outer:
            words += self._moved
            self._moved = outer
        if clause.conjunct:
            words += self._conjoined(clause.conjunct, path + "k", head)
        return head, words

    def phrase(self, phrase: Phrase, path: str, case: str, deprel: str) -> HeadAndWords:
        if phrase.kind != "noun":
            head, words = self._name_or_pronoun(phrase, path, case, deprel)
        else:
            head, words = self._noun_phrase(phrase, path, case, deprel)
        if phrase.conjunct:
            conjunct, more = self.phrase(phrase.conjunct, path + "k", case, "conj")
            conjunct.head = head
            words = [*words, self._word("and", "CCONJ", "cc", path + "k:and", conjunct), *more]
        return head, words

    def adjunct(self, adjunct: Adjunct, path: str, deprel: str, governor: Word) -> list[Word]:
        """A phrase with the adposition or case of its relation."""
        relation, phrase = adjunct
        if not relation:
            question = "PronType=Int" if phrase.kind == "question" else "_"
            return [self._word(phrase.head, "ADV", "advmod", path + ":head", governor, question)]
        marking = self.grammar.marking
        case = marking.get(relation, marking.get("adposition", ""))
        head, words = self.phrase(phrase, path, case, deprel)
        head.head = governor
        if relation in marking:
            return words
        adposition = self._word(relation, "ADP", "case", path + ":case", head)
        if not self.before:
            return [*words, adposition]
        if self.grammar.contraction and words[0].upos == "DET" and words[0].key == path + ":the":
            preposition, article = adposition.form, words[0].form
            adposition.fused = preposition.rstrip("aeiou") + article[1:] if article[1:] else preposition + article
        return [adposition, *words]

    def _argument(self, phrase: Phrase, path: str, role: str, deprel: str, governor: Word) -> list[Word]:
        head, words = self.phrase(phrase, path, self.grammar.marking.get(role, ""), deprel)
        head.head = governor
        return words

    def _predicate(self, clause: Clause, path: str, deprel: str) -> HeadAndWords:
        """The verb or the complement of the copula with negation and auxiliary: head and words in order."""
        grammar, subject = self.grammar, clause.subject
        plural = subject.plural or subject.conjunct is not None
        third = "3pl" if plural else "3sg"
        person = PERSONS.get(subject.head, third) if subject.kind == "pronoun" else third
        participle = deprel == "acl:relcl" and grammar.relative == "participle"
        future = clause.tense == "future" and grammar.auxiliary_future and not participle
        tense = "participle" if participle else "infinitive" if future else clause.tense
        if clause.verb == "be":
            head, group = self._copular(clause, path, deprel, tense, person, plural)
        else:
            head = Word(self.lexicon.verb(clause.verb, tense, person, clause.negated), "VERB", deprel, path + ":verb")
            group = [head]
        before = []
        if future:
            before.append(Word(self.lexicon.verb("will", "present", person, False), "AUX", "aux", path + ":will", head))
        if clause.negated and grammar.negation == "particle":
            before.append(self._word("not", "PART", "advmod", path + ":not", head, "Polarity=Neg"))
        return head, before + group

    def _copular(self, clause: Clause, path: str, deprel: str, tense: str, person: str, plural: bool) -> HeadAndWords:
        predicate, subject = clause.predicate, clause.subject
        if isinstance(predicate, str):
            form = self.lexicon.adjective(predicate, self.lexicon.feminine(subject), plural, "")
            head = Word(form, "ADJ", deprel, path + ":verb")
            words = [head]
        elif isinstance(predicate, Adjunct):
            anchor = Word(Form("", "", ""), "", "", "")
            words = self.adjunct(predicate, path + "q", deprel, anchor)
            head = next(word for word in words if word.head is anchor)
            head.head = None
        else:
            assert predicate is not None
            head, words = self.phrase(predicate, path + "q", "", deprel)
        if self.grammar.zero_copula and clause.tense == "present":
            return head, words
        copula = Word(self.lexicon.verb("be", tense, person, clause.negated), "AUX", "cop", path + ":be", head)
        return head, [*words, copula] if self.verb_last else [copula, *words]

    def _noun_phrase(self, phrase: Phrase, path: str, case: str, deprel: str) -> HeadAndWords:
        plural = phrase.plural and (self.grammar.numeral_plural or not phrase.number)
        head = Word(self.lexicon.noun(phrase, case, plural), "NOUN", deprel, path + ":head")
        parts = {"N": [head]}
        if phrase.determiner:
            parts["D"] = self._determiner(phrase, path, head)
        if phrase.number:
            parts["Q"] = [self._number(phrase.number, path, head)]
        if phrase.adjectives:
            feminine = self.lexicon.feminine(phrase)
            forms = [self.lexicon.adjective(adjective, feminine, plural, case) for adjective in phrase.adjectives]
            parts["A"] = [Word(form, "ADJ", "amod", f"{path}:{i}", head) for i, form in enumerate(forms)]
        if phrase.owner:
            parts["O"] = self._owner(phrase.owner, path + "n", head)
        if phrase.modifier:
            parts["M"] = self.adjunct(phrase.modifier, path + "l", "nmod", head)
        if phrase.relative:
            relative = self._relative(phrase.relative, path + "x", head)
            if self.grammar.extraposition:
                self._moved += relative
            else:
                parts["R"] = relative
        return head, _in_order(parts, self.phrase_order)

    def _name_or_pronoun(self, phrase: Phrase, path: str, case: str, deprel: str) -> HeadAndWords:
        if phrase.kind == "year":
            word = Word(_digits(phrase.head), "NUM", deprel, path + ":head")
        elif phrase.kind in ("pronoun", "question"):
            features = PERSONAL_FEATURES.get(phrase.head, "PronType=Int")
            word = Word(self.lexicon.pronoun(phrase.head, case, features), "PRON", deprel, path + ":head")
        else:
            return self._name(phrase, path, case, deprel)
        return word, [word]

    def _name(self, phrase: Phrase, path: str, case: str, deprel: str) -> HeadAndWords:
        """A proper name; its last word has the case. The noun in `Tarol Bank` has the position of nouns."""
        entity = f"{phrase.kind} {path}"
        if phrase.kind == "PER" and phrase.second:
            head = Word(self.lexicon.name(phrase.head, ""), "PROPN", deprel, path + ":head")
            words = [head, Word(self.lexicon.name(phrase.second, case), "PROPN", "flat", path + ":second", head)]
        elif phrase.second:
            noun_last = self.phrase_order.index("A") < self.phrase_order.index("N")
            form = self.lexicon.noun(Phrase(phrase.second), case if noun_last else "", False)
            form = form._replace(form=capitalised(form.form, self.language.script))
            head = Word(form, "PROPN", deprel, path + ":second")
            name = self.lexicon.name(phrase.head, "" if noun_last else case)
            second = Word(name, "PROPN", "compound" if noun_last else "flat", path + ":head", head)
            words = [second, head] if noun_last else [head, second]
        else:
            head = Word(self.lexicon.name(phrase.head, case), "PROPN", deprel, path + ":head")
            words = [head]
        for word in words:
            word.entity = entity
        return head, words

    def _determiner(self, phrase: Phrase, path: str, head: Word) -> list[Word]:
        determiner = phrase.determiner
        if determiner in ("the", "a"):
            if not self.grammar.articles or (determiner == "a" and phrase.plural):
                return []
            form = self.lexicon.article(determiner, self.lexicon.feminine(phrase), phrase.plural)
            return [Word(form, "DET", "det", f"{path}:{determiner}", head)]
        return [self._word(determiner, "DET", "det", path + ":det", head, DETERMINER_FEATURES[determiner])]

    def _number(self, number: int, path: str, head: Word) -> Word:
        if number - 2 < len(NUMBERS):
            return self._word(NUMBERS[number - 2], "NUM", "nummod", path + ":number", head, "NumType=Card")
        return Word(_digits(str(number)), "NUM", "nummod", path + ":number", head)

    def _owner(self, owner: Phrase, path: str, head: Word) -> list[Word]:
        if owner.kind == "question":
            return [self._word("whose", "DET", "det", path + ":head", head, DETERMINER_FEATURES["whose"])]
        return self.adjunct(Adjunct("of", owner), path, "nmod", head)

    def _relative(self, clause: Clause, path: str, noun: Word) -> list[Word]:
        head, words = self.clause(clause, path, "acl:relcl")
        head.head = noun
        if self.grammar.relative == "participle":
            return words
        if self.grammar.relative == "particle":
            return [self._word("which", "SCONJ", "mark", path + ":which", head), *words]
        as_object = clause.object is not None and clause.object.kind == "gap"
        role, deprel = ("object", "obj") if as_object else ("agent" if clause.object else "subject", "nsubj")
        form = self.lexicon.pronoun("which", self.grammar.marking.get(role, ""), "PronType=Rel")
        return [Word(form, "PRON", deprel, path + ":which", head), *words]

    def _marked(self, marker: str, clause: Clause, path: str, deprel: str, governor: Word) -> list[Word]:
        head, words = self.clause(clause, path, deprel)
        head.head = governor
        mark = self._word(marker, "SCONJ", "mark", path + ":mark", head)
        return [mark, *words] if self.before else [*words, mark]

    def _adverbial(self, clause: Clause, path: str, governor: Word) -> list[Word]:
        assert clause.adverbial is not None
        words = self._marked(*clause.adverbial, path, "advcl", governor)
        head = next(word for word in words if word.head is governor)
        comma = self._mark(",", path + ":comma", head)
        return [*words, comma] if self.clause_order.index("A") < self.clause_order.index("V") else [comma, *words]

    def _conjoined(self, conjunct: tuple[str, Clause], path: str, governor: Word) -> list[Word]:
        joiner, clause = conjunct
        head, words = self.clause(clause, path, "conj")
        head.head = governor
        comma = self._mark(",", path + ":comma", head)
        return [comma, self._word(joiner, "CCONJ", "cc", path + ":cc", head), *words]

    def _word(self, concept: str, upos: str, deprel: str, key: str, head: Word, features: str = "_") -> Word:
        """An uninflected word."""
        form = self._invariant.get(concept)
        if form is None:
            spelt = self.lexicon.word(concept)
            form = self._invariant[concept] = Form(spelt, spelt, features)
        return Word(form, upos, deprel, key, head)

    def _mark(self, mark: str, key: str, head: Word) -> Word:
        local = transliterate(mark, "Latn", self.language.script)
        word = Word(Form(local, local, "_"), "PUNCT", "punct", key, head)
        word.glued = True
        return word


def _in_order(parts: Mapping[str, list[Word]], order: Sequence[str]) -> list[Word]:
    return [word for slot in order for word in parts.get(slot, ())]


def _digits(number: str) -> Form:
    return Form(number, number, "NumForm=Digit|NumType=Card")


@cache
def realiser(code: str) -> Realiser:
    return Realiser(code)
