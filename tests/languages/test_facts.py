"""Language facts: from the database once, from the cache afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from isogloss.core.errors import UnknownName
from isogloss.languages import facts
from isogloss.languages.pretrained import PRETRAINING_LISTS, pretraining_languages

ROWS = [["wo", "Wolof", "wol", ["Latn", "Arab"], ["Atlantic-Congo", "North-Central Atlantic"]],
        ["en", "English", "eng", ["Latn"], ["Indo-European", "Classical Indo-European", "Germanic"]],
        ["eu", "Basque", "eus", ["Latn"], []]]  # fmt: skip


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache folder, and a database of three languages that counts its loads."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    facts.languages.cache_clear()
    yield tmp_path / "isogloss"
    facts.languages.cache_clear()


def test_gathered_once_then_cached(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[int] = []
    monkeypatch.setattr(facts, "_gather", lambda: loads.append(1) or ROWS)
    for _ in range(2):
        assert facts.language("wol").scripts == ("Latn", "Arab")
        facts.languages.cache_clear()
    assert (len(loads), len(list(fresh.iterdir()))) == (1, 1)
    (file,) = fresh.iterdir()
    file.write_text(file.read_text()[:-20])  # cut short: gathered again
    assert facts.language("en").branch == "Germanic"
    assert (len(loads), json.loads(file.read_text())) == (2, ROWS)


def test_families_and_unknown_codes(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "_gather", lambda: ROWS)
    basque, english = facts.language("eu"), facts.language("en-GB")
    assert (basque.family, basque.branch) == ("Basque", "Basque")
    assert (english.family, english.pretrained_in) == ("Indo-European", {"mBERT", "XLM-R", "XGLM"})
    with pytest.raises(UnknownName, match="unknown language 'xx'"):
        facts.language("xx")


def test_a_cache_folder_that_cannot_be_written(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh.write_text("a file where the folder should be")
    monkeypatch.setattr(facts, "_gather", lambda: ROWS)
    assert facts.language("wo").name == "Wolof"


@pytest.mark.slow
def test_the_real_database(fresh: Path) -> None:
    expected = {
        "ug": ("Arab", "Turkic", "Common Turkic"), "zh": ("Hani", "Sino-Tibetan", "Sinitic"),
        "ar": ("Arab", "Afro-Asiatic", "Semitic"), "et": ("Latn", "Uralic", "Finnic"),
        "fa": ("Arab", "Indo-European", "Indo-Iranian"),
        "ckb": ("Arab", "Indo-European", "Indo-Iranian"), "ku": ("Latn", "Indo-European", "Indo-Iranian"),
        "xmf": ("Geor", "Kartvelian", "Georgian-Zan"), "mt": ("Latn", "Afro-Asiatic", "Semitic"),
        "sq": ("Latn", "Indo-European", "Albanian"), "fo": ("Latn", "Indo-European", "Germanic"),
        "ja": ("Jpan", "Japonic", "Japanesic"), "ko": ("Hang", "Koreanic", "Koreanic"),
        "bxr": ("Cyrl", "Mongolic-Khitan", "Mongolic"),
    }  # fmt: skip
    found = {code: facts.language(code) for code in expected}
    assert {code: (one.scripts[0], one.family, one.branch) for code, one in found.items()} == expected
    for model in PRETRAINING_LISTS:
        assert pretraining_languages(model) <= set(facts.languages())
    assert (found["ug"].iso639_3, facts.language("wo").name) == ("uig", "Wolof")
    assert len(facts.languages()) > 7000
