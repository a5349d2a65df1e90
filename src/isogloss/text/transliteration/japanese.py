"""Japanese → Hepburn, through `cutlet` (MeCab with UniDic for the readings): the extra `isogloss[japanese]`.

Readings depend on the sentence (the particle は is wa), so the words of a treebank are read in their sentence where
its analysis has the same word boundaries, and alone elsewhere. Long vowels are spelt as in kana (ou, ei), loans as
they sound (カレー karee). Running text gets spaces between words. A character that UniDic cannot read stays.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Any

from isogloss.core.errors import MissingExtra
from isogloss.corpora.pieces import Piece, new_text
from isogloss.text.transliteration.scheme import Scheme, letters

# what has no sound of its own, when it stands where nothing gives it one
ALONE = {
    **dict(zip("ァィゥェォャュョヮッ", letters("a i u e o ya yu yo wa tsu"), strict=True)),
    **dict(zip("ぁぃぅぇぉゃゅょゎっ", letters("a i u e o ya yu yo wa tsu"), strict=True)),
    "々": "noma", "ー": "-", "〜": "~", "・": "·",
    "滞": "tai", "愍": "min",  # UniDic reads them within words only
}  # fmt: skip


class Width:
    """Full-width letters and half-width kana as the usual ones, character by character."""

    def __call__(self, text: str) -> str:
        return new_text(self.pieces(text))

    def pieces(self, text: str) -> list[Piece]:
        return [(char, unicodedata.normalize("NFKC", char)) for char in text]


class Hepburn:
    """Words as they are read, with a space between them where Japanese has none."""

    def __call__(self, text: str) -> str:
        return new_text(self.pieces(text))

    def pieces(self, text: str) -> list[Piece]:
        pieces: list[Piece] = []
        space = ""  # owed to the next word
        for surface, white, romaji, spaced in _read(text):
            pieces.append((white + surface, (white or space) + romaji))
            space = " " if spaced else ""
        rest = text[sum(len(old) for old, _ in pieces) :]
        return [*pieces, (rest, rest)] if rest else pieces


def words_in_context(words: Sequence[str]) -> list[str]:
    """Each word of a sentence as it is read there."""
    read = _read("".join(words))
    places = [0, *accumulate(len(surface) for surface, *_ in read)]
    romaji = dict(zip(places, [word[2] for word in read]))  # by where it begins
    result, start = [], 0
    for word in words:
        stop = start + len(word)
        if start in places and stop in places:
            result.append("".join([romaji[place] for place in range(start, stop) if place in romaji]))
        else:
            result.append("".join([alone[2] for alone in _read(word)]))
        start = stop
    return result


def _read(text: str) -> list[tuple[str, str, str, bool]]:
    """The words of a text: as written, the spaces before, as read, and whether a space follows."""
    cutlet = _cutlet()
    nodes = cutlet.tagger(text)
    tokens = cutlet.romaji_tokens(nodes, capitalize=False)
    return [
        (node.surface, node.white_space, _letters(node.surface, token.surface), bool(token.space))
        for node, token in zip(nodes, tokens, strict=True)
    ]


def _letters(surface: str, romaji: str) -> str:
    """What cutlet made of a word; characters that it left are read one by one."""
    if not romaji:
        return "".join([ALONE.get(char, char) for char in surface])
    if romaji.isascii() or len(surface) == 1:
        return ALONE.get(romaji, romaji)
    return "".join([char if char.isascii() else ALONE.get(char) or _read(char)[0][2] for char in romaji])


@cache
def _cutlet() -> Any:
    try:
        from cutlet import Cutlet
    except ImportError:
        raise MissingExtra("cutlet", "japanese") from None
    return Cutlet(use_foreign_spelling=False, ensure_ascii=False)


SCHEME = Scheme(
    name="hepburn",
    summary="Japanese → Hepburn (isogloss[japanese])",
    stages=(Width(), Hepburn()),
    in_context=words_in_context,
)
