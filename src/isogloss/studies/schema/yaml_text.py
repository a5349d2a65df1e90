"""YAML for study files: `no` is Norwegian, `5e-5` is a number, keys are text, a duplicate key is an error.

PyYAML follows YAML 1.1; here unquoted words are read by the rules of YAML 1.2, and the line of every value is recorded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

import yaml

from isogloss.core.errors import InputError, shown
from isogloss.core.files import read_text

Path = tuple[str | int, ...]  # keys and positions from the top down
YamlMapping = dict[str, Any]  # the content of a YAML mapping
MAX_VALUES = 100_000  # nested aliases can expand without limit
SCALARS: list[tuple[re.Pattern[str], Callable[[str], object]]] = [
    (re.compile(r"true|True|TRUE"), lambda text: True),
    (re.compile(r"false|False|FALSE"), lambda text: False),
    (re.compile(r"null|Null|NULL|~|"), lambda text: None),
    (re.compile(r"[-+]?[0-9]+"), int),
    (re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"), float),
]
TEXT_TAG = "tag:yaml.org,2002:str"


class _Loader(yaml.SafeLoader):
    """Reads only structure; `_value` decides what unquoted words mean."""


_Loader.yaml_implicit_resolvers = {"<": [("tag:yaml.org,2002:merge", re.compile(r"<<"))]}


def parse_yaml(text: str, where: str | os.PathLike[str] = "--set") -> tuple[Any, dict[Path, int]]:
    """The value of a YAML text, and the line of each of its parts.

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
    """The value of a YAML file, and the line of each of its parts."""
    return parse_yaml(read_text(path), path)


def _value(loader: _Loader, node: yaml.Node, at: Path, lines: dict[Path, int], where: str | os.PathLike[str]) -> object:
    lines.setdefault(at, node.start_mark.line + 1)
    if len(lines) > MAX_VALUES:
        raise InputError(where, f"at most {MAX_VALUES} values", "more", line=node.start_mark.line + 1)
    if isinstance(node, yaml.ScalarNode):
        if node.tag != TEXT_TAG:
            raise InputError(where, "plain YAML", f"the tag {node.tag}", line=node.start_mark.line + 1)
        return parse_scalar(node.value) if node.style is None else node.value
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, item, (*at, position), lines, where) for position, item in enumerate(node.value)]
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
    mapping: YamlMapping = {}
    for key, content in node.value:  # merged keys come first and are overwritten
        place = (*at, key.value)
        lines[place] = key.start_mark.line + 1
        mapping[key.value] = _value(loader, content, place, lines, where)
    return mapping


def parse_scalar(text: str) -> object:
    """The value of an unquoted word.

    >>> [parse_scalar(text) for text in ("5", "1.5", "1-2", "no", "true", "")]
    [5, 1.5, '1-2', 'no', True, None]
    """
    return next((convert(text) for pattern, convert in SCALARS if pattern.fullmatch(text)), text)
