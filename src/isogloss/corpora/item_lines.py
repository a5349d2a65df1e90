"""Where in its file an item of a corpus is."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from isogloss.core.errors import InputError
from isogloss.core.files import Repairs, read_lines
from isogloss.corpora.corpus import Corpus

T = TypeVar("T")


def line_of(corpus: Corpus[T], item: T) -> int | None:
    """The line at which an item begins: the first place in the file of the lines that the item is written as.

    None if the corpus was not read from a file, if the item was changed, or if an item is not written in lines (JSON).
    """
    path, written = Path(corpus.origin), _content_lines(corpus, [item])
    header = 2 * len(written) - len(_content_lines(corpus, [item, item]))  # written once, however many items
    written = written[header:]
    if not path.is_file() or not written:
        return None
    try:
        lines = list(read_lines(path, Repairs(allowed=True)))
    except InputError:
        return None
    numbers = [number for number, line in enumerate(lines) if line == written[0]]
    return next((number + 1 for number in numbers if _content(lines[number:], len(written)) == written), None)


def _content_lines(corpus: Corpus[T], items: list[T]) -> list[str]:
    return [line for line in "".join(corpus.format.unparse(items)).split("\n") if line]


def _content(lines: list[str], number: int) -> list[str]:
    """The first `number` lines that are not empty."""
    return [line for line in lines[: 2 * number] if line][:number]
