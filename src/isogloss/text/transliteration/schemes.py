"""Every transliteration scheme by name, and the one that suits a language.

To add a scheme: write one module that defines a `Scheme`, and add one line to `SCHEMES`.
"""

from __future__ import annotations

from isogloss.core.errors import UsageError
from isogloss.core.registry import Registry
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

# the languages that a scheme was made for; any other is uroman's
OF_LANGUAGE = {
    canonical(lang): scheme
    for scheme, langs in {
        "uyghur": "ug",
        "sorani": "ckb",
        "georgian": "ka xmf lzz sva",
        "cyrillic": "ru uk be bg mk sr kk ky tt ba cv sah mn tg os ce av kv ab",
        "uralic": "myv mdf mhr mrj kpv koi udm",
        "buryat": "bxr",
        "buckwalter": "ar arq ary arz aeb qaf",  # Narabizi is Latin: no letter of it changes
        "hepburn": "ja",
    }.items()
    for lang in langs.split()
}
OF_LANGUAGE["kv"] = "uralic"  # Komi, whose members fold into it


REVERSIBLE = ("uyghur", "iso9984", "iso9", "buckwalter", "laboratory", "permutation")


def languages_of(scheme: str) -> str:
    """The languages whose own scheme this is.

    >>> languages_of("buryat")
    'bua'
    """
    return " ".join(lang for lang, name in OF_LANGUAGE.items() if name == scheme)


def scheme_for(lang: str | None, name: str | None = None, *, seed: int = 0) -> Scheme:
    """The scheme of that name, or the one that suits the language.

    >>> scheme_for("uig").name, scheme_for("ru", "iso9").name
    ('uyghur', 'iso9')
    """
    code = canonical(lang) if lang else None
    if name == "permutation":
        return permutation.scheme(seed)
    if name == "laboratory" or (name is None and code in laboratory.LANGUAGES):
        if code not in laboratory.LANGUAGES:
            raise UsageError(f"the scheme 'laboratory' is for its languages, not '{lang}'")
        return laboratory.scheme(code)
    if name is None and code is None:
        raise UsageError("which letters? give the language (lang=) or the scheme (scheme=)")
    return SCHEMES[name or OF_LANGUAGE.get(code or "", "uroman")]


def inverse_of(scheme: Scheme, *, seed: int = 0) -> Scheme:
    """The way back, for schemes that have one."""
    if scheme.name == "permutation":
        return permutation.scheme(seed, inverse=True)
    if not scheme.inverse:
        raise UsageError(f"the scheme '{scheme.name}' cannot be undone; these can: {', '.join(REVERSIBLE)}")
    return Scheme(scheme.name, f"{scheme.summary}, undone", scheme.inverse, scheme.stages)
