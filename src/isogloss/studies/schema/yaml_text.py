"""YAML as study files mean it: `no` is Norwegian, `5e-5` a number, keys are text, a key given twice is an error.

PyYAML follows YAML 1.1; here plain words are read by the rules of YAML 1.2, and the line of every value is kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

import yaml

from isogloss.core.errors import InputError, shown
from isogloss.core.files import read_text

Path = tuple[str | int, ...]  # keys and numbers of items from the top down
MOST = 100_000  # values; aliases of aliases of aliases are a bomb
PLAIN: list[tuple[re.Pattern[str], Callable[[str], Any]]] = [
    (re.compile(r"true|True|TRUE"), lambda text: True),
    (re.compile(r"false|False|FALSE"), lambda text: False),
    (re.compile(r"null|Null|NULL|~|"), lambda text: None),
    (re.compile(r"[-+]?[0-9]+"), int),
    (re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"), float),
]
TEXT = "tag:yaml.org,2002:str"


class _Loader(yaml.SafeLoader):
    """Reads structure only; what plain words mean is decided in `_value`."""


_Loader.yaml_implicit_resolvers = {"<": [("tag:yaml.org,2002:merge", re.compile(r"<<"))]}


def parse_yaml(text: str, where: str | os.PathLike[str] = "--set") -> tuple[Any, dict[Path, int]]:
    """The value of a YAML text, and the line of every part of it.

    >>> parse_yaml("{no: 5e-5, on: [a, 1-2]}")[0]
    {'no': 5e-05, 'on': ['a', '1-2']}
    """
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        lines: dict[Path, int] = {}
        return (None if node is None else _value(loader, node, (), lines, where)), lines
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        why = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise InputError(where, "YAML", why, line=mark.line + 1 if mark else None) from None
    finally:
        loader.dispose()


def read_yaml(path: str | os.PathLike[str]) -> tuple[Any, dict[Path, int]]:
    """A YAML file, likewise."""
    return parse_yaml(read_text(path), path)


def _value(loader: Any, node: yaml.Node, at: Path, lines: dict[Path, int], where: str | os.PathLike[str]) -> Any:
    lines.setdefault(at, node.start_mark.line + 1)
    if len(lines) > MOST:
        raise InputError(where, f"at most {MOST} values", "more", line=node.start_mark.line + 1)
    if isinstance(node, yaml.ScalarNode):
        if node.tag != TEXT:
            raise InputError(where, "plain YAML", f"the tag {node.tag}", line=node.start_mark.line + 1)
        return plain(node.value) if node.style is None else node.value
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, one, (*at, i), lines, where) for i, one in enumerate(node.value)]
    assert isinstance(node, yaml.MappingNode)
    seen: set[str] = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise InputError(where, "plain words as keys", "a list or mapping", line=key.start_mark.line + 1)
        if key.value in seen:
            got = f"the key {shown(key.value)} twice"
            raise InputError(where, "each key once", got, line=key.start_mark.line + 1)
        seen.add(key.value)
    loader.flatten_mapping(node)  # <<: *anchor
    mapping: dict[str, Any] = {}
    for key, one in node.value:  # what was merged in comes first, and gives way
        place = (*at, key.value)
        lines[place] = key.start_mark.line + 1
        mapping[key.value] = _value(loader, one, place, lines, where)
    return mapping


def plain(text: str) -> Any:
    """What an unquoted word stands for.

    >>> [plain(text) for text in ("5", "1.5", "1-2", "no", "true", "")]
    [5, 1.5, '1-2', 'no', True, None]
    """
    return next((convert(text) for pattern, convert in PLAIN if pattern.fullmatch(text)), text)
