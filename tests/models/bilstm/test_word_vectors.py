from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.core.errors import InputError
from isogloss.models.bilstm.word_vectors import read_word_vectors

TEXT = "the 0.5 -1 2e-3\nde\u00a0la 1 2 3\n, 0 0 0\n"


@pytest.mark.parametrize("header", ["", "3 3\n"])
@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_reads_words_and_numbers(tmp_path: Path, header: str, suffix: str) -> None:
    """A no-break space, as fastText's files hold it, is part of a word."""
    opener = {"": open, ".gz": gzip.open, ".xz": lzma.open}[suffix]
    path = tmp_path / f"x.vec{suffix}"
    with opener(path, "wb") as file:  # type: ignore[operator]
        file.write((header + TEXT).encode())
    words, table = read_word_vectors(path)
    assert words == ["the", "de\u00a0la", ","]
    assert table.dtype == np.float32
    np.testing.assert_allclose(table, [[0.5, -1, 2e-3], [1, 2, 3], [0, 0, 0]], rtol=1e-6)


def test_first_of_a_word_counts_and_most_is_most(tmp_path: Path) -> None:
    (tmp_path / "v").write_text("a 1 1\na 2 2\nb 3 3 \nc 4 4\n")
    words, table = read_word_vectors(tmp_path / "v", max_words=2)
    assert (words, table.tolist()) == (["a", "b"], [[1, 1], [3, 3]])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "v: expected word vectors"),
        ("3 300\n", "v: expected word vectors"),
        ("a 1 2\nb 1\n", "v:2: expected 2 numbers after the word, as before, got 1"),
        ("a 1 2\nb 1 x\n", "v:2: expected numbers after the word, got could not convert string to float: 'x'"),
        ("a 1 2\nb 1 nan\n", "v:2: expected finite numbers, got nan"),
        ("a 1 2\nb 1 1e60\n", "v:2: expected finite numbers, got inf"),
        ("a 1 2\n\nb 1 2\n", "v:2: expected a word and its vector"),
        ("a\n", "v:1: expected a word and its vector"),
        ("a 1 2\n 1 2\n", "v:2: expected a word and its vector"),
        ("a 1  2\n", "v:1: expected numbers after the word"),
        ("a 1 2\r\n", "v:1: expected plain UTF-8 lines, got a carriage return"),
    ],
)
def test_a_wrong_file_is_an_error_that_names_the_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "v").write_bytes(text.encode())
    with pytest.raises(InputError) as error:
        read_word_vectors(tmp_path / "v")
    assert said in str(error.value)


@given(data=st.binary(max_size=60))
def test_any_bytes_are_vectors_or_an_input_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "v").write_bytes(data)
    try:
        words, table = read_word_vectors(tmp_path / "v")
    except InputError:
        return
    assert len(words) == len(table) == len(set(words)) and np.isfinite(table).all()


@given(
    rows=st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \n\r\0"), min_size=1),
        st.lists(st.floats(-1e3, 1e3, width=32), min_size=3, max_size=3),
        min_size=1,
        max_size=5,
    )
)
def test_what_is_written_is_read(tmp_path: Path, rows: dict[str, list[float]]) -> None:
    lines = [" ".join([word, *map(repr, values)]) + "\n" for word, values in rows.items()]
    (tmp_path / "v").write_bytes("".join(lines).encode())
    if lines[0].startswith("\ufeff"):
        return  # read as a byte-order mark, which is an error of its own
    words, table = read_word_vectors(tmp_path / "v")
    assert words == list(rows)
    np.testing.assert_array_equal(table, np.array(list(rows.values()), dtype=np.float32))
