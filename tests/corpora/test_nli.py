from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import shared

import isogloss as ig
from isogloss.core.errors import InputError, UsageError
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats import FORMATS, detect_format
from isogloss.corpora.kinds.nli import LABELS, NliPair

TSV = 'A "dog" barks.\tAn animal barks.\tentailment\nA dog.\tA cat.\tcontradictory\nA dog.\tIt is old.\tneutral\n'
NUMBERED = "3\t3\tA dog barks.\tAn animal barks.\n2\t1\tA dog.\tA cat.\n1\t1\tA dog.\tIt is old.\n"
UNLABELLED = "A dog barks.\tAn animal barks.\nA dog.\tA cat.\n"
HEADER = "language\tgold_label\tsentence1_binary_parse\tsentence1\tsentence2\tpromptID\tmatch\n"
XNLI = (
    HEADER
    + "ar\tneutral\t\tكلب\tقديم\t1\tTrue\n"
    + "fr\tentailment\t\tUn chien aboie.\tUn animal aboie.\t2\tTrue\n"
    + "fr\tneutral\t\tUn chien.\tIl est vieux.\t1\t\n"
)
JSONL = "".join(
    json.dumps({"gold_label": label, "sentence1": "Un café.", "sentence2": two, "annotator_labels": ["neutral"]}) + "\n"
    for label, two in (("neutral", "Noir."), ("-", "Vert."), ("entailment", "Une boisson."))
).replace("[", "[ ")  # a layout that json.dumps would not give
NAMES = {"nli-tsv": "dev-en.tsv", "snli-numbered": "x.csv", "xnli": "xnli.dev.tsv", "nli-jsonl": "dev-fr.jsonl"}


def write(tmp_path: Path, text: str, name: str = "dev-en.tsv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize(
    ("format", "text"), [("nli-tsv", TSV), ("nli-tsv", UNLABELLED), ("snli-numbered", NUMBERED), ("nli-jsonl", JSONL)]
)
def test_each_form_is_recognised_and_written_back_byte_for_byte(tmp_path: Path, format: str, text: str) -> None:
    corpus = ig.read_nli(write(tmp_path, text, NAMES[format]))
    assert corpus.format.name == format
    corpus.write(tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == text.encode()


def test_labels_are_the_same_whatever_the_form_calls_them(tmp_path: Path) -> None:
    tsv = ig.read_nli(write(tmp_path, TSV))
    assert [pair.label for pair in tsv] == ["entailment", "contradiction", "neutral"]
    assert tsv[0].premise == 'A "dog" barks.'  # quotes are text
    assert [p.label for p in ig.read_nli(write(tmp_path, NUMBERED, "x.csv"))] == [p.label for p in tsv]


def test_pairs_without_gold_label_are_kept_and_counted(tmp_path: Path) -> None:
    corpus = ig.read_nli(write(tmp_path, JSONL, "dev-fr.jsonl"))
    assert [pair.label for pair in corpus] == ["neutral", None, "entailment"]
    assert (corpus.lang, corpus.counts) == ("fr", {"pairs": 3, "pairs without label": 1})
    assert ig.read_nli(write(tmp_path, UNLABELLED)).counts == {"pairs": 2, "pairs without label": 2}


def test_the_official_file_holds_many_languages(tmp_path: Path) -> None:
    path = write(tmp_path, XNLI, "xnli.dev.tsv")
    french = ig.read_nli(path, lang="fra")
    assert (french.lang, [pair.hypothesis for pair in french]) == ("fr", ["Un animal aboie.", "Il est vieux."])
    french.write(tmp_path / "copy.tsv")
    assert (tmp_path / "copy.tsv").read_text(encoding="utf-8") == HEADER + "".join(XNLI.splitlines(True)[2:])
    assert ig.read_nli(tmp_path / "copy.tsv").lang == "fr"
    with pytest.raises(InputError, match=r"expected items in one language, or lang= .*, got ar, fr$"):
        ig.read_nli(path)
    with pytest.raises(InputError, match=r"expected items in the language 'ru', got ar, fr$"):
        ig.read_nli(path, lang="ru")


BROKEN = {
    "two columns": ("nli-tsv", TSV.replace("\tneutral", ""), 3, "premise<TAB>hypothesis<TAB>label, got 2 columns"),
    "a label in a file without": ("nli-tsv", UNLABELLED + TSV, 3, "premise<TAB>hypothesis (as on the first line)"),
    "four columns": ("nli-tsv", TSV.replace("cat", "c\tt"), 2, "got 4 columns"),
    "unknown label": ("nli-tsv", TSV.replace("neutral", "maybe"), 3, "one of the labels entailment, neutral"),
    "no premise": ("nli-tsv", TSV.replace("A dog.", ""), 2, "a text as the premise"),
    "an empty line": ("nli-tsv", "\n" + TSV, 1, "got 1 columns in ''"),
    "cut in the label": ("nli-tsv", TSV[:-3], 3, "one of the labels"),
    "cut in the hypothesis": ("nli-tsv", UNLABELLED[:-3], 2, "a newline after the last line"),
    "label 4": ("snli-numbered", NUMBERED.replace("2\t1", "4\t1"), 2, "one of the labels 1, 2, 3, got '4'"),
    "three of four": ("snli-numbered", NUMBERED.replace("2\t1", "2"), 2, "got 3 columns"),
    "no header": ("xnli", XNLI[len(HEADER) :], 1, "a header with one column 'language'"),
    "a column twice": ("xnli", XNLI.replace("match", "promptID"), 1, "a header with one column 'promptID'"),
    "a column less": ("xnli", XNLI.replace("\t1\tTrue", "\tTrue"), 2, "the 7 columns of the header, got 6"),
    "no language": ("xnli", XNLI.replace("ar\t", "\t"), 2, "a text as the language"),
    "no JSON": ("nli-jsonl", JSONL.replace('"neutral", "sent', '"neutral" "sent', 1), 1, "Expecting ',' delimiter"),
    "cut JSON": ("nli-jsonl", JSONL[:-5], 3, "a JSON object"),
    "a list": ("nli-jsonl", JSONL + "[]\n", 4, "a JSON object, got '[]'"),
    "no label": ("nli-jsonl", JSONL.replace("gold_label", "label"), 1, "one of the labels"),
    "a number": ("nli-jsonl", JSONL.replace('"Noir."', "3"), 1, "a text as the sentence2"),
    "a key twice": ("nli-jsonl", '{"sentence1": "a", "sentence1": "b"}\n', 1, "the duplicate key 'sentence1'"),
    "half a surrogate": ("nli-jsonl", JSONL.replace("Noir", r"\ud83d"), 1, "a text as the sentence2"),
    "brackets": ("nli-jsonl", "[" * 100_000 + "\n", 1, "nested too deeply"),
    "a nest": ("nli-jsonl", '{"x": ' + "[" * 500 + "]" * 500 + "}\n", 1, "nested too deeply"),
    "NaN": ("nli-jsonl", '{"x": NaN}\n', 1, "the constant NaN"),
    "a long number": ("nli-jsonl", '{"x": ' + "9" * 10_000 + "}\n", 1, ""),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_give_one_error_with_its_line(tmp_path: Path, name: str) -> None:
    format, text, line, message = BROKEN[name]
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        ig.read_nli(path, format=format, lang="fr" if format == "xnli" else None)
    assert message in str(caught.value)
    assert (caught.value.path, caught.value.line) == (str(path), line)
    assert len(str(caught.value)) < 400


def test_repair_leaves_the_faulty_line_out_and_notes_it(tmp_path: Path) -> None:
    corpus = ig.read_nli(write(tmp_path, TSV.replace("contradictory", "?")), repair=True)
    assert [pair.label for pair in corpus] == ["entailment", "neutral"]
    assert [error.line for error in corpus.repairs] == [2]


@pytest.mark.parametrize(
    ("format", "text"), [("nli-tsv", TSV), ("snli-numbered", NUMBERED), ("nli-jsonl", JSONL), ("xnli", XNLI)]
)
def test_changed_pairs_are_written_changed_and_nothing_else(tmp_path: Path, format: str, text: str) -> None:
    corpus = ig.read_nli(write(tmp_path, text), format=format, lang="fr")
    changed = [replace(corpus[0], premise="Neu", label="contradiction"), *corpus[1:]]
    corpus.with_items(changed).write(tmp_path / "copy")
    again = ig.read_nli(tmp_path / "copy", format=format, lang="fr")
    assert list(again) == changed
    old, new = (path.read_text(encoding="utf-8").splitlines() for path in (tmp_path / "dev-en.tsv", tmp_path / "copy"))
    assert new[-1] == old[-1]


pairs = st.builds(
    NliPair,
    *[
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\t\0\ufeff"), min_size=1).filter(
            str.strip
        )
    ]
    * 2,
    st.sampled_from(LABELS),
)


@given(st.lists(pairs, min_size=1, max_size=5), st.sampled_from(["nli-tsv", "nli-jsonl"]))
def test_pairs_made_in_memory_are_read_back(tmp_path: Path, items: list[NliPair], name: str) -> None:
    Corpus(tuple(items), "en", FORMATS[name]).write(tmp_path / "x")
    assert list(ig.read_nli(tmp_path / "x", format=name)) == items


def test_pairs_move_between_forms(tmp_path: Path) -> None:
    for text, name in ((TSV, "nli-tsv"), (NUMBERED, "snli-numbered")):
        corpus = ig.read_nli(write(tmp_path, text), format=name)
        for other in {"nli-tsv", name, "nli-jsonl"}:
            replace(corpus, format=FORMATS[other]).write(tmp_path / "copy")
            assert ig.read_nli(tmp_path / "copy", format=other).items == corpus.items
    for name, column in (("xnli", "language"), ("snli-numbered", "second label")):
        with pytest.raises(UsageError, match=f"needs the column '{column}'"):
            Corpus((NliPair("a", "b", "neutral"),), "en", FORMATS[name]).write(tmp_path / "copy")


@pytest.mark.parametrize("pair", [NliPair("a\tb", "c", "neutral"), NliPair("", "c", "neutral"), NliPair("a", "b", "?")])
def test_what_would_not_come_back_is_not_written(tmp_path: Path, pair: NliPair) -> None:
    with pytest.raises(UsageError):
        Corpus((pair,), "en", FORMATS["nli-tsv"]).write(tmp_path / "x")
    assert not (tmp_path / "x").exists()


def numbered(lang: str, n: int) -> Corpus[NliPair]:
    return Corpus(
        tuple(NliPair(f"{lang}p{i}", f"{lang}h{i}", LABELS[i % 3]) for i in range(n)), lang, FORMATS["nli-tsv"]
    )


def test_mixed_language_replaces_one_part_of_each_pair_by_seed() -> None:
    native, english = numbered("ru", 2000), numbered("en", 2000)
    mixed = ig.mixed_language(native, english, seed=1)
    assert mixed.lang == "ru"
    for i, pair in enumerate(mixed):
        expected = ("en", "ru") if pair.replaced == "premise" else ("ru", "en")
        assert (pair.premise, pair.hypothesis) == (f"{expected[0]}p{i}", f"{expected[1]}h{i}")
    parts = Counter(pair.replaced for pair in mixed)
    assert set(parts) == {"premise", "hypothesis"}
    assert abs(parts["premise"] - 1000) < 100  # 4.5 standard deviations
    assert mixed == ig.mixed_language(native, english, seed=1)
    assert mixed.items != ig.mixed_language(native, english, seed=2).items
    other = ig.mixed_language(numbered("vi", 2000), english, seed=1)
    assert [pair.replaced for pair in other] == [pair.replaced for pair in mixed]


def test_mixed_language_needs_parallel_pairs() -> None:
    with pytest.raises(UsageError, match="got 3 in ru and 4 in en"):
        ig.mixed_language(numbered("ru", 3), numbered("en", 4), seed=0)
    wrong = numbered("en", 3)
    wrong = wrong.with_items([*wrong[:2], replace(wrong[2], label=None)])
    with pytest.raises(UsageError, match="at index 2: contradiction in ru and None in en"):
        ig.mixed_language(numbered("ru", 3), wrong, seed=0)


def test_mixed_language_on_published_data() -> None:
    native, english = (ig.read_nli(shared(f"data/xnli/dev-{lang}.tsv.xz")) for lang in ("ru", "en"))
    mixed = ig.mixed_language(native, english, seed=0)
    assert Counter(pair.label for pair in mixed) == dict.fromkeys(LABELS, 830)
    assert {pair.premise for pair in mixed if pair.replaced == "premise"} <= {pair.premise for pair in english}


def premise_lines(labels: list[object]) -> str:
    lines = [{"premise": f"Premis {i}.", "hypothesis": f"Hipotesis {i}.", "label": x} for i, x in enumerate(labels)]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


@pytest.mark.parametrize(
    ("written", "expected", "predicted"),
    [
        (["e", "n", "c"], list(LABELS), "c"),  # IndoNLI
        ([0, 1, 2, -1], [*LABELS, None], 2),  # datasets of the hub
        (["neutral", "-", "contradiction"], ["neutral", None, "contradiction"], "contradiction"),
        (["e", None, ""], ["entailment", None, None], "c"),
    ],
)
def test_json_lines_with_premise_hypothesis_and_label(
    tmp_path: Path, written: list[object], expected: list[str | None], predicted: object
) -> None:
    path = tmp_path / "test_lay-id.jsonl"
    path.write_text(premise_lines(written), encoding="utf-8")
    corpus = ig.read_nli(path)
    assert corpus.format.name == "premise-jsonl"
    assert [pair.label for pair in corpus] == expected
    assert corpus.counts.get("pairs without label", 0) == expected.count(None)
    corpus.write(tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == path.read_bytes()
    corpus.with_items(replace(pair, label="contradiction") for pair in corpus).write(tmp_path / "predicted.jsonl")
    labels = [json.loads(line)["label"] for line in (tmp_path / "predicted.jsonl").read_text().splitlines()]
    assert labels[0] == predicted
    assert {pair.label for pair in ig.read_nli(tmp_path / "predicted.jsonl")} == {"contradiction"}


def test_unknown_labels_of_json_lines_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "x-id.jsonl"
    path.write_text(premise_lines(["e", "x"]))
    with pytest.raises(InputError, match=r"x-id\.jsonl:2: expected one of the labels entailment"):
        ig.read_nli(path)


THAI_PAIRS = (
    "ฉันไม่ได้คิดถึงเรื่องนั้นเลยแต่ฉันหงุดหงิดมากและสุดท้ายฉันก็คุยกับเขาอีกครั้ง\tฉันไม่ได้คุยกับเขาอีกเลย\n"
    "และฉันคิดว่านั่นเป็นสิทธิพิเศษและมันยังคงเป็นเช่นนั้น\tฉันไม่รู้ว่าฉันไม่ใช่คนเดียวที่อยู่ที่นั่นในวันนั้น\n"
)


def test_sentence_pairs_in_scripts_without_spaces_are_not_a_lexicon(tmp_path: Path) -> None:
    path = tmp_path / "test-th.tsv"
    path.write_text(THAI_PAIRS * 5, encoding="utf-8")
    assert detect_format(path).name == "nli-tsv"
    words = tmp_path / "th-zh.tsv"
    words.write_text("บ้าน\t房子\nสุนัข\t狗\nคอมพิวเตอร์\t电脑\n", encoding="utf-8")
    assert detect_format(words).name == "lexicon"


@pytest.mark.parametrize("lang", ["ar", "en", "hi", "vi", "zh"])
def test_unlabelled_pairs_of_xnli_are_recognised(lang: str) -> None:
    assert detect_format(shared(f"data/xnli/test-{lang}.tsv.xz")).name == "nli-tsv"
