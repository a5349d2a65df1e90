"""Real running text in other letters: no letter left behind, as many words as before, trees valid."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from shared_data import rest_slow, shared

from isogloss import read_qa, read_text, read_treebank, transliterate
from isogloss.corpora.kinds.treebank import surface_text
from isogloss.languages.scripts import letter_script

TREEBANKS = {
    "UD_Uyghur-UDT/ug_udt-ud-dev": "ug",
    "UD_Erzya-JR/myv_jr-ud-test": "myv",
    "UD_Buryat-BDT/bxr_bdt-ud-test": "bxr",
    "UD_Arabic-PUD/ar_pud-ud-test": "ar",
    "UD_Russian-PUD/ru_pud-ud-test": "ru",
    "UD_Komi_Zyrian-Lattice/kpv_lattice-ud-test": "kpv",
}
FAST = ["UD_Buryat-BDT/bxr_bdt-ud-test", "UD_Arabic-PUD/ar_pud-ud-test", "UD_Komi_Zyrian-Lattice/kpv_lattice-ud-test"]
TEXTS = ["ug", "ckb", "xmf", "myv"]


def left(text: str) -> list[str]:
    """Letters of a script other than Latin."""
    return [char for char in text if letter_script(char) not in (None, "Latn")]


def check_treebank(path: Path, tmp_path: Path) -> None:
    bank = read_treebank(path)
    latin = transliterate(bank)
    latin.write(tmp_path / "latin.conllu")
    again = read_treebank(tmp_path / "latin.conllu", lang=bank.lang)
    assert again.counts == bank.counts
    assert not Counter(char for tree in latin for row in tree.rows for char in left(row.form + row.lemma))
    for old, new in zip(bank, again, strict=True):
        assert [row[3:] for row in old.rows] == [row[3:] for row in new.rows]
        assert [row.id for row in old.rows] == [row.id for row in new.rows]
        assert new.text == surface_text(new.rows)
        assert not any(" " in word for word, before in zip(new.words, old.words, strict=True) if " " not in before)


@pytest.mark.parametrize("name", rest_slow(TREEBANKS, fast=FAST))
def test_treebanks(name: str, tmp_path: Path) -> None:
    check_treebank(shared(f"data/ud/{name}.conllu.xz"), tmp_path)


@pytest.mark.slow
def test_the_japanese_treebank(tmp_path: Path) -> None:
    pytest.importorskip("cutlet")
    check_treebank(shared("data/ud/UD_Japanese-PUD/ja_pud-ud-test.conllu.xz"), tmp_path)


@pytest.mark.parametrize("lang", TEXTS)
def test_raw_text(lang: str) -> None:
    text = read_text(shared(f"data/raw/{lang}.txt.xz"))
    latin = transliterate(text)
    assert len(latin) == len(text)
    assert not Counter(char for line in latin for char in left(line))
    assert sum(len(a.split()) != len(b.split()) for a, b in zip(text, latin, strict=True)) == 0


def test_uyghur_agrees_with_the_treebank_s_own_latin() -> None:
    """UDT gives each word in ULY: the same letters but for those that we spell as in Turkish."""
    uly = str.maketrans({"ç": "ch", "ş": "sh", "ğ": "gh", "ñ": "ng", "j": "zh", "c": "j", "v": "w"})
    words = disagreed = 0
    for split in ("train", "dev", "test"):
        bank = read_treebank(shared(f"data/ud/UD_Uyghur-UDT/ug_udt-ud-{split}.conllu.xz"))
        for tree in transliterate(bank):
            for row in tree.nodes:
                given = dict(pair.partition("=")[::2] for pair in row.misc.split("|")).get("Translit")
                if given and row.upos != "PUNCT":
                    words += 1
                    ours, theirs = row.form.translate(uly), given.lower().replace("é", "ë")
                    disagreed += ours.replace("'", "") != theirs.replace("'", "")
    assert words > 30_000
    assert disagreed <= 1  # an annotator's "advcl", which is no Uyghur


@pytest.mark.parametrize("lang", rest_slow(["ar", "ru"], fast=["ar"]))
def test_answers_of_xquad(lang: str) -> None:
    corpus = read_qa(shared(f"data/xquad/xquad.{lang}.json.xz"))
    latin = transliterate(corpus)
    assert latin.counts == corpus.counts
    for old, new in zip(corpus, latin, strict=True):
        assert len(old.answers) == len(new.answers)
        for before, after in zip(old.answers, new.answers, strict=True):
            assert new.context[after.start : after.start + len(after.text)] == after.text
            assert after.text == transliterate(before.text, lang=lang)
