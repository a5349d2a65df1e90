"""Names for things: a dict that loads its members on first use and answers a wrong name with "did you mean"."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, Generic, TypeVar

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

    def facts(self, name: str) -> dict[str, Any]:
        """The arguments that a member is defined with, `MEMBER = Kind(argument=…)`: read in its file, and not run.

        So what there is can be listed without loading torch. Of a dict there are the keys, of another such definition
        its arguments, of what is computed None.
        A member may also be what a function of its file returns, `MEMBER = function()`.
        """
        return dict(_facts(self.module(name), self._members[name].split(":")[1]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members


@cache
def _facts(module: str, attribute: str) -> dict[str, Any]:
    package, _, file = module.rpartition(".")
    tree = ast.parse(files(package).joinpath(f"{file}.py").read_text(encoding="utf-8"))
    return {one.arg: _written(one.value) for one in _definition(tree, attribute) if one.arg}


def _definition(tree: ast.Module, attribute: str) -> list[ast.keyword]:
    """
    >>> tree = ast.parse("def shape(n): return Shape(sides=n); LINE = shape(2)".replace("; ", "\\n"))
    >>> [one.arg for one in _definition(tree, "LINE")]
    ['sides']
    """
    functions = {one.name: one.body[-1] for one in tree.body if isinstance(one, ast.FunctionDef)}
    assigned = {ast.unparse(one.targets[0]): one.value for one in tree.body if isinstance(one, ast.Assign)}
    call: Any = assigned[attribute]
    made: Any = functions.get(ast.unparse(call.func))
    keywords: list[ast.keyword] = (made.value if made else call).keywords
    return keywords


def _written(value: ast.expr) -> Any:
    """
    >>> [_written(ast.parse(text, mode="eval").body) for text in ("(0, 1)", "{'a': b}", "Kind(a=1)", "f(x)")]
    [(0, 1), ['a'], {'a': 1}, None]
    """
    if isinstance(value, ast.Call) and value.keywords:
        return {one.arg: _written(one.value) for one in value.keywords}
    if isinstance(value, ast.Dict):
        return [_written(key) for key in value.keys if key]
    try:
        return ast.literal_eval(value)
    except ValueError:
        return None


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
