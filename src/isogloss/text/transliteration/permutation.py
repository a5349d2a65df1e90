"""A control: every letter becomes another of its script, at random but always the same one.

What a model knows of spelling is lost while everything else about a text stays. Marks stay with their letter
(é → ú if e → u), capitals follow their small letters, and letters without a fixed alphabet here stay as they are. The
seed and the script alone decide, so that training, test and raw text agree.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from isogloss.core.seeds import Chance
from isogloss.text.transliteration.scheme import COMPOSED, Scheme, Table

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
    """A table for `str.translate` that is made as letters come up."""

    def __init__(self, letters: dict[str, str]):
        self.letters = letters

    def __missing__(self, code: int) -> str:
        parts = unicodedata.normalize("NFD", chr(code))
        self[code] = self.letters[parts[0]] + parts[1:] if parts[0] in self.letters else chr(code)
        return self[code]


@cache
def scheme(seed: int = 0, inverse: bool = False) -> Scheme:
    """The permutation of a seed, or the way back from it."""
    letters: dict[str, str] = {}
    for script, alphabet in ALPHABETS.items():
        small = dict(zip(alphabet, Chance(seed, "permutation", script).shuffled(alphabet), strict=True))
        letters |= small | {a.upper(): b.upper() for a, b in small.items() if len(a.upper()) == len(b.upper()) == 1}
    if inverse:
        letters = {new: old for old, new in letters.items()}
    stages = (COMPOSED, Table(Permuted(letters)), COMPOSED)
    return Scheme("permutation", "letters permuted at random within their script: a control", stages)


DEFAULT = scheme()
