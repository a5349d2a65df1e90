"""Registries: mappings that load their members on first use and answer an unknown name with "did you mean"."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.resources import files
from types import ModuleType
from typing import Any, Generic, TypeVar

from isogloss.core.errors import MissingExtra, UnknownName

T = TypeVar("T")
Facts = dict[str, Any]  # arguments of a definition by name


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

    def facts(self, name: str) -> Facts:
        """The arguments of a member's definition, `MEMBER = Kind(argument=…)`, read from its source without running it.

        Members can so be listed without loading torch. A dict is given by its keys, a nested definition by its
        arguments, and a computed value by None. A member may also be returned by a function, `MEMBER = function()`.
        """
        return dict(_facts(self.module(name), self._members[name].split(":")[1]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members


@cache
def _facts(module: str, attribute: str) -> Facts:
    package, _, file = module.rpartition(".")
    tree = ast.parse(files(package).joinpath(f"{file}.py").read_text(encoding="utf-8"))
    return {keyword.arg: _literal(keyword.value) for keyword in _definition(tree, attribute) if keyword.arg}


def _definition(tree: ast.Module, attribute: str) -> list[ast.keyword]:
    """
    >>> tree = ast.parse("def shape(n): return Shape(sides=n); LINE = shape(2)".replace("; ", "\\n"))
    >>> [keyword.arg for keyword in _definition(tree, "LINE")]
    ['sides']
    """
    functions = {node.name: node.body[-1] for node in tree.body if isinstance(node, ast.FunctionDef)}
    assigned = {ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
    call = assigned[attribute]
    assert isinstance(call, ast.Call)
    returned = functions.get(ast.unparse(call.func))
    if isinstance(returned, ast.Return) and isinstance(returned.value, ast.Call):
        call = returned.value
    return call.keywords


def _literal(value: ast.expr) -> object:
    """
    >>> [_literal(ast.parse(text, mode="eval").body) for text in ("(0, 1)", "{'a': b}", "Kind(a=1)", "f(x)")]
    [(0, 1), ['a'], {'a': 1}, None]
    """
    if isinstance(value, ast.Call) and value.keywords:
        return {keyword.arg: _literal(keyword.value) for keyword in value.keywords}
    if isinstance(value, ast.Dict):
        return [_literal(key) for key in value.keys if key]
    try:
        return ast.literal_eval(value)
    except ValueError:
        return None


def import_extra(package: str, extra: str) -> ModuleType:
    """An optional dependency, or an error that says how to install it."""
    try:
        return import_module(package)
    except ImportError:
        raise MissingExtra(package, extra) from None


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
