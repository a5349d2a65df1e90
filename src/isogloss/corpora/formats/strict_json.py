"""Strict JSON: only what the standard allows, no data lost silently, and one type of error."""

from __future__ import annotations

import json
import re
from typing import Any

MAX_DEPTH = 64
SURROGATE = re.compile(r"[\ud800-\udfff]")


class JsonError(ValueError):
    """Why a text is not valid JSON, and the line of the error."""

    def __init__(self, reason: str, line: int | None = None):
        super().__init__(reason)
        self.line = line


def parse_json(text: str) -> Any:
    """The value of a JSON text; `NaN` and duplicate keys are errors.

    >>> parse_json('{"a": [1, 2]}')
    {'a': [1, 2]}
    """
    try:
        value = json.loads(text, parse_constant=_refuse, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise JsonError(f"{error.msg} (column {error.colno})", error.lineno) from None
    except RecursionError:
        raise JsonError("brackets nested too deeply") from None
    except JsonError:
        raise
    except ValueError:
        raise JsonError("a number with too many digits") from None
    if _deep(value):
        raise JsonError("brackets nested too deeply")
    return value


def is_text(value: object) -> bool:
    """Whether a value is a string that can be encoded as UTF-8, which lone surrogates cannot."""
    return isinstance(value, str) and not SURROGATE.search(value)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        raise JsonError(f"the duplicate key {max(keys, key=keys.count)!r} in one object")
    return result


def _deep(value: Any) -> bool:
    """Whether comparing, printing or writing the value could exceed the recursion limit of Python."""
    level = [value]
    for _ in range(MAX_DEPTH):
        containers = [list(v.values()) if isinstance(v, dict) else v for v in level if isinstance(v, (dict, list))]
        level = [member for container in containers for member in container]
    return bool(level)


def _refuse(constant: str) -> None:
    raise JsonError(f"the constant {constant}")
