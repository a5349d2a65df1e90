"""Pretrained word vectors in the text format of word2vec and fastText: `word v1 … vd` per line, optional header."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from isogloss.core.errors import InputError, shown
from isogloss.core.files import read_lines

MAX_WORDS = 250_000  # files are sorted by frequency; later words are rare


def read_word_vectors(
    path: str | os.PathLike[str], max_words: int = MAX_WORDS
) -> tuple[list[str], npt.NDArray[np.float32]]:
    """The first `max_words` distinct words and their vectors as rows; `.gz`, `.xz` and `.bz2` are decompressed."""
    rows: dict[str, npt.NDArray[np.float32]] = {}
    units = 0
    for number, word, values in _lines(path):
        if len(rows) == max_words:
            break
        units = units or len(values)
        rows.setdefault(word, _vector(path, number, values, units))
    if not rows:
        raise InputError(path, "word vectors, a line each: word v1 … vd", "none")
    return list(rows), np.stack(list(rows.values()))


def _lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str, list[str]]]:
    """Line number, word and values of each line except the header."""
    for number, line in enumerate(read_lines(path), 1):
        word, *values = line.rstrip(" ").split(" ")
        if number == 1 and is_header([word, *values]):
            continue
        if not word or not values:
            raise InputError(path, "a word and its vector: word v1 … vd", shown(line), line=number)
        yield number, word, values


def is_header(fields: list[str]) -> bool:
    """Whether the first line has only the number of words and of units.

    >>> is_header(["2000000", "300"]), is_header(["7", "0.25"]), is_header(["the", "1", "2"])
    (True, False, False)
    """
    return len(fields) == 2 and all(field.isascii() and field.isdecimal() for field in fields)


def _vector(path: str | os.PathLike[str], line: int, values: list[str], units: int) -> npt.NDArray[np.float32]:
    if len(values) != units:
        raise InputError(path, f"{units} numbers after the word, as before", f"{len(values)}", line=line)
    try:
        with np.errstate(over="ignore"):  # values beyond float32 are reported below
            vector = np.array([float(value) for value in values], dtype=np.float32)
    except ValueError as error:
        raise InputError(path, "numbers after the word", str(error), line=line) from None
    if not np.isfinite(vector).all():
        raise InputError(path, "finite numbers", f"{vector[~np.isfinite(vector)][0]}", line=line)
    return vector
