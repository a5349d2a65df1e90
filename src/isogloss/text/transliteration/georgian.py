"""Georgian script → Latin: the national system of 2002 (Georgian, Mingrelian, Laz, Svan), and ISO 9984.

The national system (State Department of Geodesy and Cartography and the Institute of Linguistics, Tbilisi 2002) marks
ejectives with an apostrophe: კ k', ქ k. Some spellings coincide (ც and თს are ts). ISO 9984:1996 has one character for
each letter, with an apostrophe for aspirated letters (ქ k’, კ k), and is reversible.

Two letters of Mingrelian are in neither: ჷ is ə in both, ჸ (a glottal stop) an apostrophe in the first and ʔ in
the second. Capitals (Mtavruli) become capitals; the historical alphabets (Asomtavruli, Nuskhuri) are supported.
"""

from __future__ import annotations

from isogloss.text.transliteration.scheme import COMPOSED, Scheme, longest_first, swapped, table

LETTERS = "აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰჱჲჳჴჵჶჷჸ"
NATIONAL = "a b g d e v z t i k' l m n o p' zh r s t' u p k gh q' sh ch ts dz ts' ch' kh j h ey y w q o f ə '"
ISO_9984 = "a b g d e v z t’ i k l m n o p ž r s t u p’ k’ ḡ q š č’ c’ j c č x ǰ h ē y w ẖ ō f ə ʔ"
# code points of the four alphabets, which have the same order
MKHEDRULI_START, MTAVRULI_START, ASOMTAVRULI_START, NUSKHURI_START = 0x10D0, 0x1C90, 0x10A0, 0x2D00


def all_alphabets(latin: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for block in (MKHEDRULI_START, MTAVRULI_START, ASOMTAVRULI_START, NUSKHURI_START):
        for letter, sign in zip(LETTERS, latin.split(), strict=True):
            is_capital = block in (MTAVRULI_START, ASOMTAVRULI_START)
            pairs[chr(ord(letter) - MKHEDRULI_START + block)] = sign[:1].upper() + sign[1:] if is_capital else sign
    return pairs


STAGES = (COMPOSED, table(all_alphabets(NATIONAL)))
SUMMARY = "Georgian script → Latin, the national system of 2002"
SCHEME = Scheme("georgian", SUMMARY, STAGES, languages="ka xmf lzz sva")
ISO = Scheme(
    name="iso9984",
    summary="Georgian script → Latin, one character per letter (ISO 9984)",
    stages=(COMPOSED, table(all_alphabets(ISO_9984))),
    inverse=(COMPOSED, longest_first(swapped(all_alphabets(ISO_9984)))),
)
