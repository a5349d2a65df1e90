"""The languages of the laboratory: descent, sound changes, script, word order, morphology, role.

Everything that makes a language easier or harder for a model is declared here. Codes are from the private-use range of
ISO 639-2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from isogloss.corpora.lab.sounds import Phonology


@dataclass(frozen=True)
class Grammar:
    """How a language realises a meaning.

    Letters of `clause`: T time, S subject, V verb, O object, R recipient, G goal, M manner, P place,
    W companion, C complement clause, A adverbial clause. Letters of `phrase`: D determiner, Q number,
    A adjectives, N noun, O owner, M modifier, R relative clause.
    """

    clause: str
    phrase: str
    adpositions: str = "before"  # before or after the phrase; clause markers are on the same side
    marking: Mapping[str, str] = field(default_factory=dict)  # role or relation → case; "": marked by position only
    articles: bool = False
    definite: str = ""  # "prefix": definiteness is part of the noun
    gender: bool = False  # articles and adjectives agree in gender and number
    adjective_case: bool = False  # adjectives agree in case and number
    fusional: bool = False  # one ending for number and case together
    agreement: str = "number"  # of the verb with its subject: "", number or person
    agreement_side: str = "after"
    numeral_plural: bool = True  # three dogs, or three dog
    auxiliary_future: bool = False
    negation: str = "particle"  # or "affix"
    zero_copula: bool = False  # in the present
    relative: str = "pronoun"  # or "particle", "participle"
    question_first: bool = False
    contraction: bool = False  # preposition and article fuse into a multiword token
    extraposition: bool = False  # relative clauses move to the end of their clause: trees that cross
    harmony: bool = False
    link: str = "n"  # the sound between two vowels at a suffix

    @property
    def order(self) -> str:
        """The basic order: SVO, SOV, VSO."""
        return "".join(letter for letter in self.clause if letter in "SVO")


@dataclass(frozen=True)
class LabLanguage:
    """One language; its words are those of its parent after sound `changes`, with `replaced` per cent of new roots."""

    code: str
    name: str
    family: str
    script: str
    grammar: Grammar
    role: str  # source, seen; of unseen languages: easy, intermediate, hard, unrelated
    parent: str = ""
    changes: str = ""  # separated by commas
    replaced: int = 0
    loans: int = 0  # per cent of roots borrowed from the source language
    latin_names: int = 0  # per cent of proper names that stay in Latin script and uninflected, as trade names do
    pretrained: bool = True
    projective: bool = True
    labelled: int = 25  # labelled sentences of an unseen language that a diagnosis gets


FAMILIES = {
    "A": Phonology("ppbttdkkgmmnnssllrrvf", "aaeeiou", "---nrstl"),
    "B": Phonology("kkttčllmmnnsšbddjjgq", "aeiouöü", "--nlrktšm", affix_vowels="AI"),
    "C": Phonology("bdfhxqslmnrtzjk", "aaiu", "-bdlmnrsqht"),
    "D": Phonology("xčcžšgbdkmnvrlzp", "aeiou", "--bdmsvl", lengths=(2, 2, 3)),
    "E": Phonology("hkmnpñrtlv", "aeiou", "---", lengths=(2, 3, 3)),
}

EUROPEAN = Grammar("T S V O R G M P W C A", "D Q A N O M R", articles=True, auxiliary_future=True, question_first=True)
GENDERED = replace(EUROPEAN, phrase="D Q N A O M R", gender=True, agreement="person", contraction=True)
SYNTHETIC = replace(
    EUROPEAN,
    clause="S T V R O G M P W C A",
    articles=False,
    adjective_case=True,
    fusional=True,
    agreement="person",
    marking={"object": "accusative", "recipient": "dative", "of": "genitive", "adposition": "locative"},
)
AGGLUTINATIVE = Grammar(
    "A T S P R O W G M C V",
    "R D O M Q A N",
    adpositions="after",
    marking={
        **{"object": "accusative", "recipient": "dative", "of": "genitive", "to": "dative"},
        **{"in": "locative", "from": "ablative", "with": "instrumental"},
    },
    agreement="person",
    numeral_plural=False,
    negation="affix",
    relative="participle",
    harmony=True,
    link="j",
)
AGGLUTINATIVE_2 = replace(AGGLUTINATIVE, clause="S A T P O R W G M C V", phrase="R O M A Q D N")
SEMITIC = Grammar(
    "V S O R G P W M T C A",
    "D Q N A O M R",
    marking={"of": ""},
    definite="prefix",
    agreement_side="before",
    zero_copula=True,
    relative="particle",
    question_first=True,
    link="h",
)
CAUCASIAN = Grammar(
    "T S R O P W G M V C A",
    "D Q A O M N R",
    adpositions="after",
    marking={"agent": "ergative", "recipient": "dative", "of": "genitive", "in": "locative"},
    agreement="number",
    numeral_plural=False,
    extraposition=True,
    link="s",
)
ISLAND = Grammar(
    "S V O R G M P W T C A", "N A Q O M D R", relative="particle", agreement="", marking={"of": ""}, link="t"
)

_DECLARED = [
    LabLanguage("qla", "Alvan", "A", "Latn", EUROPEAN, "source"),
    LabLanguage(
        *("qlb", "Belvo", "A", "Latn", GENDERED, "seen", "qla"),
        changes="t > d / V_V, k > č / _i, k > č / _e, p > f / #_, u > o, s > ∅ / _#, a > e / _r",
    ),
    LabLanguage(
        *("qlc", "Chelvic", "A", "Cyrl", SYNTHETIC, "seen", "qla"),
        changes="k > x / V_V, g > h, e > i / _C, l > v / _#, t > c / _i, o > a / _V, b > p / _#, a > o / #C_",
        replaced=8,
        latin_names=40,
    ),
    LabLanguage("qld", "Dagur", "B", "Latn", AGGLUTINATIVE, "seen", loans=15),
    LabLanguage(
        *("qle", "Egur", "B", "Latn", AGGLUTINATIVE_2, "seen", "qld"),
        changes="q > g, č > s, ö > e, k > g / V_V, t > d / V_V, š > s, j > ž / #_",
        replaced=8,
    ),
    LabLanguage("qlf", "Farid", "C", "Arab", SEMITIC, "seen", loans=8, latin_names=40),
    LabLanguage("qlg", "Gaxuri", "D", "Geor", CAUCASIAN, "seen", loans=8, latin_names=40, projective=False),
    LabLanguage(
        *("qlh", "Helvo", "A", "Latn", GENDERED, "easy", "qlb"),
        changes="d > z / V_V, č > š, o > u / _#, n > m / _#, v > b / #_",
        pretrained=False,
        labelled=20,
    ),
    LabLanguage(
        *("qli", "Ilvan", "A", "Latn", EUROPEAN, "intermediate", "qla"),
        changes="k > x, n > ñ, o > u, l > r / _#",  # x and ñ: letters that no language of pretraining writes
        replaced=10,
        pretrained=False,
    ),
    LabLanguage(
        *("qlj", "Jagur", "B", "Arab", AGGLUTINATIVE, "hard", "qld"),
        changes="q > x, i > e / _#, t > d / V_V, o > u / #C_, š > s / _#",
        pretrained=False,
        labelled=30,
    ),
    LabLanguage("qlk", "Kamao", "E", "Latn", ISLAND, "unrelated", pretrained=False),
]
LANGUAGES: dict[str, LabLanguage] = {language.code: language for language in _DECLARED}
SOURCE = "qla"
