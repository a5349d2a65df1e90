"""Verse-aligned text as published by eBible: one line per verse of a list that is the same for all languages.

An empty line is a verse that the translation lacks; only verses in all selected languages are read. A line `<range>`
means that the verse is part of the previous one: such verses are merged in every language, joined by a space, under
the id `GEN 1:1+GEN 1:2`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from isogloss.core.errors import InputError, shown
from isogloss.core.files import Repairs, read_lines
from isogloss.corpora.parallel import zip_files

RANGE = "<range>"
RowWithId = tuple[str, dict[str, str]]


def join_verses(sources: Mapping[str, Path], verses: Path, repairs: Repairs) -> Iterator[RowWithId]:
    """The verses that all languages have, with their ids from the file `verses`."""
    ids: list[str] = []
    texts: list[tuple[str, ...]] = []
    for line, (id, *row) in enumerate(zip_files([verses, *sources.values()], partial(read_lines, repairs=repairs)), 1):
        if not id.strip() or "+" in id:
            raise InputError(verses, "a verse such as 'GEN 1:1'", shown(id), line=line)
        if RANGE not in row:
            yield from _merged(sources, ids, texts)
            ids, texts = [], []
        ids.append(id)
        texts.append(tuple(row))
    yield from _merged(sources, ids, texts)


def _merged(sources: Iterable[str], ids: list[str], texts: list[tuple[str, ...]]) -> Iterator[RowWithId]:
    """One verse, or several that a translation merges; nothing if a language lacks one of them."""
    columns = [[text for text in column if text != RANGE] for column in zip(*texts, strict=True)]
    if columns and all(column and all(text.strip() for text in column) for column in columns):
        yield "+".join(ids), {lang: " ".join(column) for lang, column in zip(sources, columns, strict=True)}
