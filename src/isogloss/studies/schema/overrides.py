"""`--set task=pos seeds=1 settings.epochs=2 UD=data/ud`: other values in place of a study file's."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from isogloss.core.errors import UnknownName, UsageError
from isogloss.core.registry import check_name
from isogloss.studies.schema.references import CliValue, did_you_mean
from isogloss.studies.schema.selection import chosen_kinds, narrowed
from isogloss.studies.schema.study import SINGULAR, Study
from isogloss.studies.schema.yaml_text import parse_yaml

VARIABLE = re.compile(r"\$\{(\w+)\}")
FREE = ("models", "parallel", "continual")  # what is no name of the file's is a new model, a file, a new kind


def parse_overrides(words: Sequence[str], option: str = "--set") -> dict[str, Any]:
    """`["seeds=1", "settings.epochs=2"]` as a mapping; values are YAML.

    >>> parse_overrides(["task=pos", "targets=[fr, no]", "settings.learning_rate=5e-5"])
    {'task': 'pos', 'targets': ['fr', 'no'], 'settings.learning_rate': 5e-05}
    """
    pairs = [word.partition("=") for word in words]
    for name, equals, _ in pairs:
        if not (name and equals):
            raise UsageError(f"{option}: expected NAME=VALUE such as seeds=1, got '{name}{equals}'")
    return {name: parse_yaml(value, f"{option} {name}")[0] for name, _, value in pairs}


def overridden(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A study file's content with other values. A name or a list of names against a mapping chooses from it; what is
    only for what was not chosen goes too.

    >>> overridden({"targets": {"fr": "a", "ru": "b"}}, {"targets": "ru", "settings.epochs": 2})
    {'targets': {'ru': 'b'}, 'settings': {'epochs': 2}}
    """
    file = {SINGULAR.get(name, name): value for name, value in data.items()}
    result: dict[str, Any] = copy.deepcopy(file)
    variables = result.get("variables") or {}
    for path, value in changes.items():
        first, *rest = path.split(".")
        first = SINGULAR.get(first, first)
        if not rest and first in variables:
            variables[first] = None if value is None else _from_here(value)
            continue
        known = [*Study.model_fields, *variables]
        if first not in Study.model_fields:
            hint = did_you_mean(path, known)
            raise UnknownName(f"--set: the study has nothing called '{first}'; {hint or 'known: ' + ', '.join(known)}")
        value = _walked(value, CliValue)
        if path == "continual" and (names := _only_names(value)):
            value = chosen_kinds(result.get("continual"), names)
        _put(result, [first, *rest], value, path)
        if first == "models" and not rest:
            _forget_settings(result, data)
    return narrowed(result, file, [canonical(path) for path in changes])


def canonical(path: str) -> str:
    """
    >>> canonical("target.fr")
    'targets.fr'
    """
    first, dot, rest = path.partition(".")
    return SINGULAR.get(first, first) + dot + rest


def _only_names(value: Any) -> list[str]:
    """A name or names; none where something else is among them."""
    listed = value if isinstance(value, list) else [value]
    return listed if all(isinstance(one, str) for one in listed) else []


def _put(data: dict[str, Any], path: Sequence[str], value: Any, said: str) -> None:
    *above, last = path
    for name in above:
        data = data.setdefault(name, {})
        if not isinstance(data, dict):
            raise UsageError(f"--set {said}: '{name}' of the study is no mapping, so it holds no '{last}'")
    old, names = data.get(last), [str(name) for name in (value if isinstance(value, list) else [value])]
    if isinstance(old, dict) and isinstance(value, str | list) and (last not in FREE or set(names) <= old.keys()):
        data[last] = {name: old[check_name(name, old, f"name under '{said}'")] for name in names}
    else:
        data[last] = value


def _forget_settings(changed: dict[str, Any], data: Mapping[str, Any]) -> None:
    """Settings of models that were there and are no more mean nothing, which is no mistake of the file."""
    before, now = ({*_names(one)} for one in (data.get("models", data.get("model")), changed["models"]))
    if isinstance(changed.get("settings"), dict):
        changed["settings"] = {name: one for name, one in changed["settings"].items() if name not in before - now}


def _names(models: Any) -> Iterable[str]:
    """What models are called: by their keys, or by the ends of their paths."""
    if isinstance(models, Mapping):
        return models
    return [Path(str(one)).name for one in (models if isinstance(models, list) else [models])]


def with_variables(data: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Values put in place of `${NAME}`: those of `--set`, of the environment, of the file, in this order."""
    variables = dict(data.get("variables") or {})
    for name, value in variables.items():
        if name in environment and not isinstance(value, CliValue):
            variables[name] = _from_here(environment[name])

    def filled(match: re.Match[str]) -> str:
        name = check_name(match[1], variables, "variable")
        if variables[name] is None:
            raise UsageError(f"the variable '{name}' needs a value: --set {name}=… or the environment's {name}")
        return str(variables[name])

    def put(text: str) -> str:
        """A text that begins with what was given outside of the file was given there too."""
        first, new = VARIABLE.match(text), VARIABLE.sub(filled, text)
        given = isinstance(variables[first[1]] if first else text, CliValue)
        return CliValue(new) if given else new

    rest = {name: value for name, value in data.items() if name != "variables"}
    plain = {name: None if value is None else str(value) for name, value in variables.items()}
    return {"variables": plain, **_walked(rest, put, put)}


def _from_here(value: Any) -> CliValue:
    """A value given outside the file; a path that exists is told as a whole."""
    return CliValue(Path(str(value)).absolute() if Path(str(value)).exists() else value)


def _walked(value: Any, change: Callable[[str], str], rename: Callable[[str], str] = str) -> Any:
    """Texts changed wherever they stand; with `rename` the names of values too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {str(rename(str(name))): _walked(one, change, rename) for name, one in value.items()}
    return [_walked(one, change, rename) for one in value] if isinstance(value, list) else value
