"""What the formats of one record a line share: columns checked on the way out, the last line on the way in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from isogloss.core.errors import InputError, UsageError, shown
from isogloss.core.files import COMPRESSED, Repairs, open_binary


def join_columns(columns: Sequence[str], separator: str = "\t") -> str:
    """The columns as one line, or an error where reading it back would give other columns.

    >>> join_columns(["Nairobi", "B-LOC"], " ")
    'Nairobi B-LOC'
    """
    line = separator.join(columns)
    if line.count(separator) != len(columns) - 1 or "\n" in line or "\r" in line or "\0" in line:
        raise UsageError(f"cannot be written on one line with columns between {shown(separator)}: {shown(line)}")
    return line


def check_last_line(path: Path, line: int, repairs: Repairs) -> None:
    """A plain file that ends inside a line may be cut short there: no column count would tell.

    Compressed files have an end of their own, which reading them has checked.
    """
    if path.suffix in COMPRESSED or not path.is_file() or not path.stat().st_size:
        return
    with open_binary(path) as file:
        file.seek(-1, os.SEEK_END)
        ends = file.read(1) == b"\n"
    if not ends:
        advice = "the file may be cut short; repair=True (--repair) accepts it"
        repairs.note(InputError(path, "a newline after the last line", "the end of the file", line=line, advice=advice))
