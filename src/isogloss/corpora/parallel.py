"""Parallel text: the same sentences in two or more languages.

A `ParallelSet` keeps one tuple of sentences per language, all equally long; words are there where the
source had them (treebanks, tokenised text). It is made by `read_parallel`, by the laboratory, or by hand.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar, overload

from isogloss.core.errors import InputError, UsageError, shown
from isogloss.core.files import Repairs, atomic_write, read_lines
from isogloss.core.registry import check_name
from isogloss.languages.codes import canonical

T = TypeVar("T")


@dataclass(frozen=True)
class ParallelSet(Sequence[dict[str, str]]):
    """Sentences by language, with an id for each; slices are parallel sets too.

    >>> pairs = ParallelSet({"en": ("A dog.", "A cat."), "fr": ("Un chien.", "Un chat.")}, ids=("1", "2"))
    >>> pairs[1:].sentences("fr"), pairs[0]["en"]
    (('Un chat.',), 'A dog.')
    """

    texts: Mapping[str, tuple[str, ...]]
    ids: tuple[str, ...]
    tokens: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)  # where words are known
    origin: str = ""
    repairs: tuple[InputError, ...] = ()  # what `repair=True` mended or left out

    def __post_init__(self) -> None:
        lengths = [(lang, len(column)) for part in (self.texts, self.tokens) for lang, column in part.items()]
        wrong = [f"{n} of '{lang}'" for lang, n in lengths if n != len(self.ids)]
        if wrong:
            raise UsageError(f"a parallel set of {len(self.ids)} ids got {', '.join(wrong)}")
        if not set(self.tokens) <= set(self.texts):
            raise UsageError(f"words without sentences: {sorted(set(self.tokens) - set(self.texts))}")

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
        return f"<parallel {' '.join(self.languages)}: {len(self)} sentences; {self.origin or 'made in memory'}>"

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(self.texts)

    def sentences(self, lang: str) -> tuple[str, ...]:
        return self.texts[check_name(canonical(lang), self.texts, "language of this parallel set")]

    def words(self, lang: str) -> tuple[tuple[str, ...], ...]:
        lang = check_name(canonical(lang), self.texts, "language of this parallel set")
        if lang not in self.tokens:
            raise UsageError(f"the words of '{lang}' are not known; words=True splits tokenised text at spaces")
        return self.tokens[lang]

    def pair(self, source: str, target: str) -> ParallelSet:
        """The same sentences in two languages only, the source first."""
        texts = {canonical(lang): self.sentences(lang) for lang in (source, target)}
        return replace(self, texts=texts, tokens={lang: self.tokens[lang] for lang in texts if lang in self.tokens})

    def write(self, to: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]]) -> None:
        """One TSV with a header of languages; or, given a file per language, one sentence a line in each."""
        self._check_writable()
        if isinstance(to, Mapping):
            for lang, path in to.items():
                write_lines(path, self.sentences(lang))
        else:
            rows = zip(*self.texts.values(), strict=True)
            write_lines(to, map("\t".join, [self.languages, *rows]))

    def _check_writable(self) -> None:
        """A sentence with a separator inside, or an empty one, would not come back as itself."""
        for lang, column in self.texts.items():
            for id, text in zip(self.ids, column, strict=True):
                if not text.strip() or "\n" in text or "\t" in text or "\r" in text:
                    raise UsageError(f"sentence {id} of '{lang}' cannot be written on a line: {shown(text)}")


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    with atomic_write(path) as file:
        file.writelines(f"{line}\n" for line in lines)


def zip_lines(paths: Sequence[Path], repairs: Repairs) -> Iterator[tuple[str, ...]]:
    """The files' lines side by side."""
    return zip_files(paths, [read_lines(path, repairs) for path in paths])


def zip_files(paths: Sequence[Path], streams: Sequence[Iterator[T]]) -> Iterator[tuple[T, ...]]:
    """What the lines of files hold, side by side; unequal lengths are an error, as none knows where a shift began."""
    for number, items in enumerate(zip_longest(*streams), 1):
        if None in items:
            short = items.index(None)
            long = next(i for i, item in enumerate(items) if item is not None)
            total = number + sum(1 for _ in streams[long])
            expected = f"{total} lines as in {paths[long]}"
            raise InputError(paths[short], expected, f"{number - 1}", line=number, advice="the files are not aligned")
        yield items
