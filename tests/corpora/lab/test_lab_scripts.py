"""Every sound has one letter in every script: transliteration inverts exactly."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.core.errors import UnknownName, UsageError
from isogloss.corpora.lab.concepts import names
from isogloss.corpora.lab.scripts import CASELESS, LETTERS, PUNCTUATION, capitalised, transliterate
from isogloss.corpora.lab.sounds import CONSONANTS, VOWELS, evolve, harmonised, join

UNICODE_NAME = {"Latn": "LATIN", "Cyrl": "CYRILLIC", "Arab": "ARABIC", "Geor": "GEORGIAN"}
latin_text = st.text(alphabet=LETTERS["Latn"] + " .,?;0123456789", max_size=30)


@pytest.mark.parametrize("script", LETTERS)
def test_letters_are_distinct_and_of_their_script(script: str) -> None:
    letters = LETTERS[script]
    assert len(set(letters)) == len(letters) == len(LETTERS["Latn"])
    assert all(unicodedata.name(letter).startswith(UNICODE_NAME[script]) for letter in letters)
    assert unicodedata.normalize("NFC", letters) == letters


def test_every_sound_has_a_letter() -> None:
    assert set(LETTERS["Latn"]) == (set(VOWELS) | set(CONSONANTS)) - {"A", "I"}


@pytest.mark.parametrize("script", LETTERS)
@given(text=latin_text)
def test_there_and_back_in_lower_case(script: str, text: str) -> None:
    assert transliterate(transliterate(text, "Latn", script), script, "Latn") == text


@given(text=st.text(alphabet=LETTERS["Latn"] + LETTERS["Latn"].upper() + " .,", max_size=30))
def test_cyrillic_keeps_capitals_and_caseless_scripts_lower_them(text: str) -> None:
    assert transliterate(transliterate(text, "Latn", "Cyrl"), "Cyrl", "Latn") == text
    assert transliterate(transliterate(text, "Latn", "Geor"), "Geor", "Latn") == text.lower()


@given(text=latin_text)
def test_between_two_other_scripts_is_the_same_as_through_latin(text: str) -> None:
    arabic, georgian = transliterate(text, "Latn", "Arab"), transliterate(text, "Latn", "Geor")
    assert transliterate(arabic, "Arab", "Geor") == georgian
    assert transliterate(georgian, "Geor", "Arab") == arabic


def test_arabic_punctuation() -> None:
    assert transliterate("ba, da?", "Latn", "Arab").endswith("؟")
    assert set(PUNCTUATION) <= CASELESS


def test_unknown_script_is_named() -> None:
    with pytest.raises(UnknownName, match="did you mean 'Latn'"):
        transliterate("a", "Latin", "Geor")


def test_names_are_distinct_and_spelt_alike_in_every_script() -> None:
    every = [name for kind in ("given", "surname", "place", "organisation") for name in names(kind)]
    assert len(set(every)) == len(every) == 850
    for script in LETTERS:
        assert len({transliterate(name, "Latn", script) for name in every}) == len(every)


def test_capitals() -> None:
    assert (capitalised("šado", "Latn"), capitalised("ბა", "Geor"), capitalised("", "Latn")) == ("Šado", "ბა", "")


def test_sound_changes_apply_in_order_and_in_context() -> None:
    assert evolve("tata", "t > d / V_V") == "tada"
    assert evolve("tata", "t > d, d > z / #_") == "zada"
    assert evolve("natas", "s > ∅ / _#, a > o / _#") == "nato"
    assert evolve("kina", "k > č / _i") == "čina"
    with pytest.raises(UsageError, match="t > d / V_V"):
        evolve("a", "t becomes d")


@given(st.text(alphabet="ptkbdgaeiouöü", max_size=8), st.text(alphabet="ptkbdgAI", min_size=1, max_size=3))
def test_suffixes_harmonise_and_vowels_do_not_meet(stem: str, suffix: str) -> None:
    word = join(stem, suffix, "j")
    assert word.startswith(stem)
    assert word.endswith(suffix)
    assert (word == f"{stem}j{suffix}") == (stem != "" and stem[-1] in "aeiouöü" and suffix[0] in "AI")
    assert not set(harmonised(word)) & {"A", "I"}
    assert harmonised(word).startswith(stem)
