"""`Scheme`: a transliteration scheme as a sequence of stages that rewrite a text one after the other.

A stage returns the new text or, for text with annotation, its pieces; both must agree. Most schemes consist of one or
two context-dependent rules and one table of letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Protocol

from isogloss.corpora.pieces import Piece, compose_pieces, new_text, substitution_pieces

CLUSTER = re.compile(r".[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed]*", re.S)
ARABIC_FORMS = re.compile("[\ufb50-\ufdff\ufe70-\ufefc]+")  # initial, medial and final forms, ligatures
MAX_CACHED_WORDS = 1 << 18


class Stage(Protocol):
    """One step of rewriting a text."""

    def __call__(self, text: str) -> str: ...

    def pieces(self, text: str) -> list[Piece]: ...


@dataclass(frozen=True)
class Table:
    """Replaces each character independently of its context.

    >>> Table({ord("ш"): "š"})("шум")
    'šум'
    """

    letters: Mapping[int, str]

    def __call__(self, text: str) -> str:
        return text.translate(self.letters)

    def pieces(self, text: str) -> list[Piece]:
        return [(char, char.translate(self.letters)) for char in text]


@dataclass(frozen=True)
class Rule:
    """Replaces every match of a pattern by a function of the match.

    >>> Rule(re.compile("^e"), lambda match: "je")("exe")
    'jexe'
    """

    pattern: re.Pattern[str]
    replacement: Callable[[re.Match[str]], str]

    def __call__(self, text: str) -> str:
        return self.pattern.sub(self.replacement, text)

    def pieces(self, text: str) -> list[Piece]:
        replacements = [self.replacement(match) for match in self.pattern.finditer(text)]
        return substitution_pieces(self.pattern, replacements, text)


@dataclass(frozen=True)
class Composed:
    """Unicode normalisation: NFC, and Arabic presentation forms as letters."""

    def __call__(self, text: str) -> str:
        if text.isascii():
            return text
        text = ARABIC_FORMS.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
        return unicodedata.normalize("NFC", text)

    def pieces(self, text: str) -> list[Piece]:
        pieces = [(cluster, self(cluster)) for cluster in CLUSTER.findall(text)]
        composed = self(text)
        return pieces if new_text(pieces) == composed else [(text, composed)]  # letters composed of letters (jamo)


COMPOSED = Composed()


class WordCache(dict[str, str]):
    """Words and their transliteration, computed once."""

    def __init__(self, stages: Sequence[Stage]):
        self.stages = stages

    def __missing__(self, word: str) -> str:
        if len(self) >= MAX_CACHED_WORDS:
            self.clear()
        self[word] = reduce(lambda text, stage: stage(text), self.stages, word)
        return self[word]


@dataclass(frozen=True)
class Scheme:
    """A transliteration scheme.

    `languages`: language codes, separated by spaces, for which it is the default. `inverse`: the stages back to the
    original script; empty if the scheme is not reversible. `in_context`: for schemes in which the reading of a word
    depends on its sentence; in all other schemes words are independent and cached.
    """

    name: str
    summary: str  # one line, for `isogloss ls`
    stages: Sequence[Stage]
    inverse: Sequence[Stage] = ()
    in_context: Callable[[Sequence[str]], list[str]] | None = None
    languages: str = ""

    def __call__(self, text: str) -> str:
        if self.in_context:
            return new_text(self.pieces(text))
        return " ".join(map(self._word_cache.__getitem__, text.split(" ")))

    @cached_property
    def _word_cache(self) -> WordCache:
        return WordCache(self.stages)

    def pieces(self, text: str) -> list[Piece]:
        pieces = self.stages[0].pieces(text)
        for stage in self.stages[1:]:
            pieces = compose_pieces(pieces, stage.pieces(new_text(pieces)))
        return pieces

    def words(self, words: Sequence[str]) -> list[str]:
        """The words of a sentence; a word that would become empty (a single mark) is not changed."""
        rewritten = self.in_context(words) if self.in_context else map(self, words)
        return [after or before for before, after in zip(words, rewritten, strict=True)]


def table(pairs: Mapping[str, str]) -> Table:
    return Table({ord(old): new for old, new in pairs.items()})


def with_capitals(pairs: Mapping[str, str]) -> dict[str, str]:
    """The letters and their capitals; only the first letter of a digraph is capitalised.

    >>> with_capitals({"щ": "šč"})
    {'щ': 'šč', 'Щ': 'Šč'}
    """
    return {**pairs, **{old.upper(): new[:1].upper() + new[1:] for old, new in pairs.items() if old.upper() != old}}


def longest_first(pairs: Mapping[str, str]) -> Rule:
    """A rule for letters of several characters: the longest match.

    >>> longest_first({"s": "с", "sh": "ш"})("shs")
    'шс'
    """
    pattern = "|".join(map(re.escape, sorted(pairs, key=lambda old: (-len(old), old))))
    return Rule(re.compile(pattern), lambda match: pairs[match[0]])


def swapped(pairs: dict[str, str]) -> dict[str, str]:
    """The inverse table; if two letters have the same replacement, the first."""
    return {new: old for old, new in reversed(pairs.items())}


ARABIC_PUNCTUATION = {"،": ",", "؛": ";", "؟": "?"}
ARABIC_SIGNS = {
    **ARABIC_PUNCTUATION, "٪": "%", "٫": ".", "٬": ",", "۔": ".",
    **{chr(zero + n): str(n) for zero in (0x660, 0x6F0) for n in range(10)},
}  # fmt: skip
INVISIBLE = dict.fromkeys("\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u061c\u0640\ufeff", "")  # joiners, marks, tatweel
