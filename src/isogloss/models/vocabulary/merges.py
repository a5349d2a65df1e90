"""New sub-words for a text by merging frequent pairs of a tokenizer's pieces.

This is byte-pair encoding (Sennrich et al. 2016) that starts from the pieces of the tokenizer instead of characters:
the most frequent pair becomes a piece, repeatedly. Each new piece is a sequence of old pieces. Ties are broken
alphabetically, so that the same text gives the same pieces.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

MIN_PAIR_COUNT = 2  # occurrences of a pair that becomes a piece
Pair = tuple[str, str]


def frequent_pairs(
    words: Mapping[tuple[str | None, ...], int], joined: Callable[[str, str], str | None]
) -> Iterator[tuple[Pair, str]]:
    """The pairs that become pieces, each with its piece, the most frequent first; words are sequences of pieces.

    None in a word is an unknown character, which is not merged. `joined` returns the piece of a pair, or None if the
    pair must not be merged.

    >>> list(frequent_pairs({("a", "b", "c"): 3, ("b", "c"): 2}, lambda a, b: a + b))
    [(('b', 'c'), 'bc'), (('a', 'bc'), 'abc')]
    """
    segmented, counts = [list(word) for word in words], list(words.values())
    frequency: Counter[Pair] = Counter()
    words_with: dict[Pair, set[int]] = defaultdict(set)
    for number, pieces in enumerate(segmented):
        _count(pieces, number, counts[number], frequency, words_with)
    heap = [(-count, pair) for pair, count in frequency.items()]
    heapq.heapify(heap)
    while heap:
        count, pair = heapq.heappop(heap)
        if frequency[pair] != -count or -count < MIN_PAIR_COUNT:
            continue  # outdated count, or too rare
        piece = joined(*pair)
        if piece is None:
            continue
        yield pair, piece
        changed: set[Pair] = set()
        for number in sorted(words_with.pop(pair)):
            changed |= _count(segmented[number], number, -counts[number], frequency, words_with)
            segmented[number] = merge_pair(segmented[number], pair, piece)
            changed |= _count(segmented[number], number, counts[number], frequency, words_with)
        for changed_pair in changed - {pair}:
            heapq.heappush(heap, (-frequency[changed_pair], changed_pair))


def merge_pair(pieces: Sequence[str | None], pair: Pair, piece: str) -> list[str | None]:
    """
    >>> merge_pair(["a", "a", "a", "b"], ("a", "a"), "aa")
    ['aa', 'a', 'b']
    """
    result: list[str | None] = []
    for current in pieces:
        if result and (result[-1], current) == pair and result[-1] is not None:
            result[-1] = piece
        else:
            result.append(current)
    return result


def _count(
    pieces: Sequence[str | None], number: int, count: int, frequency: Counter[Pair], words_with: dict[Pair, set[int]]
) -> set[Pair]:
    """Add `count` to each neighbouring pair of a word and return its pairs."""
    pairs = [(a, b) for a, b in pairwise(pieces) if a is not None and b is not None]
    for pair in pairs:
        frequency[pair] += count
        if count > 0:
            words_with[pair].add(number)
    return set(pairs)
