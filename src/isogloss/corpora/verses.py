"""Verse-aligned text, as eBible publishes it: one line per verse of a fixed list, the same list for all languages.

An empty line is a verse that the translation lacks; only verses present in all chosen languages are kept.
A line `<range>` says that the verse is part of the one before; such verses are merged in every language,
joined by a space, under the id `GEN 1:1+GEN 1:2`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from isogloss.core.errors import InputError, UsageError, shown
from isogloss.core.files import Repairs, read_lines
from isogloss.corpora.parallel import ParallelSet, write_lines, zip_lines

RANGE = "<range>"


def join_verses(sources: Mapping[str, Path], verses: Path, repairs: Repairs) -> Iterator[tuple[str, dict[str, str]]]:
    """The verses that all languages have, each under its id from the list `verses`."""
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


def write_verses(pairs: ParallelSet, paths: Mapping[str, Path], verses: Path) -> None:
    """One verse-aligned file per language: the inverse of reading, with the gaps put back."""
    known = list(read_lines(verses))
    place = {verse: line for line, verse in enumerate(known)}
    for lang, path in paths.items():
        lines = [""] * len(known)
        for id, text in zip(pairs.ids, pairs.sentences(lang), strict=True):
            first, *others = id.split("+")
            if not {first, *others} <= place.keys():
                raise UsageError(f"{shown(id)} is no verse of {verses}")
            lines[place[first]] = text
            for other in others:
                lines[place[other]] = RANGE
        write_lines(path, lines)


def _merged(
    sources: Mapping[str, Path], ids: list[str], texts: list[tuple[str, ...]]
) -> Iterator[tuple[str, dict[str, str]]]:
    """One verse, or several that some translation runs together; nothing where a language lacks one."""
    columns = [[text for text in column if text != RANGE] for column in zip(*texts, strict=True)]
    if columns and all(column and all(text.strip() for text in column) for column in columns):
        yield "+".join(ids), {lang: " ".join(column) for lang, column in zip(sources, columns, strict=True)}
