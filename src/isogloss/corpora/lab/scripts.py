"""Spelling: every sound has one letter in every script, so that transliteration is exact.

Sounds are written inside the laboratory as the letters of its Latin script. Arabic and Georgian letters have
no capitals: what goes there and back returns in lower case; everything else returns unchanged.
"""

from __future__ import annotations

from functools import cache

from isogloss.core.registry import check_name

# The same sounds in the same order; Arabic letters follow the Uyghur alphabet, which writes all vowels.
LETTERS = {
    "Latn": "aeiouöüpbtdkgqmnñfvszšžxhčclrj",
    "Cyrl": "аеиоуөүпбтдкгқмнңфвсзшжхһчцлрй",
    "Arab": "اەىوۇۆۈپبتدكگقمنڭفۋسزشژخھچصلري",
    "Geor": "აეიოუჷჳპბტდკგყმნღფვსზშჟხჰჩცლრჲ",
}
PUNCTUATION = {"Arab": {",": "،", "?": "؟", ";": "؛"}}
CASELESS = {"Arab", "Geor"}


def transliterate(text: str, source: str, target: str) -> str:
    """The same sounds in the letters of another script; other characters stay.

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
    marks = {theirs: ours for ours, theirs in PUNCTUATION.get(source, {}).items()}
    for mark, local in PUNCTUATION.get(target, {}).items():
        marks[next((m for m, ours in marks.items() if ours == mark), mark)] = local
    return {ord(a): b for a, b in (table | marks).items()}


def capitalised(text: str, script: str) -> str:
    """With a capital first letter, in scripts that have them."""
    return text if script in CASELESS else text[:1].upper() + text[1:]
