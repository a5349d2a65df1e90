"""`Corpus`, which every reader returns: an immutable typed sequence of items with its language, origin and format.

A `Format` describes a file format: how items are read from a file, written as text, and recognised. What depends only
on the kind of the items (how they are counted, shown, rewritten …) is in `CorpusKind`.
"""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar, overload

from isogloss.core.errors import InputError
from isogloss.core.files import Repairs, atomic_write
from isogloss.corpora.kinds import KINDS
from isogloss.corpora.kinds.kind import CorpusKind
from isogloss.languages.checks import check_language
from isogloss.languages.codes import language_of_path

T = TypeVar("T")
FilePath: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True)
class Format(Generic[T]):
    """How one kind of file is read, written and recognised."""

    name: str
    kind: str  # a name of `KINDS`
    summary: str  # one line, for `isogloss ls`
    stream: Callable[[Path, Repairs], Iterator[T]]
    unparse: Callable[[Iterable[T]], Iterator[str]]  # strings to concatenate; the inverse of `stream`
    recognise: Callable[[str, Sequence[str]], bool]  # arguments: suffix without compression, first lines
    suffix: str  # of files that are written in this format
    language: Callable[[T], str] | None = None  # the language that an item states, where the format has it


@dataclass(frozen=True)
class Corpus(Sequence[T], Generic[T]):
    """Items with their language and origin. Slices are corpora too; a corpus never changes in place."""

    items: tuple[T, ...]
    lang: str
    format: Format[T]
    origin: str = ""
    repairs: tuple[InputError, ...] = ()  # errors that `repair=True` corrected or skipped

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Corpus[T]: ...
    def __getitem__(self, index: int | slice) -> T | Corpus[T]:
        if isinstance(index, slice):
            return replace(self, items=self.items[index])
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {unit}" for unit, n in self.counts.items())
        return f"<{self.format.kind} {self.lang}: {counts}; {self.origin or 'in memory'}>"

    @property
    def kind(self) -> CorpusKind[T]:
        """The kind of the corpus: its operations that depend on the type of the items."""
        return KINDS[self.format.kind]

    @property
    def counts(self) -> Mapping[str, int]:
        return self.kind.count(self.items)

    def with_items(self, items: Iterable[T]) -> Corpus[T]:
        """A copy of the corpus with other items."""
        return replace(self, items=tuple(items))

    def write(self, path: FilePath) -> None:
        """Write the corpus to a file in its format, atomically; compressed if the suffix is .gz, .xz or .bz2."""
        with atomic_write(path) as file:
            file.writelines(self.format.unparse(self.items))


AnyCorpus: TypeAlias = Corpus[Any]  # a corpus of any kind; functions of one kind take Corpus[Tree], …


@contextlib.contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Without garbage collection, which doubles the time of creating many small immutable objects."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def read_corpus(path: FilePath, format: Format[T], *, lang: str | None = None, repair: bool = False) -> Corpus[T]:
    """Read a file completely. The language is `lang`, or else the one that the file name states.

    A file without items is an error.
    """
    lang = check_language(lang) if lang else None
    path, repairs = Path(path), Repairs(repair)
    with garbage_collection_paused():
        items = tuple(format.stream(path, repairs))
    if not items:
        got = f"no valid item; first error: {repairs.made[0]}" if repairs.made else "an empty file"
        raise InputError(path, f"at least one item of the format '{format.name}'", got)
    code = lang or language_of_path(path)
    if format.language:
        code, items = _of_one_language(path, items, format.language, lang)
    return Corpus(items, code, format, os.fspath(path), tuple(repairs.made))


def _of_one_language(
    path: Path, items: tuple[T, ...], language: Callable[[T], str], lang: str | None
) -> tuple[str, tuple[T, ...]]:
    """The items in `lang`; without it all items, which must be in one language."""
    stated = [language(item) for item in items]
    code = lang or stated[0]
    chosen = tuple(item for item, stated_language in zip(items, stated, strict=True) if stated_language == code)
    if not chosen or (lang is None and len(chosen) < len(items)):
        expected = f"the language '{code}'" if lang else "one language, or lang= (--lang) to select one of several"
        raise InputError(path, f"items in {expected}", ", ".join(sorted(set(stated))))
    return code, chosen
