"""Each scheme: examples checked by hand against its convention, the way back, and pieces that agree with the text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss import transliterate
from isogloss.core.errors import MissingExtra, UnknownName, UsageError
from isogloss.corpora.lab.languages import LANGUAGES
from isogloss.languages.scripts import script_of
from isogloss.text.cleaning.narabizi import is_narabizi
from isogloss.text.transliteration import buckwalter, cyrillic, georgian, permutation, uyghur
from isogloss.text.transliteration.schemes import SCHEMES, inverse_of, scheme_by_language, scheme_for

EXAMPLES = {
    "uyghur": {
        "ياخشىمۇسىز": "yaxşimusiz",
        "ئۇيغۇر": "uyğur",  # the hamza that begins a word
        "مۇئەللىم": "mu'ellim",  # within one, between vowels
        "سۈرئەت": "sür'et",  # and after a consonant
        "شىنجاڭ ئۇنىۋېرسىتېتى": "şincañ univërsitëti",
        "ژۇرنال، چوڭ؟": "jurnal, çoñ?",
        "«ئۆي»": "«öy»",
        "قايسى-ئۇ": "qaysi-u",
    },
    "sorani": {
        "کوردستان": "kurdistan",
        "کوردی": "kurdî",
        "سۆرانی": "soranî",
        "زیندوو": "zîndû",  # two w are a long u
        "ئاو": "aw",  # w after a vowel
        "وەک": "wek",  # and at the start
        "خوێندن": "xwêndin",
        "گوڵ": "gul",  # a vowel between consonants
        "یەک": "yek",
        "ئاشتییە": "aştîye",
        "ئیش": "îş",  # after the hamza a vowel
        "ئومێد": "umêd",
        "و": "û",
        "هاتن": "hatin",  # the short i
        "کردن": "kirdin",
        "من": "min",
        "بزن": "bizin",
        "برا": "bira",
        "دەست": "dest",  # where none is needed
        "کتێب": "kitêb",
        "له": "le",  # h for e, as before Unicode had the letter
        "ئه‌و": "ew",
        "٢٠٢٤؟": "2024?",
    },
    "georgian": {
        "საქართველო": "sakartvelo",
        "თბილისი": "tbilisi",
        "ჭყონიდი": "ch'q'onidi",
        "წყალი": "ts'q'ali",
        "ᲗᲑᲘᲚᲘᲡᲘ": "TBILISI",
        "ჯვარი": "jvari",
        "ღვინო": "ghvino",
        "გჷმაფჷ": "gəmapə",  # Mingrelian
        "ჸუდე": "'ude",
    },
    "iso9984": {"საქართველო": "sak’art’velo", "ჭყონი": "čqoni", "წიგნი": "cigni", "ჩვენ": "č’ven"},
    "cyrillic": {
        "Чайковский": "Čajkovskij",
        "Щедрин": "Ščedrin",
        "РОССИЯ": "ROSSIJA",
        "Я": "Ja",
        "Яна и Юра": "Jana i Jura",
        "съезд": "s'ezd",
        "Хрущёв": "Xruščëv",
        "Қазақстан": "Qazaqstan",
    },
    "uralic": {
        "эрзянь кель": "erzjan' kel'",
        "Мордовиясо": "Mordovijaso",
        "Ельцин": "Jel'cin",
        "вейке": "vejke",
        "поэма": "poema",
        "марий йылме": "marij jylme",
        "ӱдыр": "üdyr",
        "шӱҥышӧ": "šüŋyšö",
    },
    "buryat": {"Буряад хэлэн": "Burjaad xelen", "үндэһэн": "ündehen", "өөрөө": "ööröö", "Һайн": "Hajn"},
    "iso9": {"Щербаков Юрий": "Ŝerbakov Ûrij", "объезд": "obʺezd", "Эльба": "Èlʹba", "Ӱмылка": "Ümylka", "үгэ": "ùgè"},
    "buckwalter": {
        "السلام عليكم": "AlslAm Elykm",
        "كِتَابٌ": "kitaAbN",
        "بسم الله الرحمن الرحيم": "bsm Allh AlrHmn AlrHym",
        "مدرسة، شيء؟": "mdrsp, $y'?",
        "إلى آخره": "<lY |xrh",
    },
}
CASES = [(scheme, text, latin) for scheme, pairs in EXAMPLES.items() for text, latin in pairs.items()]


@pytest.mark.parametrize(("scheme", "text", "latin"), CASES, ids=[f"{s}-{latin}" for s, _, latin in CASES])
def test_examples(scheme: str, text: str, latin: str) -> None:
    assert transliterate(text, scheme=scheme) == latin
    assert transliterate(unicodedata.normalize("NFD", text), scheme=scheme) == latin


def test_letters_as_drawn_are_letters() -> None:
    assert transliterate("ﻗﯩﺰ ﺋﯘ", lang="ug") == "qiz u"
    assert transliterate("ﷲ", lang="ar") == "Allh"


def words(alphabet: str) -> st.SearchStrategy[str]:
    return st.lists(st.text(sorted(set(alphabet)), max_size=8), max_size=4).map(" ".join)


def uyghur_words() -> st.SearchStrategy[str]:
    """Spelt as the orthography has it: no vowel without something before it."""
    vowel, consonant = st.sampled_from(sorted(uyghur.VOWELS)), st.sampled_from(sorted(uyghur.CONSONANTS))
    syllable = st.builds(lambda c, v, end: c + v + end, consonant | st.just("ئ"), vowel, consonant | st.just(""))
    word = st.lists(syllable, min_size=1, max_size=4).map("".join)
    return st.lists(word, max_size=4).map(" ".join)


@given(uyghur_words())
def test_uyghur_and_back(text: str) -> None:
    assert transliterate(transliterate(text, lang="ug"), lang="ug", inverse=True) == text


@given(words("".join(buckwalter.LETTERS) + "،؛؟"))
def test_buckwalter_and_back(text: str) -> None:
    text = unicodedata.normalize("NFC", text)
    latin = transliterate(text, lang="ar")
    assert latin.isascii()
    assert transliterate(latin, lang="ar", inverse=True) == text


@given(words("".join(cyrillic.ISO_9) + "".join(cyrillic.RUSSIAN).upper().replace("Ъ", "").replace("Ь", "")))
def test_iso9_and_back(text: str) -> None:
    text = unicodedata.normalize("NFC", text)
    assert transliterate(transliterate(text, scheme="iso9"), scheme="iso9", inverse=True) == text


@given(words(georgian.LETTERS))
def test_iso9984_and_back(text: str) -> None:
    assert transliterate(transliterate(text, scheme="iso9984"), scheme="iso9984", inverse=True) == text


@given(st.text(max_size=30), st.integers(0, 3))
def test_permutation_and_back(text: str, seed: int) -> None:
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text))
    permuted = transliterate(text, scheme="permutation", seed=seed)
    assert transliterate(permuted, scheme="permutation", seed=seed, inverse=True) == text


def test_a_permutation_stays_within_script_and_case() -> None:
    text = "Привет, World! " + "".join(permutation.ALPHABETS.values())
    permuted = transliterate(text, scheme="permutation")
    assert permuted != text
    assert [c.isupper() for c in permuted] == [c.isupper() for c in text]
    assert [script_of(c) for c in permuted] == [script_of(c) for c in text]
    assert transliterate(text, scheme="permutation", seed=1) != permuted
    for alphabet in permutation.ALPHABETS.values():
        assert sorted(transliterate(alphabet, scheme="permutation")) == sorted(alphabet)


@pytest.mark.parametrize("lang", [code for code, one in LANGUAGES.items() if one.script != "Latn"])
def test_the_laboratory_and_back(lang: str) -> None:
    from isogloss.corpora.lab.laboratory import Laboratory

    bank = Laboratory(seed=0).treebank(lang, "test", 5)
    latin = transliterate(bank)
    assert {script_of(tree.text) for tree in latin} == {"Latn"}
    back = transliterate(latin, lang=lang, inverse=True)
    caseless = LANGUAGES[lang].script != "Cyrl"
    for old, new in zip(bank, back, strict=True):
        pairs = zip(old.words, new.words, strict=True)
        assert all(a == b or (caseless and script_of(a) == "Latn") for a, b in pairs)


LETTERS = "ئاەېىوۇڭغشچ يویکگهـ\u200cڕڵ ხჭყ ЯщеЕьъЮё йи\u0306 ӱҥө كّة؟ ab'1,-ﻻ"


@pytest.mark.parametrize("name", [name for name in SCHEMES if name not in ("hepburn", "uroman")])
@given(text=st.text(LETTERS, max_size=25) | st.text(max_size=12))
def test_pieces_join_to_the_text_and_its_transliteration(name: str, text: str) -> None:
    lang = "qlj" if name == "laboratory" else None
    scheme = scheme_for(lang, name)
    for one in [scheme, *([inverse_of(scheme)] if scheme.inverse else [])]:
        pieces = one.pieces(text)
        assert "".join(old for old, _ in pieces) == text
        assert "".join(new for _, new in pieces) == one(text)


def test_narabizi_is_recognised_and_left_alone() -> None:
    text = "wa7ed l9a had l7aja, ma 3labalouch"
    assert is_narabizi(text)
    assert transliterate(text, lang="arq") == text
    assert transliterate("مرحبا", lang="arq") == "mrHbA"
    for other in ("le 2eme mp3 de 2010", "a 4x4 for 2 kg", "Merhaba dünya", "سلام 3 مرات", ""):
        assert not is_narabizi(other)


def test_reversible_schemes() -> None:
    reversible = {"uyghur", "iso9984", "iso9", "buckwalter", "laboratory", "permutation"}
    for name in SCHEMES:
        scheme = scheme_for("qlj" if name == "laboratory" else None, name)
        if name in reversible:
            inverse_of(scheme)
        else:
            with pytest.raises(UsageError, match=f"the scheme '{scheme.name}' is not reversible; these are: uyghur"):
                inverse_of(scheme)
    assert set(scheme_by_language().values()) <= set(SCHEMES)


def test_what_is_asked_for_must_be_known() -> None:
    with pytest.raises(UnknownName, match="did you mean 'buckwalter'"):
        transliterate("x", scheme="buckwater")
    with pytest.raises(UsageError, match="expected a language"):
        transliterate("x")
    with pytest.raises(
        UsageError, match="the scheme 'laboratory' is for the languages of the laboratory, not for 'ug'"
    ):
        transliterate("x", lang="ug", scheme="laboratory")


def test_japanese_in_hepburn() -> None:
    pytest.importorskip("cutlet")
    assert transliterate("東京へ行く", lang="ja") == "Tokyo e iku"
    assert transliterate("私は学生です。", lang="ja") == "watakushi wa gakusei desu."
    scheme = scheme_for("ja")
    assert scheme.words(["私", "は", "カレー", "を", "食べ", "た"]) == ["watakushi", "wa", "karee", "wo", "tabe", "ta"]
    assert scheme.words(["っ", "ィ"]) == ["tsu", "i"]
    for text in ("「は」 ＡＢＣ　です", "カツカレーは美味しい。 Hello world", "ｶﾞｷﾞ"):
        pieces = scheme.pieces(text)
        assert "".join(old for old, _ in pieces) == text
        assert "".join(new for _, new in pieces) == scheme(text)


@pytest.mark.slow  # loads its tables for seconds
def test_anything_else_by_uroman() -> None:
    pytest.importorskip("uroman")
    assert transliterate("नमस्ते दुनिया", lang="hi") == "namaste duniyaa"
    assert transliterate("Güneş ሰላም", lang="am").startswith("Güneş sal")  # what is Latin stays
    pieces = scheme_for("hi").pieces("ए नमस्ते!")
    assert "".join(old for old, _ in pieces) == "ए नमस्ते!"


@pytest.mark.parametrize(("scheme", "package"), [("hepburn", "cutlet"), ("uroman", "uroman")])
def test_a_missing_package_is_told(scheme: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from isogloss.text.transliteration import japanese, roman

    monkeypatch.setitem(__import__("sys").modules, package, None)
    for loader in (japanese._cutlet, roman._uroman):
        loader.cache_clear()
    scheme_for(None, scheme)._word_cache.clear()
    roman.romanised.cache_clear()
    with pytest.raises(MissingExtra, match=f"needs the package '{package}'"):
        transliterate("日本", scheme=scheme)
    for loader in (japanese._cutlet, roman._uroman):
        loader.cache_clear()
