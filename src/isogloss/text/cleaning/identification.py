"""Language and script of a line of text.

Languages are identified with `py3langid` (the extra `isogloss[identify]`), which supports 140 languages, including
Uyghur, Maltese, Faroese and Naija, with a model of 5 MB in its package. Among the maintained libraries that need no
network it supports most of the languages studied here and is the fastest. For other languages, `character_model`
learns from a sample.
"""

from __future__ import annotations

from collections.abc import Container
from functools import cache
from typing import Any, NamedTuple

from isogloss.core.registry import import_extra
from isogloss.languages.codes import canonical
from isogloss.languages.scripts import letter_script

COMPONENT_SCRIPTS = {"Jpan": ("Hira", "Kana", "Hani"), "Kore": ("Hang", "Hani"), "Hang": ("Hang", "Hani")}


class Guess(NamedTuple):
    """A language and its probability."""

    lang: str
    probability: float


def identify(text: str) -> Guess:
    """The language of a text: `identify("ياخشىمۇسىز، دوستۇم").lang` is `"ug"`."""
    lang, probability = _identifier().classify(text)
    return Guess(canonical(lang), float(probability))


@cache
def identifiable(lang: str) -> bool:
    """Whether `identify` supports a language."""
    return canonical(lang) in map(canonical, _identifier().labels)


def script_share(text: str, scripts: Container[str]) -> float:
    """The share of the letters of a text that belong to one of the scripts; 0 for a text without letters.

    >>> script_share("мир abc", {"Cyrl"}), script_share("東京へ", {"Jpan"})
    (0.5, 1.0)
    """
    components = {part for combined, parts in COMPONENT_SCRIPTS.items() if combined in scripts for part in parts}
    letter_scripts = [script for char in text if (script := letter_script(char))]
    matching = sum(script in scripts or script in components for script in letter_scripts)
    return matching / max(1, len(letter_scripts))


@cache
def _identifier() -> Any:
    langid = import_extra("py3langid", "identify").langid
    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
