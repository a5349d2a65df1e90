"""Language codes that a person writes: the canonical code, or an error that suggests one."""

from __future__ import annotations

import difflib
import re

import langcodes

from isogloss.core.errors import UnknownName
from isogloss.languages.codes import canonical
from isogloss.languages.facts import languages

EXPECTED = (
    "an ISO 639 or BCP-47 code such as en, kmr or zh-Hant (`isogloss ls languages`), or a private code: "
    "qaa to qtz, or x-NAME"
)
# names in treebanks and data sets that differ from those of the database
COMMON_NAMES = {
    "cantonese": "yue", "dari": "fa-AF", "farsi": "fa", "flemish": "nl", "frisian": "fy", "kurmanji": "kmr",
    "mandarin": "zh", "naija": "pcm", "odia": "or", "punjabi": "pa", "sorani": "ckb", "taiwanese": "nan",
    "uyghur": "ug", "zazaki": "zza",
}  # fmt: skip
PRIVATE_COUNTRIES = re.compile("aa|q[m-z]|x[a-z]|zz")
MIN_NAME_RATIO = 0.8  # similarity of a misspelt name, by difflib


def check_language(code: str) -> str:
    """The canonical form of a language code, or of both codes of a pair (`en>fr`).

    >>> check_language("eng"), check_language("x-mine"), check_language("eng>rus")
    ('en', 'x-mine', 'en>ru')
    """
    return ">".join(map(_checked, code.split(">")))


def _checked(code: str) -> str:
    if langcodes.tag_is_valid(code) or code in languages():  # new codes are in one of the two lists
        return canonical(code)
    suggested = suggested_code(code)
    hint = f"did you mean '{suggested}' ({languages()[suggested.partition('-')[0]].name})? " if suggested else ""
    raise UnknownName(f"unknown language code '{code}'; {hint}expected {EXPECTED}")


def suggested_code(text: str) -> str | None:
    """The code of the language with this name, misspelt or not; or the language of the country with this code.

    >>> suggested_code("kurmanji"), suggested_code("Ukranian"), suggested_code("jp"), suggested_code("xx")
    ('kmr', 'uk', 'ja', None)
    """
    if len(text) == 2 and langcodes.tag_is_valid(f"und-{text}") and not PRIVATE_COUNTRIES.fullmatch(text.lower()):
        return langcodes.Language.get(f"und-{text}").maximize().language
    if len(text) <= 3:
        return None
    by_length = sorted(languages().items(), key=lambda item: -len(item[0]))  # of equal names, the shorter code wins
    names = {language.name.lower(): code for code, language in by_length} | COMMON_NAMES
    close = difflib.get_close_matches(text.lower(), names, n=1, cutoff=MIN_NAME_RATIO)
    return names[close[0]] if close else None
