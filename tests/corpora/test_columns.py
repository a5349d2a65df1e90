from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities
from shared_data import shared

import isogloss as ig
from isogloss.core.errors import InputError, UsageError
from isogloss.corpora.formats import FORMATS
from isogloss.corpora.kinds.ner import NerSentence, to_bio

TWO = "Ada\tB-PER\nLovelace\tI-PER\nin\tO\n\nRome\tB-LOC\n\n"
PREFIXED = "en:Ada\tB-PER\nen::\tO\n\nen:Rome\tB-LOC\n\n"
CONLL = """\
-DOCSTART- -X- -X- O

EU NNP B-NP I-ORG
rejects VBZ B-VP O
German JJ B-NP I-MISC
Peter NNP B-NP I-PER
Blackburn NNP I-NP I-PER

-DOCSTART- -X- -X- O

Rome NNP B-NP I-LOC
Paris NNP B-NP B-LOC

"""


def write(tmp_path: Path, text: str, name: str = "train-en.tsv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize(
    ("text", "name", "format"),
    [
        (TWO, "train-en.tsv", "ner-tsv"),
        (TWO[:-1], "train-en.tsv", "ner-tsv"),  # PAN-X has no empty line after the last sentence
        ("\n" + TWO + "\n\nMore\tO\n\n\n", "train-en.tsv", "ner-tsv"),
        ("Shortly\nafterward\n\nIndia\n", "test-en.tsv", "ner-tsv"),
        ("a\u00a0b\u3000c\nd\n", "test-en.tsv", "ner-tsv"),
        ("a\u00a0b\tO\nc d\tB-LOC\n\u2028\tI-LOC\n", "test-en.tsv", "ner-tsv"),
        (TWO.replace("\t", " "), "en/train.txt", "ner-space"),
        (PREFIXED, "train.tsv", "panx"),
        (CONLL, "en/eng.train", "conll2003"),
    ],
)
def test_each_form_is_recognised_and_written_back_byte_for_byte(
    tmp_path: Path, text: str, name: str, format: str
) -> None:
    (tmp_path / "en").mkdir()
    corpus = ig.read_ner(write(tmp_path, text, name))
    assert (corpus.format.name, corpus.lang, corpus.repairs) == (format, "en", ())
    corpus.write(tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == text.encode()


def test_words_tags_and_counts(tmp_path: Path) -> None:
    corpus = ig.read_ner(write(tmp_path, CONLL), format="conll2003")
    assert [s.words for s in corpus] == [["EU", "rejects", "German", "Peter", "Blackburn"], ["Rome", "Paris"]]
    assert corpus[0].tags == ["B-ORG", "O", "B-MISC", "B-PER", "I-PER"]
    assert corpus[1].tags == ["B-LOC", "B-LOC"]
    assert corpus[1].written_tags == ["I-LOC", "B-LOC"]
    assert corpus[0].rows[1] == ("rejects", "VBZ", "B-VP", "O")
    assert corpus.counts == {"sentences": 2, "words": 7, "entities": 5, "entities begun by I- or E-": 4}


def test_a_file_without_tags_says_so(tmp_path: Path) -> None:
    corpus = ig.read_ner(write(tmp_path, "Rome\n\nParis\n.\n"))
    assert [s.tags for s in corpus] == [None, None]
    assert corpus.counts == {"sentences": 2, "words": 3, "entities": 0, "sentences without tags": 2}
    assert corpus[1].with_tags(["B-LOC", "O"]).tags == ["B-LOC", "O"]


def test_the_prefix_is_the_language_and_no_part_of_the_word(tmp_path: Path) -> None:
    path = write(tmp_path, PREFIXED.replace("en:", "als:"), "x.tsv")
    corpus = ig.read_ner(path)
    assert corpus[0].words == ["Ada", ":"]
    assert corpus.lang == "sq"  # Tosk Albanian within Albanian, as the code says
    with pytest.raises(InputError, match=r"x\.tsv: expected items in the language 'fr', got sq"):
        ig.read_ner(path, lang="fr")


BROKEN = {
    "mixed: a tag is missing": (TWO.replace("\tO", ""), 3, "word<TAB>tag, got 1 columns in 'in'"),
    "mixed: a tag is there": ("a\n\nb\tO\n", 3, "a word without tag (the first sentence has no tags), got 2 columns"),
    "three columns": (TWO.replace("in\tO", "in\tO\tO"), 3, "word<TAB>tag, got 3 columns"),
    "impossible tag": (TWO.replace("I-PER", "PER"), 2, "a tag such as O, B-PER"),
    "BILOU": (TWO.replace("I-PER", "L-PER"), 2, "got 'L-PER'"),
    "more than O": (TWO.replace("\tO", "\tOther"), 3, "got 'Other'"),
    "a space in the tag": (TWO.replace("I-PER", "I-PER x"), 2, "got 'I-PER x'"),
    "no type": (TWO.replace("I-PER", "I-"), 2, "got 'I-'"),
    "no word": (TWO.replace("in", ""), 3, "a value in each column"),
    "cut inside a tag": (TWO[:-4], 5, "a newline after the last line"),
    "cut after a word": (TWO[:-8], 5, "word<TAB>tag, got 1 columns in 'Rome'"),
    "a document without sentence": (TWO + "-DOCSTART-\tO\n", 7, "a sentence after -DOCSTART-"),
    "only empty lines": ("\n\n", None, "at least one item"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_give_one_error_with_its_line(tmp_path: Path, name: str) -> None:
    text, line, message = BROKEN[name]
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        ig.read_ner(path, format="ner-tsv")
    assert message in str(caught.value)
    assert (caught.value.path, caught.value.line) == (str(path), line)


def test_prefixes_must_agree(tmp_path: Path) -> None:
    for text, line in ((PREFIXED.replace("en:Rome", "fr:Rome"), 4), (PREFIXED.replace("en::", "en:"), 2)):
        with pytest.raises(InputError) as caught:
            ig.read_ner(write(tmp_path, text), format="panx")
        assert caught.value.line == line


def test_repair_leaves_the_faulty_sentence_out_and_notes_it(tmp_path: Path) -> None:
    corpus = ig.read_ner(write(tmp_path, TWO.replace("in\tO", "in")), repair=True)
    assert [s.words for s in corpus] == [["Rome"]]
    assert [error.line for error in corpus.repairs] == [3]


def test_sentences_stay_apart_in_any_order(tmp_path: Path) -> None:
    corpus = ig.read_ner(write(tmp_path, TWO[:-1]))
    assert [sentence.empty_lines for sentence in corpus] == [1, 0]
    corpus.with_items(reversed(corpus.items)).write(tmp_path / "copy.tsv")
    assert [s.rows for s in ig.read_ner(tmp_path / "copy.tsv")] == [s.rows for s in reversed(corpus.items)]


def test_a_wrong_format_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'squad' is for qa, not ner"):
        ig.read_ner(write(tmp_path, TWO), format="squad")


@pytest.mark.parametrize("word", ["", "a\tb", "a\nb", "a\rb"])
def test_what_would_not_come_back_is_not_written(tmp_path: Path, word: str) -> None:
    corpus = ig.read_ner(write(tmp_path, TWO))
    with pytest.raises(UsageError, match="cannot be written"):
        corpus.with_items([corpus[1].with_words([word])]).write(tmp_path / "copy.tsv")
    assert not (tmp_path / "copy.tsv").exists()


def test_other_layouts_need_their_columns(tmp_path: Path) -> None:
    corpus = ig.read_ner(write(tmp_path, TWO))
    replace(corpus, format=FORMATS["ner-space"]).write(tmp_path / "copy.txt")
    assert ig.read_ner(tmp_path / "copy.txt").items == corpus.items
    for name in ("panx", "conll2003"):
        with pytest.raises(UsageError, match="cannot be written as"):
            replace(corpus, format=FORMATS[name]).write(tmp_path / "copy")


def test_a_corpus_travels_to_another_process(tmp_path: Path) -> None:
    corpus = ig.read_ner(write(tmp_path, TWO))
    there = pickle.loads(pickle.dumps(corpus))
    there.write(tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == TWO.encode()


# The spans of a sentence, then its tags in each scheme written from the spans: the reading must find the spans.
types = st.sampled_from(["PER", "LOC"])
spans = st.lists(st.tuples(st.one_of(st.none(), types), st.integers(1, 3)), max_size=8)


def written(parts: list[tuple[str | None, int]], scheme: str) -> list[str]:
    tags, previous = [], None
    for kind, length in parts:
        if kind is None:
            tags += ["O"] * length
        elif scheme == "BIO":
            tags += [f"B-{kind}"] + [f"I-{kind}"] * (length - 1)
        elif scheme == "IOB1":
            tags += [f"{'B' if previous == kind else 'I'}-{kind}"] + [f"I-{kind}"] * (length - 1)
        elif length == 1:
            tags += [f"S-{kind}"]
        else:
            tags += [f"B-{kind}"] + [f"I-{kind}"] * (length - 2) + [f"E-{kind}"]
        previous = kind
    return tags


@given(spans)
def test_every_scheme_means_the_same_spans(parts: list[tuple[str | None, int]]) -> None:
    bio = written(parts, "BIO")
    assert [to_bio(written(parts, scheme)) for scheme in ("BIO", "IOB1", "IOBES")] == [bio] * 3


@given(st.lists(st.sampled_from(["O", "B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y", "E-Y", "S-Y"]), max_size=12))
def test_entities_are_those_of_an_outside_reference(tags: list[str]) -> None:
    """seqeval's lenient reading is the CoNLL script's; ours only has to find where entities begin."""
    ours = [(tag[2:], i) for i, tag in enumerate(to_bio(tags)) if tag[0] == "B"]
    assert ours == [(kind, start) for kind, start, _ in get_entities(tags)]
    assert to_bio(to_bio(tags)) == to_bio(tags)


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\t\0 \ufeff"), min_size=1, max_size=5)
words = words.filter(lambda word: not word.startswith("-DOCSTART-"))
rows = st.tuples(words, st.sampled_from(["O", "B-PER", "I-PER", "S-LOC", "E-LOC"]))
sentences = st.builds(NerSentence, st.lists(rows, min_size=1, max_size=4).map(tuple), empty_lines=st.integers(1, 3))


@given(st.lists(sentences, min_size=1, max_size=5), st.sampled_from(["ner-tsv", "ner-space", "panx"]))
def test_whatever_is_written_is_read_back(tmp_path: Path, items: list[NerSentence], name: str) -> None:
    format = FORMATS[name]
    if name == "panx":
        items = [replace(item, prefix="en:") for item in items]
    path = tmp_path / "x"
    path.write_text("".join(format.unparse(items)), encoding="utf-8", newline="")
    assert list(ig.read_ner(path, format=name)) == items


def test_published_files_with_stray_tags() -> None:
    corpus = ig.read_ner(shared("data/masakhaner/pcm/train.txt.xz"))
    assert corpus.counts["entities begun by I- or E-"] == 5
    assert corpus.lang == "pcm"
