"""Parallel text: the same sentences in two or more languages, and the two one-file formats that hold it.

A `ParallelSet` keeps one tuple of sentences per language, all equally long; words are there where the
source had them (treebanks, tokenised text). It is made by `read_parallel`, by the laboratory, or by hand.

One-file formats: a TSV whose header names the languages, and fast_align's `source ||| target`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, overload

from isogloss.core.errors import InputError, UsageError, shown
from isogloss.core.files import Repairs, atomic_write, read_lines
from isogloss.core.registry import check_name
from isogloss.corpora.corpus import Format
from isogloss.languages.codes import canonical, is_language

BARS = "|||"


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
        lengths = {lang: len(column) for columns in (self.texts, self.tokens) for lang, column in columns.items()}
        wrong = [f"{lang} has {n}" for lang, n in lengths.items() if n != len(self.ids)]
        if wrong or set(lengths) != set(self.texts):
            raise UsageError(f"a parallel set of {len(self.ids)} ids needs as many sentences: {', '.join(wrong)}")

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
        """The same sentences in two languages only."""
        texts = {canonical(lang): self.sentences(lang) for lang in (source, target)}
        return replace(self, texts=texts, tokens={lang: self.tokens[lang] for lang in texts if lang in self.tokens})

    def write(self, to: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]]) -> None:
        """One TSV with a header of languages; or, given a file per language, one sentence a line in each."""
        if isinstance(to, Mapping):
            for lang, path in to.items():
                _write_lines(path, self.sentences(lang), self._writable("\n"))
        else:
            rows = ("\t".join(row) for row in zip(self.languages, *zip(*self.texts.values())))
            _write_lines(to, rows, self._writable("\n\t"))

    def _writable(self, separators: str) -> None:
        """A sentence that holds a separator would come back as two."""
        for lang, column in self.texts.items():
            for id, text in zip(self.ids, column, strict=True):
                if not text.strip() or any(mark in text for mark in separators):
                    raise UsageError(f"sentence {id} of '{lang}' cannot be written on one line: {shown(text)}")
