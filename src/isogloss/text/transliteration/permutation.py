"""A control condition: a random permutation of the letters of each script.

A model cannot use what it learnt about spelling, while all other properties of a text stay. Diacritics stay with their
letter (é → ú if e → u), capitals follow lower-case letters, and letters of scripts without an alphabet here do not
change. The permutation depends only on the seed and the script, so that training, test and raw text agree.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from isogloss.core.seeds import Chance
from isogloss.text.transliteration.scheme import COMPOSED, Scheme, Table, swapped

ALPHABETS = {
    "Latn": "abcdefghijklmnopqrstuvwxyz",
    "Cyrl": "абвгдежзиклмнопрстуфхцчшщъыьэюя",
    "Grek": "αβγδεζηθικλμνξοπρστυφχψω",
    "Arab": "ابتثجحخدذرزسشصضطظعغفقكلمنهويىپچژگکی",
    "Geor": "აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰ",
    "Hebr": "אבגדהוזחטיכלמנסעפצקרשת",
    "Armn": "աբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցփքօֆ",
    "Deva": "कखगघङचछजझञटठडढणतथदधनपफबभमयरलवशषसह",
    "Ethi": "ሀለሐመሠረሰሸቀበተቸኀነኘአከኸወዐዘዠየደጀገጠጨጰጸፀፈፐ",
    "Thai": "กขคฆงจฉชซญณดตถทนบปผฝพฟภมยรลวศษสหอฮ",
    "Hira": "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをん",
    "Kana": "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン",
}


class Permuted(dict[int, str]):
    """A table for `str.translate` that is filled on demand."""

    def __init__(self, letters: dict[str, str]):
        self.letters = letters

    def __missing__(self, code: int) -> str:
        parts = unicodedata.normalize("NFD", chr(code))
        self[code] = self.letters[parts[0]] + parts[1:] if parts[0] in self.letters else chr(code)
        return self[code]


@cache
def scheme(seed: int = 0) -> Scheme:
    """The permutation of a seed."""
    letters: dict[str, str] = {}
    for script, alphabet in ALPHABETS.items():
        small = dict(zip(alphabet, Chance(seed, "permutation", script).shuffled(alphabet), strict=True))
        letters |= small | {a.upper(): b.upper() for a, b in small.items() if len(a.upper()) == len(b.upper()) == 1}
    stages, inverse = ((COMPOSED, Table(Permuted(table)), COMPOSED) for table in (letters, swapped(letters)))
    return Scheme("permutation", "random permutation of the letters of each script: a control", stages, inverse)


DEFAULT = scheme()
