"""Raw text: files, folders and compression; empty lines are no text but are written back."""

from __future__ import annotations

import gzip
import lzma
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import isogloss as ig
from isogloss.core.errors import InputError, UsageError
from isogloss.corpora.formats.text import stream_files

LINES = st.lists(st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"])), max_size=8)


@given(st.text("ab\u2028é", min_size=1), LINES)
def test_bytes_come_back(tmp_path: Path, first: str, lines: list[str]) -> None:
    first = f"x{first}"  # empty lines before the first text are the ones that are not kept
    path = tmp_path / "wo.txt"
    path.write_bytes("".join(f"{line}\n" for line in [first, *lines]).encode())
    text = ig.read_text(path)
    assert list(text) == [line for line in [first, *lines] if line.strip()]
    assert text.counts["lines"] == 1 + len(lines)
    text.write(tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_bytes() == path.read_bytes()
    assert list(pickle.loads(pickle.dumps(text.items))) == list(text)


def test_a_first_line_that_looks_like_a_byte_order_mark_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "wo.txt"
    path.write_bytes("\n\ufeffone\n".encode())
    ig.read_text(path).write(tmp_path / "again.txt")
    assert list(ig.read_text(tmp_path / "again.txt")) == ["\ufeffone"]


def test_folders_are_read_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "wo"
    (folder / "deep").mkdir(parents=True)
    (folder / "b.txt.gz").write_bytes(gzip.compress(b"two\n\nthree\n"))
    (folder / "a.txt").write_bytes(b"one")
    (folder / "deep" / "c.txt.xz").write_bytes(lzma.compress(b"four\n"))
    (folder / "image.png").write_bytes(b"\x89PNG")
    text = ig.read_text(folder)
    assert (list(text), text.lang) == (["one", "two", "three", "four"], "wo")
    assert list(ig.read_text([folder / "b.txt.gz", folder / "a.txt"])) == ["two", "three", "one"]
    assert list(stream_files([folder])) == list(text)


def test_languages_must_agree(tmp_path: Path) -> None:
    for name in ("en.txt", "fr.txt"):
        (tmp_path / name).write_text("x\n")
    with pytest.raises(UsageError, match="en, fr"):
        ig.read_text([tmp_path / "en.txt", tmp_path / "fr.txt"])
    assert ig.read_text([tmp_path / "en.txt", tmp_path / "fr.txt"], lang="mul").lang == "mul"


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_nothing_to_read(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "en.txt").write_bytes(content)
    with pytest.raises(InputError, match="at least one item of the format 'text'"):
        ig.read_text(tmp_path / "en.txt")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="text files"):
        ig.read_text(tmp_path / "empty")


def test_changed_text_that_is_no_line_is_refused(tmp_path: Path) -> None:
    (tmp_path / "en.txt").write_text("a\n\nb\n")
    text = ig.read_text(tmp_path / "en.txt")
    text.with_items(line.upper() for line in text).write(tmp_path / "upper.txt")
    assert (tmp_path / "upper.txt").read_text() == "A\nB\n"
    with pytest.raises(UsageError, match="one line of text"):
        text.with_items(["a\nb"]).write(tmp_path / "wrong.txt")
