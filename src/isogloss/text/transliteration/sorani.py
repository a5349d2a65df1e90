"""Central Kurdish (Sorani) in Arabic script → the Latin script of Northern Kurdish (Kurmanji), the Hawar alphabet.

Letters follow Bedir Khan's Hawar alphabet (ê î û, ç ş c j, x q). Kurmanji has one r and one l in writing, so ڕ and ڵ
are r and l; the guttural sounds are those of the extended alphabet (ح ḧ, غ ẍ, ع '). The scheme is not reversible.

Two properties are not written and are derived from the word (as in Ahmadi 2019, "A Rule-Based Kurdish Text
Transliteration System"):

- و and ی are consonants (w, y) at the start of a word and beside a vowel, vowels (u, î) elsewhere; وو is û, the word
  و is û ("and"). After a hamza they are vowels.
- The short i (bizroke) is not written. It is inserted where consonants cannot be pronounced together: after the
  first consonant of a word-initial cluster other than Cw (برا bira, but خوێن xwên), and in a syllable-final cluster of
  rising sonority (هاتن hatin, but دەست dest). This heuristic is right for most words, not for all.
"""

from __future__ import annotations

import re

from isogloss.text.transliteration.scheme import ARABIC_SIGNS, COMPOSED, INVISIBLE, Rule, Scheme, longest_first, table

# و and ی after disambiguation: code points that Sorani does not use
U, LONG_U, LONG_I, W, Y, SHORT_I = "ۇ", "ۈ", "ې", "ۋ", "ي", "\u0650"
VOWELS = {"ا": "a", "ە": "e", "ێ": "ê", "ۆ": "o", U: "u", LONG_U: "û", LONG_I: "î", SHORT_I: "i"}
CONSONANTS = {
    "ب": "b", "پ": "p", "ت": "t", "ج": "c", "چ": "ç", "ح": "ḧ", "خ": "x", "د": "d", "ر": "r", "ڕ": "r", "ز": "z",
    "ژ": "j", "س": "s", "ش": "ş", "ع": "'", "غ": "ẍ", "ف": "f", "ڤ": "v", "ق": "q", "ک": "k", "گ": "g", "ل": "l",
    "ڵ": "l", "م": "m", "ن": "n", "ه": "h", "ئ": "'", W: "w", Y: "y",
}  # fmt: skip
# variants of other keyboards, Arabic loans; h with a non-joiner was used for e before Unicode had it
SHAPES = {
    "ه\u200c": "ە", "ك": "ک", "ي": "ی", "ى": "ی", "ۍ": "ی", "ې": "ێ", "ھ": "ه", "ة": "ە", "ۀ": "ە", "ث": "س", "ص": "س",
    "ذ": "ز", "ض": "ز", "ظ": "ز", "ط": "ت", "ۋ": "ڤ", "ۇ": "و", "ۈ": "وو", "أ": "ئە", "آ": "ئا", "إ": "ئی", "ؤ": "ئو",
    "ء": "ئ", **dict.fromkeys(map(chr, range(0x64B, 0x653)), ""), **INVISIBLE,
}  # fmt: skip
SONORITY = {letter: rank for rank, letters in enumerate(("بپتدجچقکگعئ", "فڤسزشژخغهح", "من", "لڵرڕ", "ۋي"))
            for letter in letters}  # fmt: skip
RUN = "".join(SONORITY)


def semivowels(match: re.Match[str]) -> str:
    """A sequence of و and ی, each disambiguated by its neighbours."""
    run, text = match[0], match.string
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    if run in ("و", "ی") and not before.isalpha() and not after.isalpha():
        return LONG_U if run == "و" else LONG_I
    start, vowel = not before.isalpha(), before in VOWELS and before != ""
    resolved = "ئ" if run[0] == "ئ" and not start else ""
    hamza, remaining = run[0] == "ئ", run.removeprefix("ئ")
    while remaining:
        last_before_vowel = len(remaining) == 1 and after in VOWELS and after != ""
        consonant = not hamza and (vowel or start or last_before_vowel)
        if remaining.startswith("وو") and not consonant:
            resolved, remaining = resolved + LONG_U, remaining[2:]
        else:
            letters = (W, U) if remaining[0] == "و" else (Y, LONG_I)
            resolved, remaining = resolved + letters[not consonant], remaining[1:]
        start, hamza, vowel = False, False, not consonant
    return resolved


def bizroke(match: re.Match[str]) -> str:
    """A sequence of consonants with the short i inserted where needed."""
    run, text = match[0], match.string
    initial = not text[match.start() - 1 : match.start()].isalpha()
    final = not text[match.end() : match.end() + 1].isalpha()
    if initial and final:
        return run[0] + SHORT_I + syllable_end(run[1:])
    if initial:
        return run if run[1:] == W else run[0] + SHORT_I + syllable_end(run[1:-1]) + run[-1]
    return syllable_end(run) if final else syllable_end(run[:-1]) + run[-1]


def syllable_end(run: str) -> str:
    """Consonants after a vowel: one, or two of falling sonority, end its syllable; other pairs get a short i.

    >>> syllable_end("تن") == "ت" + SHORT_I + "ن", syllable_end("ست")
    (True, 'ست')
    """
    if len(run) < 2 or (len(run) == 2 and SONORITY[run[1]] < SONORITY[run[0]]):
        return run
    closing = 0 if len(run) == 2 else 2 - len(run) % 2
    pairs = run[closing:]
    return run[:closing] + "".join([pairs[i] + SHORT_I + pairs[i + 1] for i in range(0, len(pairs), 2)])


SCHEME = Scheme(
    name="sorani",
    languages="ckb",
    summary="Central Kurdish (Sorani) → Latin as in Kurmanji (Hawar)",
    stages=(
        COMPOSED,
        Rule(re.compile(r"(?<=[^\W\d_اەێۆ])ه(?![^\W\d_]|\u200c)"), lambda match: "ە"),  # له for لە
        longest_first(SHAPES),
        Rule(re.compile("(?<![^\\W\\d_])ئ(?=[اەێۆ])"), lambda match: ""),
        Rule(re.compile("ئ?[وی]+"), semivowels),
        Rule(re.compile(f"[{RUN}]{{2,}}"), bizroke),
        table(VOWELS | CONSONANTS | ARABIC_SIGNS),
    ),
)
