"""Word-aligned pairs from JSON lines, from parallel text with a Pharaoh file, and from folders of treebanks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import isogloss as ig
from isogloss.core.errors import InputError, UsageError
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats.aligned_jsonl import FORMAT
from isogloss.corpora.kinds.alignment import Alignment, Link
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.corpora.parallel import ParallelSet

WORDS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=5).map(tuple)


@st.composite
def pairs(draw: st.DrawFn) -> AlignedPair:
    source, target = draw(WORDS), draw(WORDS)
    ends = st.tuples(st.integers(-1, len(source) - 1), st.integers(-1, len(target) - 1), st.sampled_from("-?p"))
    return AlignedPair(source, target, Alignment(tuple(Link(*link) for link in draw(st.lists(ends, max_size=4)))))


@given(st.lists(pairs(), min_size=1, max_size=4))
def test_json_lines_come_back(tmp_path: Path, items: list[AlignedPair]) -> None:
    path = tmp_path / "en-es.jsonl"
    Corpus(tuple(items), "en>es", FORMAT).write(path)
    again = ig.read_bitext(path)
    assert (list(again), again.lang) == (items, "en>es")
    again.write(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


GOOD = {"src_words": ["a", "b"], "tgt_words": ["c"], "alignment": [[0, 0], [1, 0]]}


@pytest.mark.parametrize(
    "change",
    [
        {"src_words": "ab"}, {"src_words": []}, {"tgt_words": [1]}, {"tgt_words": None}, {"alignment": [[0]]},
        {"alignment": [[0, True]]}, {"alignment": [[0, -2]]}, {"alignment": {"0": 0}}, {"alignment": "00"},
        {"extra": 1}, {"alignment": [[0, 0, "x"]]}, {"src_words": ["\ud800"]}, {"alignment": [[0.0, 0]]},
    ],
)  # fmt: skip
def test_faulty_json_lines(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n{json.dumps(GOOD | change)}\n")
    with pytest.raises(InputError, match=r"x\.jsonl:2: expected \{"):
        ig.read_bitext(path)
    assert len(ig.read_bitext(path, repair=True)) == 1


def test_links_outside_the_sentence(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(GOOD | {"alignment": [[0, 0], [2, 0]]}) + "\n")
    with pytest.raises(InputError, match=r"x\.jsonl:1: expected links within 2 and 1 words, got one from word 2 "):
        ig.read_bitext(path)
    mended = ig.read_bitext(path, repair=True)
    assert (mended[0].alignment.sure, len(mended.repairs)) == (((0, 0),), 1)


@pytest.fixture
def sentences() -> ParallelSet:
    tokens = {"en": (("a", "dog"), ("go",)), "fr": (("un", "chien"), ("va", "!"))}
    texts = {lang: tuple(map(" ".join, words)) for lang, words in tokens.items()}
    return ParallelSet(texts, ("1", "2"), tokens)


def test_parallel_text_with_a_pharaoh_file(tmp_path: Path, sentences: ParallelSet) -> None:
    path = tmp_path / "links"
    path.write_text("1-1 2-2\n1p1 1-2\n")
    found = ig.read_bitext(sentences, path, base=None)
    assert found.lang == "en>fr"
    assert found[1] == AlignedPair(("go",), ("va", "!"), Alignment((Link(0, 0, "p"), Link(0, 1))))
    assert found[0].alignment.sure == ((0, 0), (1, 1))
    with pytest.raises(InputError, match=r"links:1: expected links within 2 and 2 words"):
        ig.read_bitext(sentences, path, base=0)


def test_a_pharaoh_file_of_another_length(tmp_path: Path, sentences: ParallelSet) -> None:
    path = tmp_path / "links"
    for text, line in (("0-0\n", 2), ("0-0\n0-0\n0-0\n", 3)):
        path.write_text(text)
        with pytest.raises(InputError, match=rf"links:{line}: expected 2 lines"):
            ig.read_bitext(sentences, path)
    with pytest.raises(UsageError, match="no word links"):
        ig.read_bitext(sentences)


def treebank(*sentences: list[str]) -> str:
    rows = "{}\t{}\t_\tX\t_\t_\t{}\tdep\t_\t_\n"
    return "".join("".join(rows.format(i, w, i - 1) for i, w in enumerate(s, 1)) + "\n" for s in sentences)


def test_folders_of_treebanks(tmp_path: Path) -> None:
    folder = tmp_path / "en-ru"
    folder.mkdir()
    (folder / "en.conllu").write_text(treebank(["a", "dog"], ["go"]))
    (folder / "target.conllu").write_text(treebank(["собака"], ["иди", "!"]))
    links = folder / "alignment.json"
    links.write_text('[{"2": ["1"], "1": ["X"]}, {"1": ["1", "2"], "X": ["2"]}]')
    found = ig.read_bitext(folder)
    assert (found.lang, [pair.alignment.sure for pair in found]) == ("en>ru", [((1, 0),), ((0, 0), (0, 1))])
    for text, named in (
        ("[{}]", "1 for 2 and 2 sentences"),
        ('[{"2": ["2"]}, {}]', "word 2 to word 2, words counted from 1 in sentence 1"),
        ('[{"0": ["1"]}, {}]', "word numbers from 1"),
        ('[["1"], {}]', "a list of"),
        ("[", "a list of"),
    ):
        links.write_text(text)
        with pytest.raises(InputError, match=named):
            ig.read_bitext(folder)
    links.unlink()
    with pytest.raises(InputError, match=r"a folder with alignment\.json"):
        ig.read_bitext(folder)
