"""Filters of the links of a word-aligned bitext, for training that needs few but reliable links."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.alignment import UNALIGNED_INDEX, Alignment
from isogloss.corpora.kinds.bitext import AlignedPair


def filter_links(
    bitext: Corpus[AlignedPair], *, one_to_one: bool = False, drop_identical: bool = False, max_words: int | None = None
) -> Corpus[AlignedPair]:
    """The bitext with fewer links, or fewer pairs.

    `one_to_one`: remove all links of words that have several. `drop_identical`: remove links between equal strings
    (names, numbers, punctuation); applied after `one_to_one`, so that it does not make words one-to-one. `max_words`:
    remove pairs with a longer sentence on either side.
    """
    if max_words is not None and max_words < 1:
        raise UsageError(f"max_words: expected at least 1, got {max_words}")
    pairs = [pair for pair in bitext if max_words is None or max(len(pair.source), len(pair.target)) <= max_words]
    if one_to_one:
        pairs = [replace(pair, alignment=single_links(pair.alignment)) for pair in pairs]
    if drop_identical:
        pairs = [replace(pair, alignment=_differing(pair)) for pair in pairs]
    return bitext.with_items(pairs)


def single_links(alignment: Alignment) -> Alignment:
    """The links whose two words have no other link.

    >>> from isogloss.corpora.formats.pharaoh import parse
    >>> [link[:2] for link in single_links(parse("0-0 1-1 1-2 3-3", base=0)).links]
    [(0, 0), (3, 3)]
    """
    links = {link[:2]: link for link in alignment.links if UNALIGNED_INDEX not in link}
    sources, targets = (Counter(pair[side] for pair in links) for side in (0, 1))
    return Alignment(tuple(link for (s, t), link in links.items() if sources[s] == targets[t] == 1))


def _differing(pair: AlignedPair) -> Alignment:
    links = (link for link in pair.alignment.links if UNALIGNED_INDEX not in link)
    return Alignment(tuple(link for link in links if pair.source[link.source] != pair.target[link.target]))
