"""Japanese → Hepburn, through `cutlet` (MeCab with UniDic for the readings): the extra `isogloss[japanese]`.

Readings depend on the sentence (the particle は is wa), so the words of a treebank are read in the context of their
sentence if the analysis has the same word boundaries, and without context otherwise. Long vowels are spelt as in kana
(ou, ei), loanwords by their pronunciation (カレー karee). Running text gets spaces between words. Characters that are
not in UniDic do not change.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Any

from isogloss.core.registry import import_extra
from isogloss.corpora.pieces import Piece, new_text
from isogloss.text.transliteration.scheme import Rule, Scheme

SMALL_KANA = "a i u e o ya yu yo wa tsu"
# readings of characters that normally have none outside words
ISOLATED_READINGS = {
    **dict(zip("ァィゥェォャュョヮッ", SMALL_KANA.split(), strict=True)),
    **dict(zip("ぁぃぅぇぉゃゅょゎっ", SMALL_KANA.split(), strict=True)),
    "々": "noma", "ー": "-", "〜": "~", "・": "·",
    "滞": "tai", "愍": "min",  # in UniDic only within words
}  # fmt: skip


# full-width letters and half-width kana in their usual width, character by character
USUAL_WIDTH = Rule(re.compile(".", re.S), lambda match: unicodedata.normalize("NFKC", match[0]))


class Hepburn:
    """Words in their Hepburn reading, separated by spaces."""

    def __call__(self, text: str) -> str:
        return new_text(self.pieces(text))

    def pieces(self, text: str) -> list[Piece]:
        pieces: list[Piece] = []
        space = ""  # before the next word
        for surface, white, romaji, spaced in _read(text):
            pieces.append((white + surface, (white or space) + romaji))
            space = " " if spaced else ""
        trailing = text[sum(len(old) for old, _ in pieces) :]
        return [*pieces, (trailing, trailing)] if trailing else pieces


def words_in_context(words: Sequence[str]) -> list[str]:
    """The words of a sentence in their reading in this context."""
    read = _read("".join(words))
    places = [0, *accumulate(len(surface) for surface, *_ in read)]
    romaji = dict(zip(places, [word[2] for word in read]))  # by start position
    result, start = [], 0
    for word in words:
        stop = start + len(word)
        if start in places and stop in places:
            result.append("".join([romaji[place] for place in range(start, stop) if place in romaji]))
        else:
            result.append("".join([reading[2] for reading in _read(word)]))
        start = stop
    return result


def _read(text: str) -> list[tuple[str, str, str, bool]]:
    """The words of a text: surface, preceding spaces, reading, and whether a space follows."""
    cutlet = _cutlet()
    nodes = cutlet.tagger(text)
    tokens = cutlet.romaji_tokens(nodes, capitalize=False)
    return [
        (node.surface, node.white_space, _letters(node.surface, token.surface), bool(token.space))
        for node, token in zip(nodes, tokens, strict=True)
    ]


def _letters(surface: str, romaji: str) -> str:
    """The reading by cutlet; characters that it did not convert are read one by one."""
    if not romaji:
        return "".join([ISOLATED_READINGS.get(char, char) for char in surface])
    if romaji.isascii() or len(surface) == 1:
        return ISOLATED_READINGS.get(romaji, romaji)
    return "".join([char if char.isascii() else ISOLATED_READINGS.get(char) or _read(char)[0][2] for char in romaji])


@cache
def _cutlet() -> Any:
    return import_extra("cutlet", "japanese").Cutlet(use_foreign_spelling=False, ensure_ascii=False)


SCHEME = Scheme(
    name="hepburn",
    languages="ja",
    summary="Japanese → Hepburn (isogloss[japanese])",
    stages=(USUAL_WIDTH, Hepburn()),
    in_context=words_in_context,
)
