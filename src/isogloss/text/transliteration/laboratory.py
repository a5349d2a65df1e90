"""Languages of the laboratory → Latin script, with the tables of `isogloss.corpora.lab.scripts`."""

from __future__ import annotations

from functools import cache

from isogloss.corpora.lab.languages import LANGUAGES
from isogloss.corpora.lab.scripts import transliterate
from isogloss.corpora.pieces import Piece
from isogloss.text.transliteration.scheme import Scheme


class Script:
    """Letters of one script of the laboratory as those of another, one to one."""

    def __init__(self, source: str, target: str):
        self.source, self.target = source, target

    def __call__(self, text: str) -> str:
        return transliterate(text, self.source, self.target)

    def pieces(self, text: str) -> list[Piece]:
        return [(char, self(char)) for char in text]


@cache
def scheme(lang: str, target: str = "Latn") -> Scheme:
    """The scheme of a language of the laboratory."""
    source = LANGUAGES[lang].script
    summary = "a language of the laboratory → Latin"
    return Scheme("laboratory", summary, (Script(source, target),), (Script(target, source),))


DEFAULT = scheme("qlj")
