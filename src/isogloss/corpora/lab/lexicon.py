"""The words of a language: roots of concepts by descent and sound change, and their inflection."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple, TypeVar, cast

from isogloss.core.seeds import Chance
from isogloss.corpora.lab.concepts import CONTENT_WORDS, DESCRIBES, VERB_TABLE, WORLD_SEED, is_female
from isogloss.corpora.lab.languages import FAMILIES, LANGUAGES, SOURCE, Grammar
from isogloss.corpora.lab.meaning import Phrase
from isogloss.corpora.lab.scripts import capitalised, transliterate
from isogloss.corpora.lab.sounds import VOWELS, evolve, harmonised, join
from isogloss.corpora.lab.vocabulary import FUNCTION_WORDS

CASES = ["nominative", "accusative", "dative", "genitive", "locative", "ablative", "instrumental", "ergative"]
CASE_FEATURE = {case: case[:3].title() for case in CASES}
PERSONS = {"i": "1sg", "you": "2sg", "he": "3sg", "she": "3sg", "we": "1pl", "they": "3pl"}
AFFIXES = [
    *("plural", "past", "present", "future", "infinitive", "participle", "negative", "definite", "masculine"),
    *("feminine", "masculine.plural", "feminine.plural", "1sg", "2sg", "3sg", "1pl", "3pl", *CASES[1:]),
    *(f"{number}.{case}" for number in ("singular", "plural") for case in CASES),
]
KINDS = {"content": CONTENT_WORDS, "function": FUNCTION_WORDS, "affix": AFFIXES}


@cache
def roots(code: str, kind: str) -> dict[str, str]:
    """Concept → root in sounds, for one kind of words: content, function, affix.

    Homonymous roots are replaced by new ones, so that dictionaries are one-to-one.

    >>> roots("qla", "content")["dog"] == roots("qlb", "content")["dog"]
    False
    """
    language = LANGUAGES[code]
    inherited = roots(language.parent, kind) if language.parent else {}
    existing = set(roots(code, "function").values()) if kind == "content" else set()
    result: dict[str, str] = {}
    for concept in KINDS[kind]:
        chance = Chance(WORLD_SEED, "root", language.family if not inherited else code, kind, concept)
        root = evolve(inherited[concept], language.changes) if inherited else ""
        if kind == "content" and chance.below(100) < language.loans:
            root = roots(SOURCE, kind)[concept]
        elif kind == "content" and chance.below(100) < language.replaced:
            root = ""
        while root in existing or not set(root) & set(VOWELS):
            root = FAMILIES[language.family].word(chance, kind)
        existing.add(root)
        result[concept] = root
    return result


class Form(NamedTuple):
    """One word form as in a treebank."""

    form: str
    lemma: str
    features: str


FormMethod = TypeVar("FormMethod", bound=Callable[..., Form])


def _cached(method: FormMethod) -> FormMethod:
    """Caches the forms for good: there is one lexicon per language."""
    return cast(FormMethod, cache(method))


class Lexicon:
    """The inflected words of one language in its script."""

    def __init__(self, code: str):
        self.language = LANGUAGES[code]
        self.grammar: Grammar = self.language.grammar
        self._content, self._function, self._affix = (roots(code, kind) for kind in KINDS)

    def spell(self, sounds: str) -> str:
        word = harmonised(sounds) if self.grammar.harmony else sounds
        return transliterate(word, "Latn", self.language.script)

    def word(self, concept: str) -> str:
        """The uninflected root of a concept."""
        return self.spell(self._content.get(concept) or self._function[concept])

    def citation(self, concept: str) -> str:
        """The dictionary form: the infinitive of a verb, the masculine of an adjective, the root of other words.

        >>> [Lexicon(code).citation("dog") == Lexicon("qla").citation("dog") for code in ("qla", "qld")]
        [True, False]
        """
        if concept in VERB_TABLE:
            return self.verb(concept, "infinitive", "", False).form
        if concept in DESCRIBES:
            return self.adjective(concept, False, False, "").form
        return self.word(concept)

    def feminine(self, phrase: Phrase) -> bool:
        """Grammatical gender: natural for persons, random for other nouns and the same in the family."""
        if phrase.kind == "PER":
            return is_female(phrase.head)
        return phrase.head == "she" or (phrase.kind == "noun" and phrase.head in _feminine_nouns(self.language.family))

    def noun(self, phrase: Phrase, case: str, plural: bool) -> Form:
        definite = self.grammar.definite == "prefix" and phrase.determiner == "the"
        return self._noun(Phrase(phrase.head, phrase.kind), case, plural, definite)

    def _suffixed(self, stem: str, *affixes: str) -> str:
        for affix in affixes:
            if affix:
                stem = join(stem, self._affix[affix], self.grammar.link)
        return stem

    def _declined(self, stem: str, case: str, plural: bool) -> str:
        if self.grammar.fusional:
            ending = f"{'plural' if plural else 'singular'}.{case or 'nominative'}"
            return self._suffixed(stem, ending if plural or case else "")
        return self._suffixed(stem, "plural" if plural else "", case)

    @_cached
    def _noun(self, phrase: Phrase, case: str, plural: bool, definite: bool) -> Form:
        root = self._content[phrase.head]
        form = self._declined(root, case, plural)
        form = join(self._affix["definite"], form, self.grammar.link) if definite else form
        gender = ("Fem" if self.feminine(phrase) else "Masc") if self.grammar.gender else ""
        definiteness, number = "Def" if definite else "", "Plur" if plural else "Sing"
        features = _features(Case=CASE_FEATURE.get(case, ""), Definite=definiteness, Gender=gender, Number=number)
        return Form(self.spell(form), self.spell(root), features)

    @_cached
    def name(self, name: str, case: str) -> Form:
        features = _features(Case=CASE_FEATURE.get(case, ""), Number="Sing")
        if Chance(WORLD_SEED, "international", name).below(100) < self.language.latin_names:
            return Form(capitalised(name, "Latn"), capitalised(name, "Latn"), features)
        form, lemma = (self.spell(word) for word in (self._declined(name, case, False), name))
        return Form(capitalised(form, self.language.script), capitalised(lemma, self.language.script), features)

    @_cached
    def adjective(self, adjective: str, feminine: bool, plural: bool, case: str) -> Form:
        root = self._content[adjective]
        if self.grammar.gender:
            form = self._suffixed(root, _gender(feminine, plural))
            features = _features(Gender="Fem" if feminine else "Masc", Number="Plur" if plural else "Sing")
            return Form(self.spell(form), self.spell(self._suffixed(root, "masculine")), features)
        if self.grammar.adjective_case:
            features = _features(Case=CASE_FEATURE.get(case, "Nom"), Number="Plur" if plural else "Sing")
            return Form(self.spell(self._declined(root, case, plural)), self.spell(root), features)
        return Form(self.spell(root), self.spell(root), "Degree=Pos")

    @_cached
    def article(self, article: str, feminine: bool, plural: bool) -> Form:
        root = self._function[article]
        definite = "Def" if article == "the" else "Ind"
        if not self.grammar.gender:
            return Form(self.spell(root), self.spell(root), _features(Definite=definite, PronType="Art"))
        gender, number = "Fem" if feminine else "Masc", "Plur" if plural else "Sing"
        features = _features(Definite=definite, Gender=gender, Number=number, PronType="Art")
        form, lemma = (self._suffixed(root, ending) for ending in (_gender(feminine, plural), "masculine"))
        return Form(self.spell(form), self.spell(lemma), features)

    @_cached
    def pronoun(self, pronoun: str, case: str, features: str) -> Form:
        root = self._function[pronoun]
        marked = "|".join(sorted([*features.split("|"), f"Case={CASE_FEATURE[case]}"])) if case else features
        return Form(self.spell(self._declined(root, case, False)), self.spell(root), marked)

    @_cached
    def verb(self, verb: str, tense: str, person: str, negated: bool) -> Form:
        """A verb form; `tense` may be infinitive or participle, which have no person."""
        root = self._content.get(verb) or self._function[verb]
        finite = tense not in ("infinitive", "participle")
        plural = "plural" if person.endswith("pl") else ""
        agreement = {"number": plural, "person": person}.get(self.grammar.agreement, "") if finite else ""
        negative = "negative" if negated and self.grammar.negation == "affix" else ""
        if self.grammar.agreement_side == "before":
            stem = join(self._affix[agreement], root, self.grammar.link) if agreement else root
            form = self._suffixed(stem, negative, tense)
        else:
            form = self._suffixed(root, negative, tense, agreement)
        features = _features(
            Number={"sg": "Sing", "pl": "Plur"}.get(person[1:], "") if finite and self.grammar.agreement else "",
            Person=person[:1] if finite and self.grammar.agreement == "person" else "",
            Polarity="Neg" if negative else "",
            Tense={"past": "Past", "present": "Pres", "future": "Fut"}.get(tense, ""),
            VerbForm={"infinitive": "Inf", "participle": "Part"}.get(tense, "Fin"),
        )
        return Form(self.spell(form), self.spell(self._suffixed(root, "infinitive")), features)


def _features(**features: str) -> str:
    """The FEATS column of UD, without empty values; callers pass the names in alphabetical order."""
    return "|".join(f"{name}={value}" for name, value in features.items() if value) or "_"


def _gender(feminine: bool, plural: bool) -> str:
    return ("feminine" if feminine else "masculine") + (".plural" if plural else "")


@cache
def _feminine_nouns(family: str) -> frozenset[str]:
    return frozenset(noun for noun in CONTENT_WORDS if Chance(WORLD_SEED, "gender", family, noun).happens(0.5))


@cache
def lexicon(code: str) -> Lexicon:
    return Lexicon(code)
