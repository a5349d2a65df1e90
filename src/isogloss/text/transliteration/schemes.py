"""Every transliteration scheme by name, and the default scheme of a language.

To add a scheme: write one module that defines a `Scheme`, and add one line to `SCHEMES`.
"""

from __future__ import annotations

from functools import cache

from isogloss.core.errors import UsageError
from isogloss.core.registry import Registry
from isogloss.languages.checks import check_language
from isogloss.languages.codes import canonical
from isogloss.text.transliteration import laboratory, permutation
from isogloss.text.transliteration.scheme import Scheme

HERE = "isogloss.text.transliteration"
SCHEMES: Registry[Scheme] = Registry(
    "transliteration scheme",
    {
        "uyghur": f"{HERE}.uyghur:SCHEME",
        "sorani": f"{HERE}.sorani:SCHEME",
        "georgian": f"{HERE}.georgian:SCHEME",
        "iso9984": f"{HERE}.georgian:ISO",
        "cyrillic": f"{HERE}.cyrillic:SCHEME",
        "uralic": f"{HERE}.cyrillic:FINNIC",
        "buryat": f"{HERE}.cyrillic:MONGOLIC",
        "iso9": f"{HERE}.cyrillic:ISO",
        "buckwalter": f"{HERE}.buckwalter:SCHEME",
        "hepburn": f"{HERE}.japanese:SCHEME",
        "uroman": f"{HERE}.roman:SCHEME",
        "permutation": f"{HERE}.permutation:DEFAULT",
        "laboratory": f"{HERE}.laboratory:DEFAULT",
    },
)


@cache
def scheme_by_language() -> dict[str, str]:
    """The default scheme of each language that has one; uroman for all others."""
    return {canonical(lang): name for name, scheme in SCHEMES.items() for lang in scheme.languages.split()}


def scheme_for(lang: str | None, name: str | None = None, *, seed: int = 0) -> Scheme:
    """The scheme with this name, or the default scheme of the language.

    >>> scheme_for("uig").name, scheme_for("ru", "iso9").name
    ('uyghur', 'iso9')
    """
    code = check_language(lang) if lang else None
    if name == "permutation":
        return permutation.scheme(seed)
    if name == "laboratory" or (name is None and code in laboratory.LANGUAGES):
        if code not in laboratory.LANGUAGES:
            raise UsageError(f"the scheme 'laboratory' is for the languages of the laboratory, not for '{lang}'")
        return laboratory.scheme(code)
    if name is None and code is None:
        raise UsageError("expected a language (lang=) or a scheme (scheme=), got neither")
    return SCHEMES[name or scheme_by_language().get(code or "", "uroman")]


def inverse_of(scheme: Scheme) -> Scheme:
    """The scheme back to the original script, if it is reversible."""
    if not scheme.inverse:
        reversible = ", ".join(name for name in SCHEMES if SCHEMES[name].inverse)
        raise UsageError(f"the scheme '{scheme.name}' is not reversible; these are: {reversible}")
    return Scheme(scheme.name, f"{scheme.summary}, inverted", scheme.inverse, scheme.stages)
