"""Cyrillic → Latin, for Slavic, Uralic, Mongolic and other languages.

- `cyrillic`: the scholarly transliteration of Slavic studies (ISO/R 9:1968), with an apostrophe for ь and only
  letters that Latin-script languages use: ж ž, х x, щ šč, ю ju, я ja, э è. Letters have their Russian values, also
  where Ukrainian (и, г) or Bulgarian (щ, ъ) differ.
- `uralic`: for Erzya, Moksha, Mari, Komi, Udmurt: the same in the spelling of related Finnic languages, with х h, э e,
  е je at the start of a word and after a vowel (as in the Finnish standard SFS 4900), ӱ ü, ӧ ö, ӓ ä, ҥ ŋ.
- `buryat`: the same for Buryat, with ө ö, ү ü (as in ALA-LC's Mongolian table), э e and һ h beside х x.
- `iso9`: ISO 9:1995, one character for each letter of any Cyrillic alphabet, reversible.
"""

from __future__ import annotations

import re

from isogloss.text.transliteration.scheme import COMPOSED, Rule, Scheme, longest_first, swapped, table, with_capitals

RUSSIAN = "абвгдеёжзийклмнопрстуфхцчшщъыьэюя"
RUSSIAN_SCHOLARLY = "a b v g d e ë ž z i j k l m n o p r s t u f x c č š šč ' y ' è ju ja"
RUSSIAN_ISO_9 = "a b v g d e ë ž z i j k l m n o p r s t u f h c č š ŝ ʺ y ʹ è û â"
SCHOLARLY = {
    **dict(zip(RUSSIAN, RUSSIAN_SCHOLARLY.split(), strict=True)),
    "і": "i", "ї": "ji", "є": "je", "ґ": "g", "ў": "w", "ђ": "đ", "ћ": "ć", "ј": "j", "љ": "lj", "њ": "nj", "џ": "dž",
    "ѓ": "ǵ", "ќ": "ḱ", "ѕ": "dz", "ѣ": "ě", "ә": "ä", "ғ": "ğ", "қ": "q", "ң": "ñ", "ҥ": "ŋ", "ө": "ö", "ү": "ü",
    "ұ": "u", "һ": "h", "җ": "dž", "ӑ": "ă", "ӗ": "ĕ", "ҫ": "ś", "ӳ": "ü", "ӓ": "ä", "ӧ": "ö", "ӱ": "ü", "ӹ": "ÿ",
    "ӝ": "dž", "ӟ": "dź", "ӥ": "i", "ӵ": "č", "ҕ": "ğ", "ӣ": "ī", "ӯ": "ū", "ҳ": "h", "ҷ": "dž", "ӕ": "æ",
}  # fmt: skip
URALIC = SCHOLARLY | {"х": "h", "э": "e", "ё": "jo"}
BURYAT = SCHOLARLY | {"э": "e", "ё": "jo"}
ISO_9 = {
    **dict(zip(RUSSIAN, RUSSIAN_ISO_9.split(), strict=True)),
    "і": "ì", "ї": "ï", "є": "ê", "ґ": "g̀", "ў": "ŭ", "ђ": "đ", "ћ": "ć", "ј": "ǰ", "љ": "l̂", "њ": "n̂", "џ": "d̂",
    "ѓ": "ǵ", "ќ": "ḱ", "ѕ": "ẑ", "ѣ": "ě", "ә": "a̋", "ғ": "ġ", "қ": "ķ", "ң": "ņ", "ҥ": "ṅ", "ө": "ô", "ү": "ù",
    "ұ": "u̇", "һ": "ḥ", "ӑ": "ă", "ӗ": "ĕ", "ҫ": "ç", "ӳ": "ű", "ӓ": "ä", "ӧ": "ö", "ӱ": "ü", "ӹ": "ÿ", "ӝ": "z̄",
    "ӟ": "z̈", "ӥ": "î", "ӵ": "c̈", "ҕ": "ğ", "ӣ": "ī", "ӯ": "ū", "ҳ": "ḩ",
}  # fmt: skip
# digraphs are all capitals between capitals: РОССИЯ ROSSIJA, Яна Jana, Я Ja
ALL_CAPITALS = r"(?<=[{upper}]){letter}(?![{lower}])|{letter}(?=[{upper}])"


def all_capitals(pairs: dict[str, str]) -> Rule:
    """A rule for capitals with several replacement letters, between other capitals."""
    capitals = {old.upper(): new.upper() for old, new in pairs.items() if len(new) > 1}
    upper, lower = "".join(pairs).upper(), "".join(pairs)
    pattern = ALL_CAPITALS.format(letter=f"[{''.join(capitals)}]", upper=upper, lower=lower)
    return Rule(re.compile(pattern), lambda match: capitals[match[0]])


# е is je at the start of a word, after a vowel, and after a soft or hard sign
IOTATED = Rule(
    re.compile(r"(?<![^\W\d_])[еЕ]|(?<=[аеёиоуыэюяӓӧӱӹАЕЁИОУЫЭЮЯӒӦӰӸьъЬЪ])[еЕ]"),
    lambda match: {"е": "je", "Е": "JE" if match.string[match.end() : match.end() + 1].isupper() else "Je"}[match[0]],
)

SCHEME = Scheme(
    name="cyrillic",
    languages="ru uk be bg mk sr kk ky tt ba cv sah mn tg os ce av ab",
    summary="Cyrillic → Latin, scholarly (ISO/R 9:1968)",
    stages=(COMPOSED, all_capitals(SCHOLARLY), table(with_capitals(SCHOLARLY))),
)
FINNIC = Scheme(
    name="uralic",
    languages="myv mdf chm mhr mrj kv kpv koi udm",
    summary="Erzya, Moksha, Mari, Komi, Udmurt → Latin in Finnic spelling",
    stages=(COMPOSED, IOTATED, all_capitals(URALIC), table(with_capitals(URALIC))),
)
BURYAT_STAGES = (COMPOSED, all_capitals(BURYAT), table(with_capitals(BURYAT)))
MONGOLIC = Scheme("buryat", "Buryat → Latin", BURYAT_STAGES, languages="bua bxr")
ISO = Scheme(
    name="iso9",
    summary="Cyrillic → Latin, one character per letter (ISO 9:1995)",
    stages=(COMPOSED, table(with_capitals(ISO_9))),
    inverse=(COMPOSED, longest_first(swapped(with_capitals(ISO_9)))),
)
