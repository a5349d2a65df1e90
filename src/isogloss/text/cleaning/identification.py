"""Language and script of a line of text.

Languages are told by `py3langid` (the extra `isogloss[identify]`): 140 of them, Uyghur, Maltese, Faroese and Naija
among them, from a file of 5 MB that it brings along. Of the kept-up libraries that need no network it was the one
that knew most of the languages that matter here, and the fastest. For a language that it does not know there is
`character_model`, which learns from a sample.
"""

from __future__ import annotations

from collections.abc import Container
from functools import cache
from typing import Any, NamedTuple

from isogloss.core.errors import MissingExtra
from isogloss.languages.codes import canonical
from isogloss.languages.scripts import letter_script

PARTS = {"Jpan": ("Hira", "Kana", "Hani"), "Kore": ("Hang", "Hani"), "Hang": ("Hang", "Hani")}


class Guess(NamedTuple):
    """A language, and how sure the library is of it."""

    lang: str
    probability: float


def identify(text: str) -> Guess:
    """The language of a text: `identify("ياخشىمۇسىز، دوستۇم").lang` is `"ug"`."""
    lang, probability = _identifier().classify(text)
    return Guess(canonical(lang), float(probability))


def identifiable(lang: str) -> bool:
    """Whether `identify` knows a language."""
    return canonical(lang) in _languages()


def script_share(text: str, scripts: Container[str]) -> float:
    """The share of a text's letters that are of one of the scripts; 0 for a text without letters.

    >>> script_share("мир abc", {"Cyrl"}), script_share("東京へ", {"Jpan"})
    (0.5, 1.0)
    """
    wanted = {part for whole, parts in PARTS.items() if whole in scripts for part in parts}
    found = [script for char in text if (script := letter_script(char))]
    return sum(script in scripts or script in wanted for script in found) / max(1, len(found))


@cache
def _languages() -> frozenset[str]:
    return frozenset(map(canonical, _identifier().labels))


@cache
def _identifier() -> Any:
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError:
        raise MissingExtra("py3langid", "identify") from None
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
