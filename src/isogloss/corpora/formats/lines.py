"""Formats with one record per line: checks of columns and of the last line, and the words of tokenised text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from isogloss.core.errors import InputError, UsageError, shown
from isogloss.core.files import COMPRESSED, Repairs, open_binary

TRUNCATED = "the file may be truncated; repair=True (--repair) accepts it"  # advice


def join_columns(columns: Sequence[str], separator: str = "\t") -> str:
    """The columns as one line; an error if reading it back would give other columns.

    >>> join_columns(["Nairobi", "B-LOC"], " ")
    'Nairobi B-LOC'
    """
    line = separator.join(columns)
    if line.count(separator) != len(columns) - 1 or "\n" in line or "\r" in line or "\0" in line:
        raise UsageError(f"cannot be written as one line with columns separated by {shown(separator)}: {shown(line)}")
    return line


def tokens(line: str) -> tuple[str, ...]:
    """The words of a tokenised sentence, which are separated by spaces or tabs.

    Other white space (no-break, thin and ideographic spaces) is part of a word, as in treebanks.

    >>> tokens(" 10\u00a0000  yen "), tokens("「\u3000」 \u3000 。")
    (('10\xa0000', 'yen'), ('「\u3000」', '\u3000', '。'))
    """
    return tuple(word for word in line.replace("\t", " ").split(" ") if word)


def check_last_line(path: Path, line: int, repairs: Repairs) -> None:
    """An error if a file does not end with a newline: it may be truncated, which column counts do not show.

    Compressed files are not checked: decompression detects truncation.
    """
    if path.suffix in COMPRESSED or not path.is_file() or not path.stat().st_size:
        return
    expected = "a newline after the last line"
    with open_binary(path) as file:
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            repairs.note(InputError(path, expected, "the end of the file", line=line, advice=TRUNCATED))
