"""Language codes, and the language or pair that file names declare."""

from __future__ import annotations

import pytest
from langcodes.data_dicts import LANGUAGE_REPLACEMENTS, MACROLANGUAGES
from shared_data import shared

from isogloss.languages.codes import canonical, is_language, language_of_path, pair_code, pair_of_path


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("eng", "en"), ("EN", "en"), ("zh_Hant", "zh-Hant"), ("ger", "de"), ("iw", "he"), ("qla", "qla"),
        # the standard language that the code of a macro-language stands for in UD and Wikipedia …
        ("cmn", "zh"), ("arb", "ar"), ("pes", "fa"), ("swh", "sw"), ("zsm", "ms"), ("ekk", "et"), ("lvs", "lv"),
        ("als", "sq"), ("khk", "mn"), ("npi", "ne"), ("ory", "or"), ("plt", "mg"), ("uzn", "uz"), ("ydd", "yi"),
        ("cmn-Hant", "zh-Hant"),
        # … and languages of macro-languages that have several
        ("ckb", "ckb"), ("kmr", "kmr"), ("kur", "ku"), ("sdh", "sdh"), ("yue", "yue"), ("arz", "arz"), ("ary", "ary"),
        ("azb", "azb"), ("kpv", "kpv"), ("koi", "koi"), ("mhr", "mhr"), ("mrj", "mrj"), ("bxr", "bxr"), ("pnb", "pnb"),
        ("quz", "quz"), ("quy", "quy"), ("gug", "gug"), ("pbt", "pbt"), ("gaz", "gaz"), ("tw", "tw"), ("fat", "fat"),
        ("ltg", "ltg"), ("vro", "vro"), ("nob", "nb"), ("nno", "nn"), ("nor", "no"), ("hrv", "hr"), ("bos", "bs"),
    ],
)  # fmt: skip
def test_one_spelling(code: str, expected: str) -> None:
    assert canonical(code) == expected == canonical(expected)


def test_languages_of_a_macro_language_are_kept_apart() -> None:
    """Against the members that ISO 639-3 lists: no two get one code, and at most one gets the macro-language's."""
    members: dict[str, list[str]] = {}
    for member, macro in MACROLANGUAGES.items():
        members.setdefault(macro, []).append(member)
    for macro, codes in members.items():
        canonicals = [canonical(code) for code in codes if code not in LANGUAGE_REPLACEMENTS]  # without retired codes
        assert len(set(canonicals)) == len(canonicals), macro
        assert canonicals.count(macro) <= 1


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("ud/UD_Kurmanji-MG/kmr_mg-ud-test.conllu", "kmr"),
        ("ud/UD_Wolof-WTB/wo_wtb-ud-train.conllu.xz", "wo"),
        ("ud/UD_Arabic-PADT-v1.3/ar-ud-dev.conllu", "ar"),
        ("panx/dev-ja.tsv.xz", "ja"),
        ("xnli/test-sw.tsv.xz", "sw"),
        ("mlqa/dev/dev-context-de-question-en.json.xz", "de"),
        ("xquad/xquad.hi.json.xz", "hi"),
        ("tydiqa/dev/tydiqa.goldp.te.dev.json.xz", "te"),
        ("masakhaner/pcm/test.txt.xz", "pcm"),
        ("tatoeba/tatoeba.ara-eng.ara.xz", "ar"),
        ("tatoeba/tatoeba.ara-eng.eng.xz", "en"),
        ("ebible/wol-wolKYG.txt.xz", "wo"),
        ("ebible/swh-swhulb.txt.xz", "sw"),
        ("raw/xmf.txt.xz", "xmf"),
        ("corpus.en-fr.fr", "fr"),
        ("en-train.txt", "en"),
    ],
)
def test_names_of_the_fields_data_sets(path: str, expected: str) -> None:
    assert language_of_path(path) == expected


@pytest.mark.parametrize(
    "path",
    ["data/train.conllu", "ner/dev.tsv", "pos/test.txt", "nli/train.tsv", "raw/corpus.txt", "snli_subset/test.csv",
     "ebible/vref.txt", "lexicons/words.tsv", "corpus.log", "run/out.txt", "model/vocab.txt",
     "new/data.src", "x/corpus.tsv.bpe"],
)  # fmt: skip
def test_names_that_declare_nothing(path: str) -> None:
    assert language_of_path(path) == "und"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("lexicons/eng-rus.tsv.xz", ("en", "ru")),
        ("alignment/awesome/zhen.gold.xz", ("zh", "en")),
        ("alignment/multi/train/en-es/es_golden.jsonl.xz", ("en", "es")),
        ("alignment/pud/en-ar/alignment.json.xz", ("en", "ar")),
        ("corpus.de-wo.de", ("de", "wo")),
        ("tatoeba/tatoeba.afr-eng", ("af", "en")),
        ("data/gold", None),
        ("some-file.tsv", None),
        ("dev-raw/x.tsv", None),
    ],
)
def test_pairs(path: str, expected: tuple[str, str] | None) -> None:
    assert pair_of_path(path) == expected


def test_a_pair_code_is_no_region() -> None:
    assert pair_code("en", "rus") == "en>ru" == canonical("en>ru")
    assert not is_language("en>ru")


# folders whose files are in one language each, and the files that are not
@pytest.mark.parametrize(
    "folder", ["ud", "panx", "xnli", "xquad", "tydiqa", "mlqa", "masakhaner", "tatoeba", "raw", "ebible"]
)
def test_every_real_file_declares_its_language(folder: str) -> None:
    files = [f for f in shared(f"data/{folder}").rglob("*.xz") if f.name != "vref.txt.xz"]
    assert files
    assert [f.name for f in files if language_of_path(f) == "und"] == []


@pytest.mark.parametrize("folder", ["lexicons", "alignment"])
def test_every_real_pair_is_declared(folder: str) -> None:
    files = list(shared(f"data/{folder}").rglob("*.xz"))
    assert files
    assert [f.name for f in files if pair_of_path(f) is None] == []
