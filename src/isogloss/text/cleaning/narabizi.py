"""Narabizi: North African Arabic typed in Latin script, with digits for sounds that Latin script lacks.

3 is ع, 7 is ح, 9 is ق, 5 is خ, 2 is a hamza ("wa7ed", "3lach", "9alb"). It is in Latin script and has no
standard spelling, so transliteration does not change it.
"""

from __future__ import annotations

import re

from isogloss.languages.scripts import script_of

# a digit for a sound, in or at the edge of a word; not "2eme", "4x4" or "mp3"
DIGIT_WORD = re.compile(
    r"\b(?=\w*[^\W\d_])[^\W\d_]*(?:[23579](?=[^\W\d_]{2})|(?<=[^\W\d_]{2})[23579])[^\W\d_23579]*\w*\b"
)
NUMBER_OR_UNIT = re.compile(
    r"\d+(?:eme|ème|er|e|h|kg|km|cm|mm|mn|min|go|mo|nd|rd|th|st|d|x|am|pm|g|k|m)s?|mp\d|\w*\d{2,}\w*"
)
MIN_DIGIT_WORD_SHARE = 0.02  # of words; in Narabizi one word in eight contains such a digit


def is_narabizi(text: str) -> bool:
    """Whether a text, preferably of a few sentences, is in Latin script with digits as letters.

    >>> is_narabizi("wa7ed ma 3labalou b had l7aja"), is_narabizi("le 2eme mp3 de 2010")
    (True, False)
    """
    words = re.findall(r"\w+", text)
    spelt = sum(is_digit_word(word) for word in words)
    return bool(spelt) and spelt >= MIN_DIGIT_WORD_SHARE * len(words) and script_of(text) == "Latn"


def is_digit_word(word: str) -> bool:
    """
    >>> is_digit_word("9alb"), is_digit_word("2eme"), is_digit_word("2010")
    (True, False, False)
    """
    return bool(DIGIT_WORD.fullmatch(word)) and not NUMBER_OR_UNIT.fullmatch(word.lower())
