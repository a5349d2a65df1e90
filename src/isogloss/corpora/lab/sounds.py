"""Phonology of language families, and the sound changes of their daughter languages.

Sound changes use the notation of historical linguistics: `t > d / V_V` changes t into d between vowels.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from isogloss.core.errors import UsageError
from isogloss.core.seeds import Chance

VOWELS = "aeiouöüAI"  # A and I: vowels that harmonise with the stem
CONSONANTS = "pbtdkgqmnñfvszšžxhčclrj"
CLASSES = {"V": f"[{VOWELS}]", "C": f"[{CONSONANTS}]", "#": "\\b"}
CHANGE = re.compile(r"(\S+) > (\S+)(?: / (\S*)_(\S*))?")
HARMONY = {"back": str.maketrans("AI", "au"), "front": str.maketrans("AI", "ei")}


@dataclass(frozen=True)
class Phonology:
    """The sounds, syllables and word lengths of a family."""

    onsets: str  # repeated consonants are more frequent
    vowels: str
    codas: str  # "-": none
    lengths: tuple[int, ...] = (2, 2, 2, 3)  # syllables of a content word
    affix_vowels: str = ""  # if different from `vowels`: harmonising vowels

    def word(self, chance: Chance, kind: str) -> str:
        """A new root, function word or affix (shorter, and often starting with a vowel)."""
        if kind == "affix":
            vowels = self.affix_vowels or self.vowels
            shape = chance.choose(("V", "VC", "VC", "CV", "CVC"))
            return "".join(chance.choose(vowels if part == "V" else self.onsets) for part in shape)
        syllables = 1 if kind == "function" else chance.choose(self.lengths)
        word = "".join(chance.choose(self.onsets) + chance.choose(self.vowels) for _ in range(syllables - 1))
        return word + chance.choose(self.onsets) + chance.choose(self.vowels) + chance.choose(self.codas).strip("-")


@cache
def parse_change(change: str) -> tuple[re.Pattern[str], str]:
    match = CHANGE.fullmatch(change)
    if not match:
        raise UsageError(f"expected a sound change such as 't > d / V_V', got '{change}'")
    sound, replacement, before, after = match.groups(default="")
    lookbehind = f"(?<={_context(before)})" if before and before != "#" else _context(before)
    lookahead = f"(?={_context(after)})" if after and after != "#" else _context(after)
    return re.compile(f"{lookbehind}{_context(sound)}{lookahead}"), "" if replacement == "∅" else replacement


def evolve(word: str, changes: str) -> str:
    """A word after a sequence of sound changes, separated by commas.

    >>> evolve("pataka", "t > d / V_V, p > f / #_, a > ∅ / _#")
    'fadak'
    """
    for change in filter(None, changes.split(", ")):
        pattern, replacement = parse_change(change)
        word = pattern.sub(replacement, word)
    return word


def join(stem: str, affix: str, link: str = "n") -> str:
    """Stem and suffix (or prefix and stem) as one word, with a linking sound between two vowels.

    >>> join("kato", "in"), join("kat", "in")
    ('katonin', 'katin')
    """
    meet = bool(stem and affix) and stem[-1] in VOWELS and affix[0] in VOWELS
    return stem + link + affix if meet else stem + affix


def harmonised(word: str) -> str:
    """Suffix vowels A and I harmonise with the last vowel of the stem.

    >>> harmonised("kütlAr"), harmonised("kutlAr")
    ('kütler', 'kutlar')
    """
    stem_vowels = [sound for sound in word if sound in "aeiouöü"]
    return word.translate(HARMONY["front" if stem_vowels and stem_vowels[-1] in "eiöü" else "back"])


def _context(text: str) -> str:
    return "".join(CLASSES.get(sound, sound) for sound in text)
