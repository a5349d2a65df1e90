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
    """The translations of each word in the order of the lexicon, without duplicates.

    >>> translations([Entry("bank", "банк"), Entry("bank", "берег"), Entry("bank", "банк")])
    {'bank': ('банк', 'берег')}
    """
    targets_by_source: dict[str, dict[str, None]] = {}
    for source, target in entries:
        targets_by_source.setdefault(source, {})[target] = None
    return {source: tuple(targets) for source, targets in targets_by_source.items()}


def count(entries: Sequence[Entry]) -> dict[str, int]:
    return {"entries": len(entries), "words": len({entry.source for entry in entries})}


LEXICON: CorpusKind[Entry] = CorpusKind(name="lexicon", count=count, is_language_pair=True)
