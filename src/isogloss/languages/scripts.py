"""The script a text is written in, told from its letters.

Codes are ISO 15924. Chinese characters count as `Hani`, for no letter tells simplified from traditional;
a text with kana is Japanese as a whole, `Jpan`.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import cache

LATIN_SCRIPT = "Latn"
UNDETERMINED = "Zyyy"  # ISO 15924's code for characters of no script in particular

# the first word of a letter's Unicode name → script
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
WIDTHS = {"FULLWIDTH", "HALFWIDTH"}  # forms of letters whose script is the name's next word


def script_of(text: str) -> str:
    """The script of most letters of a text; `Zyyy` if it has none.

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
    """The script of one letter; None for anything else, and for letters of scripts out of the table."""
    if not char.isalpha():
        return None
    words = unicodedata.name(char, "").split(maxsplit=2)
    if words and words[0] in WIDTHS:
        words = words[1:]
    return SCRIPTS.get(words[0]) if words else None
