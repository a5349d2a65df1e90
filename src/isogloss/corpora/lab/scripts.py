"""Spelling: every sound has one letter in every script, so that transliteration is exact.

Sounds are represented by the letters of the Latin script of the laboratory. Arabic and Georgian script have no
capitals: text that is transliterated there and back is in lower case, and otherwise unchanged.
"""

from __future__ import annotations

from functools import cache

from isogloss.core.registry import check_name

# the same sounds in the same order; Arabic script as in the Uyghur alphabet, which writes all vowels
LETTERS = {
    "Latn": "aeiouöüpbtdkgqmnñfvszšžxhčclrj",
    "Cyrl": "аеиоуөүпбтдкгқмнңфвсзшжхһчцлрй",
    "Arab": "اەىوۇۆۈپبتدكگقمنڭفۋسزشژخھچصلري",
    "Geor": "აეიოუჷჳპბტდკგყმნღფვსზშჟხჰჩცლრჲ",
}
PUNCTUATION = {"Arab": {",": "،", "?": "؟", ";": "؛"}}
CASELESS = {"Arab", "Geor"}


def transliterate(text: str, source: str, target: str) -> str:
    """The text in another script; other characters do not change.

    >>> transliterate("Nupir", "Latn", "Cyrl"), transliterate("ნუპირ", "Geor", "Latn")
    ('Нупир', 'nupir')
    """
    if target in CASELESS and source not in CASELESS:
        text = text.lower()
    return text.translate(_table(source, target))


@cache
def _table(source: str, target: str) -> dict[int, str]:
    for script in (source, target):
        check_name(script, LETTERS, "script of the laboratory")
    table = dict(zip(LETTERS[source], LETTERS[target], strict=True))
    if source not in CASELESS and target not in CASELESS:
        table |= {a.upper(): b.upper() for a, b in table.items()}
    marks = {script_mark: latin_mark for latin_mark, script_mark in PUNCTUATION.get(source, {}).items()}
    for mark, local in PUNCTUATION.get(target, {}).items():
        marks[next((m for m, latin_mark in marks.items() if latin_mark == mark), mark)] = local
    return {ord(a): b for a, b in (table | marks).items()}


def capitalised(text: str, script: str) -> str:
    """The text with a capital first letter, in scripts with capitals."""
    return text if script in CASELESS else text[:1].upper() + text[1:]
