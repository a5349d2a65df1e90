"""Pharaoh files: marks, bases, and bytes that come back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import isogloss as ig
from isogloss.core.errors import InputError, UsageError
from isogloss.corpora.formats import detect_format
from isogloss.corpora.formats.pharaoh import detect_base
from isogloss.corpora.kinds.alignment import Alignment, Link

LINKS = st.lists(st.tuples(st.integers(0, 300), st.sampled_from("-?p"), st.integers(0, 300)), max_size=6)


def write(folder: Path, text: str) -> Path:
    path = folder / "en-fr.align"
    path.write_bytes(text.encode())
    return path


def test_sure_and_possible(tmp_path: Path) -> None:
    path = write(tmp_path, "0-0 3?4 1-2 5p6\n\n")
    read = ig.read_alignment(path)
    assert (read[0].sure, read[0].possible) == (((0, 0), (1, 2)), ((3, 4), (5, 6)))
    assert read[1] == Alignment()
    assert (read.lang, read.counts) == ("en>fr", {"sentence pairs": 2, "sure links": 2, "possible links": 2})


@given(st.lists(LINKS, min_size=1, max_size=4), st.sampled_from([0, 1]))
def test_bytes_come_back(tmp_path: Path, lines: list[list[tuple[int, str, int]]], base: int) -> None:
    text = "".join(" ".join(f"{s + base}{mark}{t + base}" for s, mark, t in line) + "\n" for line in lines)
    path = write(tmp_path, text)
    read = ig.read_alignment(path, base=base)
    assert [[(s, mark, t) for s, t, mark in alignment.links] for alignment in read] == lines
    read.write(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("fault", ["1-", "a-b", "1-2-3", "-1-2", "01-2", "1_2", "٣-1", "1-99999999999999999999"])
def test_what_is_no_link(tmp_path: Path, fault: str) -> None:
    path = write(tmp_path, f"0-0\n0-1 {fault}\n")
    with pytest.raises(InputError, match=r"align:2: expected links such as"):
        ig.read_alignment(path)
    assert ig.read_alignment(path, repair=True)[1] == Alignment()


def test_zero_in_a_file_that_counts_from_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="counted from 1"):
        ig.read_alignment(write(tmp_path, "0-1\n"), base=1)
    with pytest.raises(UsageError, match="0 or 1, not at 2"):
        ig.read_alignment(write(tmp_path, "0-1\n"), base=2)


def test_stray_spaces_and_a_cut_last_line(tmp_path: Path) -> None:
    for text, named in (("0-0  1-1\n", "single spaces"), ("0-0 \n", "single spaces"), ("0-0", "end of the file")):
        path = write(tmp_path, text)
        with pytest.raises(InputError, match=named):
            ig.read_alignment(path)
        assert ig.read_alignment(path, repair=True)[0].sure[0] == (0, 0)


def test_base_is_found_from_lengths_or_refused(tmp_path: Path) -> None:
    assert detect_base(write(tmp_path, "1-1\n0-2\n"), [(4, 4), (4, 4)]) == 0
    assert detect_base(write(tmp_path, "1-1\n1-4\n"), [(4, 4), (4, 4)]) == 1
    for text in ("1-1\n", "0-4\n"):
        with pytest.raises(InputError, match=r"give the number of the first word: base= \(--base, --gold-base\)"):
            detect_base(write(tmp_path, text), [(4, 4)])
    assert detect_base(write(tmp_path, "\n\n"), [(4, 4), (4, 4)]) == 0, "without links"


def test_base_of_a_file_without_its_sentences(tmp_path: Path) -> None:
    for text, base in (("1-1 2-3\n\n4-4\n", 1), ("1-1 2-3\n\n4-0\n", 0), ("\n", 0)):
        path = write(tmp_path, text)
        assert detect_base(path) == base
        assert ig.read_alignment(path).items == ig.read_alignment(path, base=base).items
        if base:
            assert detect_format(path).name == "pharaoh-1"
            assert "counted from 1" in detect_format(path).summary


def test_messages_name_the_base_of_the_file(tmp_path: Path) -> None:
    tokens = {"en": (("a", "b"), ("c", "d")), "fr": (("x", "y"), ("z",))}
    texts = {lang: tuple(map(" ".join, words)) for lang, words in tokens.items()}
    sentences = ig.ParallelSet(texts, ids=("1", "2"), tokens=tokens)
    path = write(tmp_path, "1-1 2-2\n2-1 3-1 3-2\n")
    message = r"align:2: expected links within 2 and 1 words, got one from word 3 to word 1 and 1 more, words counted "
    with pytest.raises(InputError, match=message + r"from 1; repair=True"):
        ig.read_bitext(sentences, path)
    repaired = ig.read_bitext(sentences, path, repair=True)
    assert [pair.alignment.sure for pair in repaired] == [((0, 0), (1, 1)), ((1, 0),)]
    assert [error.line for error in repaired.repairs] == [2]
    with pytest.raises(InputError, match="word 2 to word 2, words counted from 0"):
        ig.read_bitext(sentences, path, base=0)


def test_repair_of_a_file_with_both_bases_takes_the_more_frequent_one(tmp_path: Path) -> None:
    tokens = {"en": (("a", "b"),) * 3, "fr": (("x", "y"),) * 3}
    texts = dict.fromkeys(tokens, ("_",) * 3)
    sentences = ig.ParallelSet(texts, ids=("1", "2", "3"), tokens=tokens)
    path = write(tmp_path, "1-1 2-2\n2-1\n0-1\n")
    with pytest.raises(InputError, match="1 lines with a 0 and 2 lines with a number equal to the length"):
        ig.read_bitext(sentences, path)
    repaired = ig.read_bitext(sentences, path, repair=True)
    assert [pair.alignment.sure for pair in repaired] == [((0, 0), (1, 1)), ((1, 0),), ()]
    assert [error.line for error in repaired.repairs] == [3]


def test_links_to_nothing_are_no_links() -> None:
    alignment = Alignment((Link(-1, 2), Link(0, 0), Link(1, -1, "?")))
    assert (alignment.sure, alignment.possible) == (((0, 0),), ())
