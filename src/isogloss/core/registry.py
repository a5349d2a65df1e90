"""Names for things: a dict that loads its members on first use and answers a wrong name with "did you mean"."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Generic, TypeVar

from isogloss.core.errors import UnknownName

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """Name → member, each given as `"module:attribute"` so that listing names imports nothing.

    >>> Registry("shape", {"sqrt": "math:sqrt"})["sqrt"](4.0)
    2.0
    """

    def __init__(self, kind: str, members: Mapping[str, str]):
        self.kind = kind
        self._members = dict(members)

    def __getitem__(self, name: str) -> T:
        module, attribute = self.module(name), self._members[name].split(":")[1]
        member: T = getattr(import_module(module), attribute)
        return member

    def module(self, name: str) -> str:
        """The module that defines a member."""
        return self._members[check_name(name, self._members, self.kind)].split(":")[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members


def check_name(name: str, known: Iterable[str], kind: str) -> str:
    """`name` itself if known; otherwise an error that suggests the nearest.

    >>> check_name("cka", ["cka", "cca"], "index")
    'cka'
    """
    known = list(known)
    if name in known:
        return name
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean '{close[0]}'? " if close else ""
    listed = ", ".join(known) if len(known) <= 30 else f"{len(known)} names"
    raise UnknownName(f"unknown {kind} '{name}'; {hint}known: {listed}")
