"""Random numbers that are the same on any machine and any Python.

`random.Random.random()` is the only generator whose sequence Python guarantees for a seed; `choice`, `shuffle` and
NumPy's generators have no such guarantee. `Chance` builds the few draws that are needed on top of it, with integer
weights and without floating-point functions.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TypeVar

from isogloss.core.hashing import hash_bytes

T = TypeVar("T")


def derive_seed(seed: int, *names: str | int) -> int:
    """A separate seed for each named part of the work, so that parts do not affect each other.

    >>> derive_seed(0, "corpus", "en") != derive_seed(0, "corpus", "fr")
    True
    """
    text = "\x1f".join([str(seed), *map(str, names)])
    return int.from_bytes(hash_bytes(text.encode(), 8), "big") >> 1


class Chance:
    """A seeded random generator."""

    def __init__(self, seed: int, *names: str | int):
        self._random = random.Random(derive_seed(seed, *names)).random

    def below(self, n: int) -> int:
        """A whole number in 0 … n-1."""
        return int(self._random() * n)

    def happens(self, probability: float) -> bool:
        return self._random() < probability

    def choose(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def choose_weighted(self, items: Sequence[T], weights: Sequence[int]) -> T:
        sums = list(accumulate(weights))
        return items[bisect_right(sums, self.below(sums[-1]))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """A new list in random order (Fisher-Yates)."""
        result = list(items)
        for i in range(len(result) - 1, 0, -1):
            j = self.below(i + 1)
            result[i], result[j] = result[j], result[i]
        return result

    def sample(self, items: Sequence[T], n: int) -> list[T]:
        """`n` distinct items in random order."""
        return self.shuffled(items)[:n]

    def stream(self, items: Sequence[T]) -> Iterator[T]:
        """Items forever, each pass in a new order."""
        while True:
            yield from self.shuffled(items)
