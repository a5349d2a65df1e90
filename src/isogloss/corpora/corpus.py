"""What every reader gives: a typed sequence that knows its language, its origin and how to write itself back.

A format is data: how to stream items from a file, how to turn items into text again, how to recognise
a file. What depends only on the kind of the items (how they are counted, shown, rewritten …) is in `CorpusKind`.
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
from isogloss.languages.codes import canonical, language_of_path

T = TypeVar("T")


@dataclass(frozen=True)
class Format(Generic[T]):
    """How one kind of file is read, written and recognised."""

    name: str
    kind: str  # a name of `KINDS`
    summary: str  # one line, for `isogloss ls`
    stream: Callable[[Path, Repairs], Iterator[T]]
    unparse: Callable[[Iterable[T]], Iterator[str]]  # pieces of text, the inverse of `stream`
    recognise: Callable[[str, Sequence[str]], bool]  # from the bare suffix and the first lines
    suffix: str  # of files that are written in this format
    language: Callable[[T], str] | None = None  # the language that an item states, where the format has it


@dataclass(frozen=True)
class Corpus(Sequence[T], Generic[T]):
    """Items with their language and origin; slices are corpora too, and nothing changes in place."""

    items: tuple[T, ...]
    lang: str
    format: Format[T]
    origin: str = ""
    repairs: tuple[InputError, ...] = ()  # what `repair=True` mended or left out

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
        counts = ", ".join(f"{n} {what}" for what, n in self.counts.items())
        return f"<{self.format.kind} {self.lang}: {counts}; {self.origin or 'made in memory'}>"

    @property
    def kind(self) -> CorpusKind[T]:
        """The kind of the corpus: its operations that depend on the type of the items."""
        return KINDS[self.format.kind]

    @property
    def counts(self) -> Mapping[str, int]:
        return self.kind.count(self.items)

    def with_items(self, items: Iterable[T]) -> Corpus[T]:
        """The same corpus with other items: how a text change returns its result."""
        return replace(self, items=tuple(items))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write in the corpus's own format, atomically, compressed by suffix."""
        with atomic_write(path) as file:
            file.writelines(self.format.unparse(self.items))


AnyCorpus: TypeAlias = Corpus[Any]  # a corpus of whatever items; functions over one kind take Corpus[Tree], …


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage collection while many small immutable items are made: it finds nothing and doubles the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def read_corpus(
    path: str | os.PathLike[str], format: Format[T], *, lang: str | None = None, repair: bool = False
) -> Corpus[T]:
    """Read a whole file; `lang` is taken from its name where not given.

    An empty file is an error: no format of ours means anything by it.
    """
    path, repairs = Path(path), Repairs(repair)
    with collector_paused():
        items = tuple(format.stream(path, repairs))
    if not items:
        got = f"none that can be read; first: {repairs.made[0]}" if repairs.made else "an empty file"
        raise InputError(path, f"at least one item of the format '{format.name}'", got)
    code = canonical(lang) if lang else language_of_path(path)
    if format.language:
        code, items = _of_one_language(path, items, format.language, lang)
    return Corpus(items, code, format, os.fspath(path), tuple(repairs.made))


def _of_one_language(
    path: Path, items: tuple[T, ...], language: Callable[[T], str], lang: str | None
) -> tuple[str, tuple[T, ...]]:
    """The items in `lang`; without it all of them, provided that they are in one language."""
    stated = [language(item) for item in items]
    code = canonical(lang) if lang else stated[0]
    chosen = tuple(item for item, its in zip(items, stated, strict=True) if its == code)
    if not chosen or (lang is None and len(chosen) < len(items)):
        expected = (
            f"items in the language '{code}'" if lang else "one language, or lang= (--lang) to choose one of several"
        )
        raise InputError(path, expected, ", ".join(sorted(set(stated))))
    return code, chosen
