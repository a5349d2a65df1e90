"""Cyrillic → Latin, for Slavic, Uralic, Mongolic and other languages.

- `cyrillic`: the scholarly transliteration of Slavic studies (ISO/R 9:1968), with an apostrophe for ь and nothing
  that Latin-script languages do not write: ж ž, х x, щ šč, ю ju, я ja, э è. Letters sound as in Russian, also where
  Ukrainian (и, г) or Bulgarian (щ, ъ) read them otherwise.
- `uralic`: for Erzya, Moksha, Mari, Komi, Udmurt: the same as their Finnic relatives would spell it, with х h, э e,
  е je at the start of a word and after a vowel (as in the Finnish standard SFS 4900), ӱ ü, ӧ ö, ӓ ä, ҥ ŋ.
- `buryat`: the same for Buryat, with ө ö, ү ü (as in ALA-LC's Mongolian table), э e and һ h beside х x.
- `iso9`: ISO 9:1995, one sign for each letter of any Cyrillic alphabet, which can be undone.
"""

from __future__ import annotations

import re

from isogloss.text.transliteration.scheme import (
    COMPOSED,
    Rule,
    Scheme,
    letters,
    longest_first,
    swapped,
    table,
    with_capitals,
)

RUSSIAN = "абвгдеёжзийклмнопрстуфхцчшщъыьэюя"
SCHOLARLY = dict(
    zip(RUSSIAN, letters("a b v g d e ë ž z i j k l m n o p r s t u f x c č š šč ' y ' è ju ja"), strict=True)
) | {
    "і": "i", "ї": "ji", "є": "je", "ґ": "g", "ў": "w", "ђ": "đ", "ћ": "ć", "ј": "j", "љ": "lj", "њ": "nj", "џ": "dž",
    "ѓ": "ǵ", "ќ": "ḱ", "ѕ": "dz", "ѣ": "ě", "ә": "ä", "ғ": "ğ", "қ": "q", "ң": "ñ", "ҥ": "ŋ", "ө": "ö", "ү": "ü",
    "ұ": "u", "һ": "h", "җ": "dž", "ӑ": "ă", "ӗ": "ĕ", "ҫ": "ś", "ӳ": "ü", "ӓ": "ä", "ӧ": "ö", "ӱ": "ü", "ӹ": "ÿ",
    "ӝ": "dž", "ӟ": "dź", "ӥ": "i", "ӵ": "č", "ҕ": "ğ", "ӣ": "ī", "ӯ": "ū", "ҳ": "h", "ҷ": "dž", "ӕ": "æ",
}  # fmt: skip
URALIC = SCHOLARLY | {"х": "h", "э": "e", "ё": "jo"}
BURYAT = SCHOLARLY | {"э": "e", "ё": "jo"}
ISO_9 = dict(
    zip(RUSSIAN, letters("a b v g d e ë ž z i j k l m n o p r s t u f h c č š ŝ ʺ y ʹ è û â"), strict=True)
) | {
    "і": "ì", "ї": "ï", "є": "ê", "ґ": "g̀", "ў": "ŭ", "ђ": "đ", "ћ": "ć", "ј": "ǰ", "љ": "l̂", "њ": "n̂", "џ": "d̂",
    "ѓ": "ǵ", "ќ": "ḱ", "ѕ": "ẑ", "ѣ": "ě", "ә": "a̋", "ғ": "ġ", "қ": "ķ", "ң": "ņ", "ҥ": "ṅ", "ө": "ô", "ү": "ù",
    "ұ": "u̇", "һ": "ḥ", "ӑ": "ă", "ӗ": "ĕ", "ҫ": "ç", "ӳ": "ű", "ӓ": "ä", "ӧ": "ö", "ӱ": "ü", "ӹ": "ÿ", "ӝ": "z̄",
    "ӟ": "z̈", "ӥ": "î", "ӵ": "c̈", "ҕ": "ğ", "ӣ": "ī", "ӯ": "ū", "ҳ": "ḩ",
}  # fmt: skip
# a capital of several letters is all capitals among capitals: РОССИЯ ROSSIJA, Яна Jana, Я Ja
LOUD = r"(?<=[{upper}]){letter}(?![{lower}])|{letter}(?=[{upper}])"


def loud(pairs: dict[str, str]) -> Rule:
    """Capitals that become several letters, where they stand among capitals."""
    capitals = {old.upper(): new.upper() for old, new in pairs.items() if len(new) > 1}
    upper, lower = "".join(pairs).upper(), "".join(pairs)
    pattern = LOUD.format(letter=f"[{''.join(capitals)}]", upper=upper, lower=lower)
    return Rule(re.compile(pattern), lambda match: capitals[match[0]])


# е is je at the start of a word, after a vowel and after a sign that parts it from a consonant
IOTATED = Rule(
    re.compile(r"(?<![^\W\d_])[еЕ]|(?<=[аеёиоуыэюяӓӧӱӹАЕЁИОУЫЭЮЯӒӦӰӸьъЬЪ])[еЕ]"),
    lambda match: {"е": "je", "Е": "JE" if match.string[match.end() : match.end() + 1].isupper() else "Je"}[match[0]],
)

SCHEME = Scheme(
    name="cyrillic",
    summary="Cyrillic → Latin, scholarly (ISO/R 9:1968)",
    stages=(COMPOSED, loud(SCHOLARLY), table(with_capitals(SCHOLARLY))),
)
FINNIC = Scheme(
    name="uralic",
    summary="Erzya, Moksha, Mari, Komi, Udmurt → Latin as Finnic languages spell",
    stages=(COMPOSED, IOTATED, loud(URALIC), table(with_capitals(URALIC))),
)
MONGOLIC = Scheme(
    name="buryat",
    summary="Buryat → Latin",
    stages=(COMPOSED, loud(BURYAT), table(with_capitals(BURYAT))),
)
ISO = Scheme(
    name="iso9",
    summary="Cyrillic → Latin, one sign for each letter (ISO 9:1995)",
    stages=(COMPOSED, table(with_capitals(ISO_9))),
    inverse=(COMPOSED, longest_first(swapped(with_capitals(ISO_9)))),
)
