"""What a worker keeps between jobs: the models and corpora that it used last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")
ROOM = {"model": 2, "tokenizer": 2, "corpus": 64, "examples": 64}  # how many of each kind


class Memory:
    """The most recently used things of each kind.

    >>> memory = Memory({"word": 1})
    >>> [memory.get("word", key, lambda: key * 2) for key in ("a", "b")], len(memory)
    (['aa', 'bb'], 1)
    """

    def __init__(self, room: dict[str, int] | None = None):
        self._room = room or ROOM
        self._held: dict[str, OrderedDict[Hashable, Any]] = {kind: OrderedDict() for kind in self._room}

    def get(self, kind: str, key: Hashable, make: Callable[[], T]) -> T:
        """What is held under the key, made now if it is not."""
        held = self._held[kind]
        if key not in held:
            while len(held) >= self._room[kind]:  # before, so that there is room for the new one
                held.popitem(last=False)
            held[key] = make()
        held.move_to_end(key)
        value: T = held[key]
        return value

    def __len__(self) -> int:
        return sum(map(len, self._held.values()))
