"""Verse-aligned text as published by eBible: one line per verse of a list that is the same for all languages.

An empty line is a verse that the translation lacks; only verses in all selected languages are read. A line `<range>`
means that the verse is part of the previous one: such verses are merged in every language, joined by a space, under
the id `GEN 1:1+GEN 1:2`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from isogloss.core.errors import InputError, shown
from isogloss.core.files import Repairs
from isogloss.corpora.parallel import zip_lines

RANGE = "<range>"


def join_verses(sources: Mapping[str, Path], verses: Path, repairs: Repairs) -> Iterator[tuple[str, dict[str, str]]]:
    """The verses that all languages have, with their ids from the file `verses`."""
    ids: list[str] = []
    texts: list[tuple[str, ...]] = []
    for line, (id, *row) in enumerate(zip_lines([verses, *sources.values()], repairs), 1):
        if not id.strip() or "+" in id:
            raise InputError(verses, "a verse such as 'GEN 1:1'", shown(id), line=line)
        if RANGE not in row:
            yield from _merged(sources, ids, texts)
            ids, texts = [], []
        ids.append(id)
        texts.append(tuple(row))
    yield from _merged(sources, ids, texts)


def _merged(
    sources: Mapping[str, Path], ids: list[str], texts: list[tuple[str, ...]]
) -> Iterator[tuple[str, dict[str, str]]]:
    """One verse, or several that a translation merges; nothing if a language lacks one of them."""
    columns = [[text for text in column if text != RANGE] for column in zip(*texts, strict=True)]
    if columns and all(column and all(text.strip() for text in column) for column in columns):
        yield "+".join(ids), {lang: " ".join(column) for lang, column in zip(sources, columns, strict=True)}
