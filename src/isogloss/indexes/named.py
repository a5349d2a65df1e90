"""Indexes by name with options: `cka`, `matching(centre, csls)`, `svcca(keep=20)`.

Results use the same names, so that a name from a results file is valid input.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.indexes import INDEXES
from isogloss.indexes.index import Index

CALL = re.compile(r"\s*(\w+)\s*(?:\((.*)\))?\s*", re.DOTALL)


def split_indexes(text: str) -> list[str]:
    """The indexes of a comma-separated list, with commas inside brackets kept.

    >>> split_indexes("cka, matching(centre, csls)")
    ['cka', 'matching(centre, csls)']
    """
    return [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()]


def named_index(text: str) -> Index:
    """The index that `text` names, with its options.

    >>> named_index("matching(centre)").name, named_index("svcca(20)").name
    ('matching(centre)', 'svcca(keep=20)')
    """
    match = CALL.fullmatch(text)
    name, inside = match.groups() if match else (text, None)
    plain = INDEXES[name]
    if not inside:
        return plain
    # the function `index(**options)` of the module that defines the index, if it has options
    factory: Callable[..., Index] | None = getattr(sys.modules[INDEXES.module(name)], "index", None)
    if factory is None:
        raise UsageError(f"the index '{name}' takes no options, got '{text}'")
    parameters = inspect.signature(factory, eval_str=False).parameters
    options = dict(_option(word.strip(), parameters, name) for word in inside.split(","))
    return factory(**options)


def _option(word: str, parameters: Mapping[str, inspect.Parameter], name: str) -> tuple[str, bool | int | float | str]:
    """`key=value`, the name of a boolean option, or the value of the first parameter."""
    key, equals, value = (part.strip() for part in word.partition("="))
    if not equals:
        if key in parameters and isinstance(parameters[key].default, bool):
            return key, True
        key, value = next(iter(parameters)), key
    check_name(key, parameters, f"option of {name}")
    return key, _number(value)


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
