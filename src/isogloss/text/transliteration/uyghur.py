"""Uyghur in Arabic script → the Latin script of Turkish.

Uyghur writes every vowel, so letters map one to one. Vowels are those of the Uyghur Latin alphabet (ULY, Xinjiang
University 2008; ە = e, ې = ë); consonants are spelt as in Turkish (ç ş c ğ j y v), and as in the Common Turkic
Alphabet where Turkish has no letter (ñ q x). A vowel at the start of a word or a syllable has a hamza (ئ), which is
not written at the start of a word and is an apostrophe within a word, as in ULY (مۇئەللىم = mu'ellim).

Persian and Arabic letter shapes (ک ی ه), presentation forms and invisible marks are read as standard
letters; the inverse gives the standard letters.
"""

from __future__ import annotations

import re

from isogloss.text.transliteration import scheme
from isogloss.text.transliteration.scheme import ARABIC_SIGNS, COMPOSED, INVISIBLE, Rule, Scheme, swapped, table

VOWELS = {"ا": "a", "ە": "e", "ې": "ë", "ى": "i", "و": "o", "ۇ": "u", "ۆ": "ö", "ۈ": "ü"}
CONSONANTS = {
    "ب": "b", "پ": "p", "ت": "t", "ج": "c", "چ": "ç", "خ": "x", "د": "d", "ر": "r", "ز": "z", "ژ": "j", "س": "s",
    "ش": "ş", "غ": "ğ", "ف": "f", "ق": "q", "ك": "k", "گ": "g", "ڭ": "ñ", "ل": "l", "م": "m", "ن": "n", "ھ": "h",
    "ۋ": "v", "ي": "y",
}  # fmt: skip
# letters of other orthographies with the same pronunciation
SHAPES = {
    "ک": "ك", "ی": "ي", "ه": "ھ", "ح": "ھ", "ط": "ت", "ص": "س", "ث": "س", "ض": "ز", "ذ": "ز", "ظ": "ز", "ة": "ە",
    "ع": "ئ", "ء": "ئ", "أ": "ئا", "آ": "ئا", "إ": "ئى", "ؤ": "ئو",
}  # fmt: skip
LETTER = r"[^\W\d_]"
VOWEL = "[aeëioöuü]"


def hamza(match: re.Match[str]) -> str:
    """Nothing before a word-initial vowel, an apostrophe elsewhere."""
    text, place = match.string, match.start()
    begins = (place == 0 or not text[place - 1].isalpha()) and text[place + 1 : place + 2] in VOWELS
    return "" if begins else "'"


SCHEME = Scheme(
    name="uyghur",
    languages="ug",
    summary="Uyghur → Latin as in Turkish (ç ş c ğ)",
    stages=(
        COMPOSED,
        table(SHAPES | INVISIBLE),
        Rule(re.compile("ئ"), hamza),
        table(VOWELS | CONSONANTS | ARABIC_SIGNS),
    ),
    inverse=(
        COMPOSED,
        Rule(re.compile(f"(?<={LETTER})'(?={VOWEL})|(?<!{LETTER})(?<!{LETTER}')(?={VOWEL})"), lambda match: "ئ"),
        table(swapped(VOWELS | CONSONANTS | scheme.ARABIC_PUNCTUATION)),
    ),
)
