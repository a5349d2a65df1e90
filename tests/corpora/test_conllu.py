from __future__ import annotations

from pathlib import Path

import conllu as reference
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import rest_slow, shared

import isogloss as ig
from isogloss.core.errors import InputError
from isogloss.corpora.formats.conllu import first_on_cycle
from isogloss.corpora.kinds.treebank import Tree

GOOD = """\
# sent_id = s1
# text = Vámonos al mar.
1-2	Vámonos	_	_	_	_	_	_	_	_
1	Vamos	ir	VERB	_	Mood=Imp|Number=Plur	0	root	0:root	_
2	nos	nosotros	PRON	_	Case=Acc	1	obj	1:obj	_
2.1	x	x	X	_	_	_	_	1:dep	CopyOf=1
3-4	al	_	_	_	_	_	_	_	Note=a b
3	a	a	ADP	_	_	5	case	5:case	_
4	el	el	DET	_	_	5	det	5:det	_
5	mar	mar	NOUN	_	_	1	obl	1:obl	SpaceAfter=No
6	.	.	PUNCT	_	_	1	punct	1:punct	_

"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "es_x-ud-test.conllu"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_every_field_is_kept_and_derived_values_are_right(tmp_path: Path) -> None:
    bank = ig.read_treebank(write(tmp_path, GOOD * 2))
    assert bank.lang == "es"
    assert bank.counts == {"sentences": 2, "words": 12, "multiword tokens": 4, "empty nodes": 2}
    tree = bank[0]
    assert tree.words == ["Vamos", "nos", "a", "el", "mar", "."]
    assert tree.heads == [0, 1, 5, 5, 1, 1]
    assert (tree.upos[0], tree.deprels[4], tree.sent_id) == ("VERB", "obl", "s1")
    assert tree.text == "Vámonos al mar."
    bank[1:].write(tmp_path / "copy.conllu.gz")
    assert ig.read_treebank(tmp_path / "copy.conllu.gz", lang="spa").items == bank[1:].items


def test_text_is_rebuilt_from_surface_tokens_where_the_comment_is_missing(tmp_path: Path) -> None:
    without = "".join(line for line in GOOD.splitlines(keepends=True) if not line.startswith("# text"))
    assert ig.read_treebank(write(tmp_path, without))[0].text == "Vámonos al mar."


def test_new_values_for_words_leave_other_rows_alone(tmp_path: Path) -> None:
    tree = ig.read_treebank(write(tmp_path, GOOD))[0]
    changed = tree.with_nodes(upos=["A", "B", "C", "D", "E", "F"])
    assert changed.upos == ["A", "B", "C", "D", "E", "F"]
    assert [r for r in changed.rows if not r.id.isdecimal()] == [r for r in tree.rows if not r.id.isdecimal()]
    assert tree.upos[0] == "VERB"


def edit(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


BROKEN = {
    "column missing": (edit("2	nos	nosotros	", "2	nos	"), 5, "10 columns"),
    "comment inside": (edit("5	mar", "# late\n5	mar"), 10, "before the first word"),
    "id skipped": (edit("5	mar", "6	mar"), 10, "word id 5"),
    "id repeated": (edit("5	mar", "1	mar"), 10, "word id 5"),
    "head too large": (edit("1	obl	1:obl", "9	obl	1:obl"), 10, "head between 0 and 6"),
    "head not a number": (edit("1	obl	1:obl", "x	obl	1:obl"), 10, "head between 0 and 6"),
    "negative head": (edit("1	obl	1:obl", "-1	obl	1:obl"), 10, "head between 0 and 6"),
    "partly unannotated": (edit("1	obl	1:obl", "_	obl	1:obl"), 10, "head between 0 and 6"),
    "two roots": (edit("1	obl	1:obl", "0	obl	1:obl"), 3, "one root in the sentence, got 2"),
    "no root": (edit("0	root", "5	root"), 3, "one root in the sentence, got 0"),
    "cycle": (edit("1	obl	1:obl", "3	obl	1:obl"), 8, "a cycle through word 3"),
    "own head": (edit("1	obl	1:obl", "5	obl	1:obl"), 8, "a cycle through word 3"),
    "empty field": (edit("	a	ADP", "		ADP"), 8, "column LEMMA"),
    "range backwards": (edit("3-4	al", "4-3	al"), 7, "token range"),
    "range beyond": (edit("3-4	al", "3-9	al"), 7, "token range"),
    "range late": (edit("3-4	al", "2-4	al"), 7, "token range"),
    "empty node wrong": (edit("2.1	x", "2.2	x"), 6, "empty node 2.1"),
    "strange id": (edit("2.1	x", "2b	x"), 6, "an id such as"),
    "only comments": ("# nothing\n\n", 2, "at least one word before the empty line"),
    "two empty lines": (GOOD + "\n", 13, "at least one word before the empty line"),
    "cut short": (GOOD[:-1], 11, "an empty line after the last sentence"),
    "cut in a line": (GOOD[:190], 6, "10 columns"),
    "empty file": ("", None, "an empty file"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_gives_one_clear_error(tmp_path: Path, name: str) -> None:
    text, line, message = BROKEN[name]
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        ig.read_treebank(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"{path}:{line}:" if line else f"{path}:")


@pytest.mark.parametrize("name", [name for name in BROKEN if "cut short" not in name and name != "empty file"])
def test_repair_leaves_the_faulty_sentence_out_and_says_so(tmp_path: Path, name: str) -> None:
    text = BROKEN[name][0]
    path = write(tmp_path, GOOD + text.rstrip("\n") + "\n\n" + GOOD)
    if name in ("only comments", "two empty lines"):
        path = write(tmp_path, GOOD + text + GOOD)
    bank = ig.read_treebank(path, repair=True)
    assert len(bank.repairs) == 1
    assert BROKEN[name][2] in str(bank.repairs[0])
    assert set(map(str, bank)) == {str(ig.read_treebank(write(tmp_path, GOOD))[0])}


def test_a_missing_last_empty_line_is_accepted_under_repair(tmp_path: Path) -> None:
    bank = ig.read_treebank(write(tmp_path, GOOD[:-1]), repair=True)
    assert (len(bank), len(bank.repairs)) == (1, 1)


def test_a_blind_sentence_without_heads_is_valid(tmp_path: Path) -> None:
    bank = ig.read_treebank(write(tmp_path, "1	Hi	_	_	_	_	_	_	_	_\n\n"))
    assert bank[0].words == ["Hi"]


@given(st.lists(st.integers(0, 7), min_size=1, max_size=7))
def test_cycles_are_found_as_by_walking_up_from_every_word(heads: list[int]) -> None:
    heads = [min(head, len(heads)) for head in heads]

    def reaches_root(word: int) -> bool:
        for _ in range(len(heads) + 1):
            if word == 0:
                return True
            word = heads[word - 1]
        return word == 0

    stuck = [word for word in range(1, len(heads) + 1) if not reaches_root(word)]
    assert first_on_cycle(heads) == (stuck[0] if stuck else None)


TEXT = st.text(st.characters(exclude_characters="\t\n\r\0", exclude_categories=["Cs"]), min_size=1, max_size=8).filter(
    lambda t: not t.startswith("\ufeff")
)


@st.composite
def trees(draw: st.DrawFn) -> str:
    words = draw(st.integers(1, 6))
    order = draw(st.permutations(range(1, words + 1)))
    heads = {order[0]: 0} | {order[i]: order[draw(st.integers(0, i - 1))] for i in range(1, words)}
    lines = [f"# {draw(TEXT)}" for _ in range(draw(st.integers(0, 2)))]
    for word in range(1, words + 1):
        fields = [draw(TEXT) for _ in range(8)]
        lines.append("\t".join([str(word), *fields[:5], str(heads[word]), *fields[5:]]))
    return "\n".join(lines) + "\n\n"


@given(st.lists(trees(), min_size=1, max_size=4))
def test_any_valid_treebank_round_trips_byte_for_byte(tmp_path: Path, sentences: list[str]) -> None:
    path = write(tmp_path, "".join(sentences))
    ig.read_treebank(path).write(tmp_path / "copy.conllu")
    assert (tmp_path / "copy.conllu").read_bytes() == path.read_bytes()


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode), st.booleans())
def test_no_input_raises_anything_but_an_input_error(tmp_path: Path, content: bytes, repair: bool) -> None:
    path = tmp_path / "a.conllu"
    path.write_bytes(content)
    try:
        bank = ig.read_treebank(path, repair=repair)
    except InputError as error:
        assert str(path) in str(error)
    else:
        assert all(isinstance(tree, Tree) for tree in bank)


def test_values_agree_with_the_conllu_package_on_a_real_treebank() -> None:
    path = shared("data/ud/UD_French-Sequoia/fr_sequoia-ud-test.conllu.xz")
    bank = ig.read_treebank(path)
    theirs = reference.parse("".join(bank.format.unparse(bank)))
    for tree, other in zip(bank, theirs, strict=True):
        words = [token for token in other if isinstance(token["id"], int)]
        assert tree.words == [token["form"] for token in words]
        assert tree.heads == [token["head"] for token in words]
        assert tree.deprels == [token["deprel"] for token in words]
        assert tree.upos == [token["upos"] for token in words]
        assert tree.sent_id == other.metadata["sent_id"]


COUNTS = {  # sentences: train, dev, test, from the data's own README (plain line counting)
    "Arabic-PUD": (0, 0, 1000),
    "Bambara-CRB": (0, 0, 1026),
    "Buryat-BDT": (19, 0, 908),
    "English-EWT": (12544, 2001, 2077),
    "English-LinES": (3457, 1118, 1121),
    "Erzya-JR": (1217, 0, 921),
    "Japanese-PUD": (0, 0, 1000),
    "Maghrebi_Arabic_French-Arabizi": (1003, 139, 145),
    "Maltese-MUDT": (1123, 433, 518),
    "Naija-NSC": (7279, 990, 972),
    "Sindhi-Isra": (99, 386, 857),
    "Turkish-IMST": (3435, 1100, 1100),
    "Uyghur-UDT": (1656, 900, 900),
    "Wolof-WTB": (1188, 449, 470),
}


@pytest.mark.parametrize("treebank", rest_slow(COUNTS, fast=["Buryat-BDT", "Sindhi-Isra", "Uyghur-UDT", "Wolof-WTB"]))
def test_real_treebanks_have_the_counted_sentences(treebank: str) -> None:
    folder = shared(f"data/ud/UD_{treebank}")
    got = {
        path.name.rsplit("-", 1)[1].split(".")[0]: len(ig.read_treebank(path)) for path in folder.glob("*.conllu.xz")
    }
    assert tuple(got.get(split, 0) for split in ("train", "dev", "test")) == COUNTS[treebank]


@pytest.mark.slow
def test_every_real_treebank_round_trips_byte_for_byte() -> None:
    import lzma

    paths = sorted(shared("data/ud").glob("*/*.conllu.xz"))
    assert len(paths) > 70
    for path in paths:
        bank = ig.read_treebank(path)
        assert "".join(bank.format.unparse(bank)).encode() == lzma.decompress(path.read_bytes()), path
        assert bank.lang != "und", path
