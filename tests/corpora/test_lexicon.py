"""Bilingual lexicons: order kept, pairs named, bytes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import isogloss as ig
from isogloss.core.errors import InputError, UsageError
from isogloss.corpora.kinds.lexicon import Entry, translations

WORD = st.text(st.characters(exclude_characters="\n\r\t\0", exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@given(st.lists(st.tuples(WORD, WORD), min_size=1, max_size=6))
def test_entries_and_bytes_come_back(tmp_path: Path, entries: list[tuple[str, str]]) -> None:
    path = tmp_path / "eng-rus.tsv"
    path.write_bytes("".join(f"{s}\t{t}\n" for s, t in entries).encode())
    lexicon = ig.read_lexicon(path)
    assert (list(lexicon), lexicon.lang) == (entries, "en>ru")
    lexicon.write(tmp_path / "again.tsv")
    assert (tmp_path / "again.tsv").read_bytes() == path.read_bytes()


def test_translations_keep_the_lexicons_order() -> None:
    entries = [Entry("b", "2"), Entry("a", "1"), Entry("b", "1"), Entry("b", "2")]
    assert list(translations(entries).items()) == [("b", ("2", "1")), ("a", ("1",))]


@pytest.mark.parametrize("line", ["word", "a\tb\tc", "\tb", "a\t ", ""])
def test_faulty_lines(tmp_path: Path, line: str) -> None:
    path = tmp_path / "words.tsv"
    path.write_text(f"a\tb\n{line}\nc\td\n")
    with pytest.raises(InputError, match=r"words\.tsv:2: expected source<TAB>target"):
        ig.read_lexicon(path)
    mended = ig.read_lexicon(path, repair=True)
    assert (list(mended), mended.lang) == ([("a", "b"), ("c", "d")], "und")


def test_the_pair_can_be_given(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_text("a\tb\n")
    assert ig.read_lexicon(path, lang="eng>uig").lang == "en>ug"
    with pytest.raises(UsageError, match="'en>fr', not 'en-ug'"):
        ig.read_lexicon(path, lang="en-ug")
