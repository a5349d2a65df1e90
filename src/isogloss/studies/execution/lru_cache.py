"""What a worker keeps in memory between jobs: the models and corpora that it used last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar, cast

T = TypeVar("T")
CAPACITIES = {"model": 2, "tokenizer": 2, "corpus": 128, "examples": 64}  # items of each kind


class LruCache:
    """The most recently used items of each kind.

    >>> cache = LruCache({"word": 1})
    >>> [cache.get("word", key, lambda: key * 2) for key in ("a", "b")], len(cache)
    (['aa', 'bb'], 1)
    """

    def __init__(self, capacities: dict[str, int] | None = None):
        self._capacities = capacities or CAPACITIES
        self._items: dict[str, OrderedDict[Hashable, object]] = {kind: OrderedDict() for kind in self._capacities}

    def get(self, kind: str, key: Hashable, make: Callable[[], T]) -> T:
        """The item with this key, made now if it is not in the cache."""
        items = self._items[kind]
        if key not in items:
            while len(items) >= self._capacities[kind]:  # before making the new item, to free memory for it
                items.popitem(last=False)
            items[key] = make()
        items.move_to_end(key)
        return cast(T, items[key])

    def __len__(self) -> int:
        return sum(map(len, self._items.values()))
