"""Arabic → Buckwalter: one ASCII sign for each letter and vowel mark, and back.

The table is that of the Buckwalter Arabic Morphological Analyzer (LDC2002L49), with its four letters for foreign
sounds (پ P, چ J, ڤ V, گ G). Signs of punctuation become their Latin kin.
"""

from __future__ import annotations

from isogloss.text.transliteration.scheme import COMPOSED, Scheme, swapped, table

LETTERS = dict(
    zip(
        "ءآأؤإئابةتثجحخدذرزسشصضطظعغـفقكلمنهوىيًٌٍَُِّْٰٱپچڤگ",
        "'|>&<}AbptvjHxd*rzs$SDTZEg_fqklmnhwYyFNKaui~o`{PJVG",
        strict=True,
    )
)
SHAPES = {"ک": "ك", "ی": "ي", "ھ": "ه", "ە": "ه"}  # as Persian and Urdu keyboards give them
SIGNS = {"،": ",", "؛": ";", "؟": "?"}

SCHEME = Scheme(
    name="buckwalter",
    summary="Arabic → one ASCII sign for each letter",
    stages=(COMPOSED, table(SHAPES), table(LETTERS | SIGNS)),
    inverse=(table(swapped(LETTERS | SIGNS)), COMPOSED),
)
