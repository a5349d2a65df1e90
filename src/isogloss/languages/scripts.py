"""The script of a text, from the Unicode names of its letters.

Codes are ISO 15924. Chinese characters are `Hani`, because single characters do not distinguish simplified from
traditional; a text with kana is Japanese, `Jpan`.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import cache

LATIN_SCRIPT = "Latn"
UNDETERMINED = "Zyyy"  # ISO 15924 code of characters that belong to no script

# first word of the Unicode name of a letter → script
SCRIPTS = {
    "ADLAM": "Adlm", "ARABIC": "Arab", "ARMENIAN": "Armn", "BALINESE": "Bali", "BAMUM": "Bamu", "BATAK": "Batk",
    "BENGALI": "Beng", "BOPOMOFO": "Bopo", "BUGINESE": "Bugi", "BUHID": "Buhd", "CANADIAN": "Cans", "CHAM": "Cham",
    "CHEROKEE": "Cher", "CJK": "Hani", "COPTIC": "Copt", "CYRILLIC": "Cyrl", "DESERET": "Dsrt", "DEVANAGARI": "Deva",
    "ETHIOPIC": "Ethi", "GEORGIAN": "Geor", "GLAGOLITIC": "Glag", "GOTHIC": "Goth", "GREEK": "Grek",
    "GUJARATI": "Gujr", "GURMUKHI": "Guru", "HANGUL": "Hang", "HANUNOO": "Hano", "HEBREW": "Hebr",
    "HENTAIGANA": "Hira", "HIRAGANA": "Hira",
    "JAVANESE": "Java", "KANNADA": "Knda", "KATAKANA": "Kana", "KHMER": "Khmr", "LAO": "Laoo", "LATIN": "Latn",
    "LEPCHA": "Lepc", "LIMBU": "Limb", "LISU": "Lisu", "MALAYALAM": "Mlym", "MANDAIC": "Mand", "MEETEI": "Mtei",
    "MONGOLIAN": "Mong", "MYANMAR": "Mymr", "NKO": "Nkoo", "OGHAM": "Ogam", "OL": "Olck", "ORIYA": "Orya",
    "OSAGE": "Osge", "RUNIC": "Runr", "SAMARITAN": "Samr", "SINHALA": "Sinh", "SUNDANESE": "Sund", "SYRIAC": "Syrc",
    "TAGALOG": "Tglg", "TAGBANWA": "Tagb", "TAMIL": "Taml", "TELUGU": "Telu", "THAANA": "Thaa", "THAI": "Thai",
    "TIBETAN": "Tibt", "TIFINAGH": "Tfng", "VAI": "Vaii", "YI": "Yiii",
}  # fmt: skip
WIDTHS = {"FULLWIDTH", "HALFWIDTH"}  # variants of letters: the script is the second word of the name


def script_of(text: str) -> str:
    """The most frequent script of the letters of a text; `Zyyy` without letters.

    >>> script_of("Привет, world!"), script_of("東京へ行く"), script_of("2024")
    ('Cyrl', 'Jpan', 'Zyyy')
    """
    counts = Counter(script for char in text if (script := letter_script(char)))
    kana = counts.pop("Hira", 0) + counts.pop("Kana", 0)
    if kana:
        counts["Jpan"] = kana + counts.pop("Hani", 0)
    return max(counts, key=lambda script: (counts[script], script)) if counts else UNDETERMINED


@cache
def letter_script(char: str) -> str | None:
    """The script of a letter; None for other characters and for scripts that are not in the table."""
    if not char.isalpha():
        return None
    words = unicodedata.name(char, "").split(maxsplit=2)
    if words and words[0] in WIDTHS:
        words = words[1:]
    return SCRIPTS.get(words[0]) if words else None
