"""Cleaning a crawl: every reason, languages that the library knows and those that a sample teaches."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import rest_slow, shared

from isogloss import clean, identify, line_filter
from isogloss.core.errors import MissingExtra, UsageError
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats import text as raw
from isogloss.text.cleaning.character_model import character_model, ngrams, sample_check
from isogloss.text.cleaning.identification import identifiable, script_share

ENGLISH = "The old house by the river was sold again last week."
LINES = [
    ENGLISH,
    "Short",
    "1234567 ---- 9876543 a",
    "Старый дом у реки был снова продан на прошлой неделе.",
    "Das alte Haus am Fluss wurde letzte Woche wieder verkauft.",
    "  the OLD house by the river was sold again last week.",
    "x" * 3000,
    "Nobody had lived in it for 12 years, they said to us.",
    "Nobody had lived in it for 15 years, they said to us.",
]


def lines_of(lang: str, number: int) -> list[str]:
    """The first lines of real text."""
    return list(islice(raw.stream_files([shared(f"data/raw/{lang}.txt.xz")]), number))


def crawl(lines: list[str], lang: str = "en") -> Corpus[str]:
    return Corpus(tuple(lines), lang, raw.FORMAT)


def test_every_line_has_one_reason() -> None:
    pytest.importorskip("py3langid")
    cleaned = clean(crawl(LINES))
    assert list(cleaned.corpus) == [LINES[0], LINES[7]]
    assert {line: reason for reason, line in cleaned.dropped} == {
        LINES[1]: "too short",
        LINES[2]: "few letters",
        LINES[3]: "other script",
        LINES[4]: "other language (de)",
        LINES[5]: "seen before",
        LINES[6]: "too long",
        LINES[8]: "seen before",
    }
    assert cleaned.counts["seen before"] == 2
    assert len(clean(crawl(LINES), line_filter("en", repeats=True)).corpus) == 4


def test_the_library_tells_languages_apart() -> None:
    pytest.importorskip("py3langid")
    assert identify(ENGLISH).lang == "en" and identify(ENGLISH).probability > 0.9
    assert identify("ياخشىمۇسىز، دوستۇم، بۈگۈن ھاۋا ياخشى").lang == "ug"
    assert identifiable("mlt") and identifiable("fo") and not identifiable("wol")


@pytest.mark.parametrize("lang", ["ug", "mt", "fo", "tr", "et"])
def test_the_library_on_real_text(lang: str) -> None:
    pytest.importorskip("py3langid")
    text = [line for line in lines_of(lang, 1000) if 40 < len(line) < 300][:300]
    assert sum(identify(line).lang == lang for line in text) / len(text) > 0.95


NEIGHBOURS = {"wo": ("fr", "bm"), "gsw": ("de",), "myv": ("ru",), "ckb": ("ug", "ar")}


@pytest.mark.parametrize("lang", rest_slow(NEIGHBOURS, fast=["gsw", "ckb"]))
def test_a_sample_teaches_a_language_that_the_library_does_not_know(lang: str) -> None:
    """Lines that the sample does not hold: nearly all of its own pass, nearly none of its neighbours'."""
    own = lines_of(lang, 1000)
    others = {name: lines_of(name, 1000) for name in NEIGHBOURS[lang]}
    check = sample_check(own[:800], {name: lines[:-200] for name, lines in others.items()})
    assert sum(check.other_language(line) is None for line in own[-200:]) >= 0.97 * 200
    for lines in others.values():
        assert sum(check.other_language(line) is not None for line in lines[-200:]) >= 0.95 * 200


def test_without_neighbours_a_line_must_look_like_the_sample() -> None:
    own, french = lines_of("wo", 1200), lines_of("fr", 200)
    check = sample_check(own[:1000], {})
    assert sum(check.other_language(line) is None for line in own[1000:]) >= 0.9 * 200
    assert sum(check.other_language(line) == "another language" for line in french) >= 0.9 * 200


def test_a_score_is_the_mean_of_log_probabilities() -> None:
    """By hand, for single letters: 'a' twice and ' ' twice and 'b' once out of five."""
    from math import isclose, log

    model = character_model(["aa b"])
    assert ngrams("aa b", 1) == [" ", "a", "a", " ", "b", " "]
    total, kinds = 6, 3
    first = [log((count + 0.5) / (total + 0.5 * kinds)) for count in (3, 2, 3)]  # " a "
    only_letters = type(model)(model.counts[:1] * 4, model.totals[:1] * 4)
    parts = [sum(first) / 3]
    for order in (2, 3, 4):  # n-grams that single letters do not have
        assert all(gram not in model.counts[0] for gram in ngrams("a", order))
        parts.append(log(0.5 / (total + 0.5 * kinds)))
    assert isclose(only_letters.score("a"), sum(parts) / 4)


@given(st.text(max_size=40))
def test_any_line_is_judged(line: str) -> None:
    pytest.importorskip("py3langid")
    chosen = line_filter("wo", script="Latn")  # by script alone where the library does not know the language
    assert chosen.language == "script"
    assert chosen.reason(line) is None or isinstance(chosen.reason(line), str)
    assert 0 <= script_share(line, {"Latn"}) <= 1


def test_narabizi_is_not_taken_for_another_latin_language() -> None:
    pytest.importorskip("py3langid")
    line = "wa7ed ma 3labalou b had l7aja ya kho"
    assert line_filter("arq", script="Latn").reason(line) is None


def test_what_makes_no_sense_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="give sample= too"):
        line_filter("wo", neighbours={"fr": ["x"]})
    with pytest.raises(UsageError, match="at least 50 lines"):
        line_filter("wo", sample=["x"])
    with pytest.raises(UsageError, match="shortest ≤ longest"):
        line_filter("wo", shortest=10, longest=5)
    from isogloss.text.cleaning import identification

    identification._identifier.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "py3langid", None)
    with pytest.raises(MissingExtra, match="isogloss\\[identify\\]"):
        identify("x")
    identification._identifier.cache_clear()
