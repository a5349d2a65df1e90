"""Parallel text: the same sentences in two or more languages.

A `ParallelSet` holds one tuple of sentences per language, all of the same length, and their words where the source
is tokenised (treebanks, tokenised text). `read_parallel` and the laboratory return parallel sets.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar, overload

from isogloss.core.errors import InputError, UsageError, shown
from isogloss.core.files import atomic_write
from isogloss.core.registry import check_name
from isogloss.languages.codes import canonical

T = TypeVar("T")


@dataclass(frozen=True)
class ParallelSet(Sequence[dict[str, str]]):
    """Sentences by language, with an id for each row. Slices are parallel sets too.

    >>> pairs = ParallelSet({"en": ("A dog.", "A cat."), "fr": ("Un chien.", "Un chat.")}, ids=("1", "2"))
    >>> pairs[1:].sentences("fr"), pairs[0]["en"]
    (('Un chat.',), 'A dog.')
    """

    texts: Mapping[str, tuple[str, ...]]
    ids: tuple[str, ...]
    tokens: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)  # words, where tokenised
    origin: str = ""
    repairs: tuple[InputError, ...] = ()  # errors that `repair=True` corrected or skipped

    def __post_init__(self) -> None:
        lengths = [(lang, len(column)) for part in (self.texts, self.tokens) for lang, column in part.items()]
        if wrong := ", ".join(f"{n} of '{lang}'" for lang, n in lengths if n != len(self.ids)):
            raise UsageError(f"expected {len(self.ids)} sentences per language, one for each id, got {wrong}")
        if not set(self.tokens) <= set(self.texts):
            raise UsageError(f"tokens in languages without sentences: {sorted(set(self.tokens) - set(self.texts))}")

    @overload
    def __getitem__(self, index: int) -> dict[str, str]: ...
    @overload
    def __getitem__(self, index: slice) -> ParallelSet: ...
    def __getitem__(self, index: int | slice) -> dict[str, str] | ParallelSet:
        if not isinstance(index, slice):
            return {lang: column[index] for lang, column in self.texts.items()}
        texts = {lang: column[index] for lang, column in self.texts.items()}
        tokens = {lang: column[index] for lang, column in self.tokens.items()}
        return replace(self, texts=texts, tokens=tokens, ids=self.ids[index])

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<parallel {' '.join(self.languages)}: {len(self)} sentences; {self.origin or 'in memory'}>"

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(self.texts)

    def sentences(self, lang: str) -> tuple[str, ...]:
        return self.texts[check_name(canonical(lang), self.texts, "language of this parallel set")]

    def words(self, lang: str) -> tuple[tuple[str, ...], ...]:
        lang = check_name(canonical(lang), self.texts, "language of this parallel set")
        if lang not in self.tokens:
            raise UsageError(f"no words of '{lang}'; words=True splits tokenised text at spaces")
        return self.tokens[lang]

    def pair(self, source: str, target: str) -> ParallelSet:
        """The same sentences in two languages only, source first."""
        texts = {canonical(lang): self.sentences(lang) for lang in (source, target)}
        return replace(self, texts=texts, tokens={lang: self.tokens[lang] for lang in texts if lang in self.tokens})

    def distinct(self) -> ParallelSet:
        """The same set without rows that repeat an earlier one in every language.

        >>> rows = {"en": ("Thanks.", "Thanks.", "Thank you."), "fr": ("Merci.", "Merci.", "Merci.")}
        >>> ParallelSet(rows, ids=("1", "2", "3")).distinct().ids
        ('1', '3')
        """
        first: dict[tuple[str, ...], int] = {}
        for number, row in enumerate(zip(*self.texts.values(), strict=True)):
            first.setdefault(row, number)
        rows = list(first.values())
        texts = {lang: tuple(column[i] for i in rows) for lang, column in self.texts.items()}
        tokens = {lang: tuple(column[i] for i in rows) for lang, column in self.tokens.items()}
        return replace(self, texts=texts, tokens=tokens, ids=tuple(self.ids[i] for i in rows))

    def write(self, to: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]]) -> None:
        """Write one TSV file with a header of languages; or, for a mapping of files, one sentence per line in each."""
        for lang, column in self.texts.items():
            for id, text in zip(self.ids, column, strict=True):
                if not text.strip() or "\n" in text or "\t" in text or "\r" in text:  # could not be read back
                    raise UsageError(f"sentence {id} of '{lang}' cannot be written as one line: {shown(text)}")
        if isinstance(to, Mapping):
            for lang, path in to.items():
                write_lines(path, self.sentences(lang))
        else:
            rows = zip(*self.texts.values(), strict=True)
            write_lines(to, map("\t".join, [self.languages, *rows]))


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    with atomic_write(path) as file:
        file.writelines(f"{line}\n" for line in lines)


def zip_files(paths: Sequence[Path], read: Callable[[Path], Iterator[T]]) -> Iterator[tuple[T, ...]]:
    """Items of several files as tuples; files of different lengths are an error that gives both lengths."""
    streams = [read(path) for path in paths]
    for number, items in enumerate(zip_longest(*streams), 1):
        if None in items:
            long = next(i for i, item in enumerate(items) if item is not None)
            expected = f"{number + sum(1 for _ in streams[long])} lines, as in {paths[long]}"
            advice, short = "the files are not aligned", paths[items.index(None)]
            raise InputError(short, expected, f"{number - 1}", line=number, advice=advice)
        yield items
