"""Arabic → Buckwalter: one ASCII character for each letter and vowel mark, reversible.

The table is that of the Buckwalter Arabic Morphological Analyzer (LDC2002L49), with its four letters for foreign
sounds (پ P, چ J, ڤ V, گ G). Punctuation marks become their Latin equivalents.
"""

from __future__ import annotations

from isogloss.text.transliteration.scheme import ARABIC_PUNCTUATION, COMPOSED, Scheme, swapped, table

ARABIC = "ءآأؤإئابةتثجحخدذرزسشصضطظعغـفقكلمنهوىيًٌٍَُِّْٰٱپچڤگ"
ASCII = "'|>&<}AbptvjHxd*rzs$SDTZEg_fqklmnhwYyFNKaui~o`{PJVG"
LETTERS = dict(zip(ARABIC, ASCII, strict=True))
SHAPES = {"ک": "ك", "ی": "ي", "ھ": "ه", "ە": "ه"}  # variants from Persian and Urdu keyboards

SCHEME = Scheme(
    name="buckwalter",
    languages="ar arq ary arz aeb qaf",  # does not change Narabizi, which is in Latin script
    summary="Arabic → one ASCII character per letter",
    stages=(COMPOSED, table(SHAPES), table(LETTERS | ARABIC_PUNCTUATION)),
    inverse=(table(swapped(LETTERS | ARABIC_PUNCTUATION)), COMPOSED),
)
