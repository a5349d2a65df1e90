"""Narabizi: Arabic of North Africa as people type it, in Latin letters with digits for sounds Latin lacks.

3 is ع, 7 is ح, 9 is ق, 5 is خ, 2 is a hamza ("wa7ed", "3lach", "9alb"). It is Latin already and has no fixed
spelling, so transliteration leaves it alone.
"""

from __future__ import annotations

import re

from isogloss.languages.scripts import script_of

# a digit for a sound, inside or at the edge of a word of letters; "2eme", "4x4" and "mp3" are something else
WORD = re.compile(r"\b(?=\w*[^\W\d_])[^\W\d_]*(?:[23579](?=[^\W\d_]{2})|(?<=[^\W\d_]{2})[23579])[^\W\d_23579]*\w*\b")
NO_SOUND = re.compile(r"\d+(?:eme|ème|er|e|h|kg|km|cm|mm|mn|min|go|mo|nd|rd|th|st|d|x|am|pm|g|k|m)s?|mp\d|\w*\d{2,}\w*")
SHARE = 0.02  # of the words: Narabizi has a digit-letter in one word of eight


def is_narabizi(text: str) -> bool:
    """Whether a text (a few sentences, best) is in Latin letters with digits as letters.

    >>> is_narabizi("wa7ed ma 3labalou b had l7aja"), is_narabizi("le 2eme mp3 de 2010")
    (True, False)
    """
    words = re.findall(r"\w+", text)
    spelt = sum(is_digit_word(word) for word in words)
    return bool(spelt) and spelt >= SHARE * len(words) and script_of(text) == "Latn"


def is_digit_word(word: str) -> bool:
    """
    >>> is_digit_word("9alb"), is_digit_word("2eme"), is_digit_word("2010")
    (True, False, False)
    """
    return bool(WORD.fullmatch(word)) and not NO_SOUND.fullmatch(word.lower())
