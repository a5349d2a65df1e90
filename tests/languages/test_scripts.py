"""The script of a text, against Unicode's own property and against real text."""

from __future__ import annotations

import lzma
import unicodedata

import pytest
from shared_data import shared

from isogloss.languages.scripts import SCRIPTS, letter_script, script_of

REAL = {
    "ar": "Arab", "bg": "Cyrl", "bm": "Latn", "ckb": "Arab", "cs": "Latn", "de": "Latn", "en": "Latn", "es": "Latn",
    "et": "Latn", "fi": "Latn", "fo": "Latn", "fr": "Latn", "gsw": "Latn", "hi": "Deva", "id": "Latn", "it": "Latn",
    "ja": "Jpan", "ko": "Hang", "mt": "Latn", "myv": "Cyrl", "pcm": "Latn", "pl": "Latn", "pt": "Latn", "ru": "Cyrl",
    "sl": "Latn", "sv": "Latn", "tr": "Latn", "ug": "Arab", "vi": "Latn", "wo": "Latn", "xmf": "Geor", "zh": "Hani",
}  # fmt: skip


def test_letters_agree_with_unicodes_script_property() -> None:
    regex = pytest.importorskip("regex")
    every = [chr(i) for i in range(0x20000) if unicodedata.category(chr(i)) in ("Lu", "Ll", "Lt", "Lo")]
    for script in set(SCRIPTS.values()):
        letters = regex.findall(rf"\p{{Script={script}}}", "".join(every))
        told = [letter_script(letter) for letter in letters]
        assert set(told) <= {script, None}, script
        assert told.count(script) >= 0.99 * len(letters) > 0, f"{script}: {told.count(None)} of {len(told)} unknown"


@pytest.mark.parametrize(
    ("text", "script"),
    [("", "Zyyy"), ("12 + 3 = ?", "Zyyy"), ("ياخشىمۇسىز", "Arab"), ("Ｆｕｌｌ", "Latn"), ("ﾊﾝｶｸ", "Jpan"),
     ("漢字", "Hani"), ("漢字かな", "Jpan"), ("한국어 漢字", "Hang"), ("ab абв", "Cyrl"), ("ⵜⴰⵎⴰⵣⵉⵖⵜ", "Tfng")],
)  # fmt: skip
def test_small_texts(text: str, script: str) -> None:
    assert script_of(text) == script


@pytest.mark.parametrize("lang", sorted(REAL))
def test_real_text(lang: str) -> None:
    with lzma.open(shared(f"data/raw/{lang}.txt.xz"), "rt", encoding="utf-8") as file:
        assert script_of(file.read(50_000)) == REAL[lang]
