"""What a transliteration scheme is made of: stages that rewrite a text one after the other.

A stage gives the new text quickly and, where someone must follow it, its pieces; a property test holds the two
together. Most schemes are a rule or two for what depends on its neighbours, then one table of letters.
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
ARABIC_FORMS = re.compile("[\ufb50-\ufdff\ufe70-\ufefc]+")  # letters as drawn: initial, medial, final, ligatures


REMEMBERED = 1 << 18  # words


class Stage(Protocol):
    """One rewriting of a text."""

    def __call__(self, text: str) -> str: ...

    def pieces(self, text: str) -> list[Piece]: ...


@dataclass(frozen=True)
class Table:
    """Each character by itself, whatever stands beside it.

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
    """Whatever a pattern matches, as a function of the match.

    >>> Rule(re.compile("^e"), lambda match: "je")("exe")
    'jexe'
    """

    pattern: re.Pattern[str]
    replacement: Callable[[re.Match[str]], str]

    def __call__(self, text: str) -> str:
        return self.pattern.sub(self.replacement, text)

    def pieces(self, text: str) -> list[Piece]:
        return substitution_pieces(
            self.pattern, [self.replacement(match) for match in self.pattern.finditer(text)], text
        )


@dataclass(frozen=True)
class Composed:
    """Letters and their marks in one character where Unicode has it (NFC), Arabic letters free of their shapes."""

    def __call__(self, text: str) -> str:
        if text.isascii():
            return text
        text = ARABIC_FORMS.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
        return unicodedata.normalize("NFC", text)

    def pieces(self, text: str) -> list[Piece]:
        pieces = [(cluster, self(cluster)) for cluster in CLUSTER.findall(text)]
        whole = self(text)
        return pieces if new_text(pieces) == whole else [(text, whole)]  # letters that are made of letters (jamo)


COMPOSED = Composed()


class Memory(dict[str, str]):
    """What stages make of the words of a language, each found out once."""

    def __init__(self, stages: Sequence[Stage]):
        self.stages = stages

    def __missing__(self, word: str) -> str:
        if len(self) >= REMEMBERED:
            self.clear()
        new = word
        for stage in self.stages:
            new = stage(new)
        self[word] = new
        return new


@dataclass(frozen=True)
class Scheme:
    """A way to write a language in other letters. `inverse` is there where the scheme can be undone.

    `in_context` is for schemes that need the sentence to read its words; in all others a space parts what stands
    before it from what follows, so that every word is rewritten once and then remembered.
    """

    name: str
    summary: str  # one line, for `isogloss ls`
    stages: Sequence[Stage]
    inverse: Sequence[Stage] = ()
    in_context: Callable[[Sequence[str]], list[str]] | None = None

    def __call__(self, text: str) -> str:
        if self.in_context:
            return new_text(self.pieces(text))
        return " ".join(map(self._memory.__getitem__, text.split(" ")))

    @cached_property
    def _memory(self) -> Memory:
        return Memory(self.stages)

    def pieces(self, text: str) -> list[Piece]:
        def then(pieces: list[Piece], stage: Stage) -> list[Piece]:
            return compose_pieces(pieces, stage.pieces(new_text(pieces)))

        return reduce(then, self.stages[1:], self.stages[0].pieces(text))

    def words(self, words: Sequence[str]) -> list[str]:
        """Each word of a sentence; one that would vanish (a mark alone) stays as it is."""
        new = self.in_context(words) if self.in_context else map(self, words)
        return [after or before for before, after in zip(words, new, strict=True)]


def table(pairs: Mapping[str, str]) -> Table:
    return Table({ord(old): new for old, new in pairs.items()})


def letters(listed: str) -> list[str]:
    """A row of letters, some of several characters, with spaces between them."""
    return listed.split()


def with_capitals(pairs: Mapping[str, str]) -> dict[str, str]:
    """Lower-case letters and their capitals; a digraph begins with one.

    >>> with_capitals({"щ": "šč"})
    {'щ': 'šč', 'Щ': 'Šč'}
    """
    return {**pairs, **{old.upper(): new[:1].upper() + new[1:] for old, new in pairs.items() if old.upper() != old}}


def longest_first(pairs: Mapping[str, str]) -> Rule:
    """A rule for letters of several characters: the longest that fits.

    >>> longest_first({"s": "с", "sh": "ш"})("shs")
    'шс'
    """
    pattern = "|".join(map(re.escape, sorted(pairs, key=lambda old: (-len(old), old))))
    return Rule(re.compile(pattern), lambda match: pairs[match[0]])


def swapped(pairs: Mapping[str, str]) -> dict[str, str]:
    """The way back; where two letters became one, the first."""
    back: dict[str, str] = {}
    for old, new in pairs.items():
        back.setdefault(new, old)
    return back


ARABIC_SIGNS = {"،": ",", "؛": ";", "؟": "?", "٪": "%", "٫": ".", "٬": ",", "۔": "."}
ARABIC_DIGITS = {chr(zero + n): str(n) for zero in (0x660, 0x6F0) for n in range(10)}
INVISIBLE = dict.fromkeys("\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u061c\u0640\ufeff", "")  # joiners, marks, tatweel
