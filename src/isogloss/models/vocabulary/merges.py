"""New sub-words for a text: pieces that a tokenizer cuts its words into are joined on, pair by pair.

This is byte-pair encoding (Sennrich et al. 2016) gone on with from the tokenizer's own pieces instead of from
characters: the most frequent pair becomes a piece, again and again. Each new piece is therefore made of old ones, and
replaces just those; ties go by the alphabet, so that the same text gives the same pieces.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

LEAST = 2  # how often a pair must occur to become a piece
Pair = tuple[str, str]


def frequent_pairs(
    words: Mapping[tuple[str | None, ...], int], joined: Callable[[str, str], str | None]
) -> Iterator[tuple[Pair, str]]:
    """The pairs that become pieces, each with its piece, the most frequent first; words are cut into pieces.

    None in a word is what must stay as it is (an unknown character). `joined` gives the piece of a pair, or None where
    there shall be none.

    >>> list(frequent_pairs({("a", "b", "c"): 3, ("b", "c"): 2}, lambda a, b: a + b))
    [(('b', 'c'), 'bc'), (('a', 'bc'), 'abc')]
    """
    cut, counts = [list(word) for word in words], list(words.values())
    frequency: Counter[Pair] = Counter()
    where: dict[Pair, set[int]] = defaultdict(set)
    for number, pieces in enumerate(cut):
        _count(pieces, number, counts[number], frequency, where)
    heap = [(-count, pair) for pair, count in frequency.items()]
    heapq.heapify(heap)
    while heap:
        count, pair = heapq.heappop(heap)
        if frequency[pair] != -count or -count < LEAST:
            continue  # counted anew since, or too rare
        piece = joined(*pair)
        if piece is None:
            continue
        yield pair, piece
        changed: set[Pair] = set()
        for number in sorted(where.pop(pair)):
            changed |= _count(cut[number], number, -counts[number], frequency, where)
            cut[number] = replaced(cut[number], pair, piece)
            changed |= _count(cut[number], number, counts[number], frequency, where)
        for one in changed - {pair}:
            heapq.heappush(heap, (-frequency[one], one))


def replaced(pieces: Sequence[str | None], pair: Pair, piece: str) -> list[str | None]:
    """
    >>> replaced(["a", "a", "a", "b"], ("a", "a"), "aa")
    ['aa', 'a', 'b']
    """
    result: list[str | None] = []
    for one in pieces:
        if result and (result[-1], one) == pair and result[-1] is not None:
            result[-1] = piece
        else:
            result.append(one)
    return result


def _count(
    pieces: Sequence[str | None], number: int, count: int, frequency: Counter[Pair], where: dict[Pair, set[int]]
) -> set[Pair]:
    """Add `count` to each neighbouring pair of a word; its pairs."""
    pairs = [(a, b) for a, b in pairwise(pieces) if a is not None and b is not None]
    for pair in pairs:
        frequency[pair] += count
        if count > 0:
            where[pair].add(number)
    return set(pairs)
