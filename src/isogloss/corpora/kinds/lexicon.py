"""Bilingual lexicons: words or phrases with a translation each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from isogloss.corpora.kinds.kind import CorpusKind


class Entry(NamedTuple):
    """A word or phrase and one translation of it."""

    source: str
    target: str


def translations(entries: Iterable[Entry]) -> dict[str, tuple[str, ...]]:
    """Every translation of each word, in the lexicon's order, each once.

    >>> translations([Entry("bank", "банк"), Entry("bank", "берег"), Entry("bank", "банк")])
    {'bank': ('банк', 'берег')}
    """
    found: dict[str, dict[str, None]] = {}
    for source, target in entries:
        found.setdefault(source, {})[target] = None
    return {source: tuple(targets) for source, targets in found.items()}


def count(entries: Sequence[Entry]) -> dict[str, int]:
    return {"entries": len(entries), "words": len({entry.source for entry in entries})}


LEXICON: CorpusKind[Entry] = CorpusKind(name="lexicon", count=count, is_language_pair=True)
