"""`--set task=pos seeds=1 settings.epochs=2 UD=data/ud`: values that replace those of a study file."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

from isogloss.core.errors import UnknownName, UsageError
from isogloss.core.registry import check_name
from isogloss.studies.schema.references import CliValue, did_you_mean
from isogloss.studies.schema.selection import remove_unselected, select_continual
from isogloss.studies.schema.study import SINGULAR, Study
from isogloss.studies.schema.yaml_text import YamlMapping, parse_yaml

VARIABLE = re.compile(r"\$\{(\w+)\}")
OPEN_KEYS = ("models", "parallel", "continual")  # a name that is not in the file is a new model, file or kind


def parse_overrides(words: Sequence[str], option: str = "--set") -> YamlMapping:
    """`["seeds=1", "settings.epochs=2"]` as a mapping; values are YAML.

    >>> parse_overrides(["task=pos", "targets=[fr, no]", "settings.learning_rate=5e-5"])
    {'task': 'pos', 'targets': ['fr', 'no'], 'settings.learning_rate': 5e-05}
    """
    pairs = [word.partition("=") for word in words]
    for name, equals, _ in pairs:
        if not (name and equals):
            raise UsageError(f"{option}: expected NAME=VALUE such as seeds=1, got '{name}{equals}'")
    return {name: parse_yaml(value, f"{option} {name}")[0] for name, _, value in pairs}


def with_overrides(data: Mapping[str, object], overrides: Mapping[str, object]) -> YamlMapping:
    """A study file's content with other values. A name or a list of names in place of a mapping selects from it, and
    removes what is only for the entries left out.

    >>> with_overrides({"targets": {"fr": "a", "ru": "b"}}, {"targets": "ru", "settings.epochs": 2})
    {'targets': {'ru': 'b'}, 'settings': {'epochs': 2}}
    """
    file = {SINGULAR.get(name, name): value for name, value in data.items()}
    result: YamlMapping = copy.deepcopy(file)
    variables = result.get("variables") or {}
    for path, value in overrides.items():
        first, *keys = path.split(".")
        first = SINGULAR.get(first, first)
        if not keys and first in variables:
            variables[first] = None if value is None else _cli_value(value)
            continue
        known = [*Study.model_fields, *variables]
        if first not in Study.model_fields:
            hint = did_you_mean(path, known)
            raise UnknownName(f"--set: the study has no key '{first}'; {hint or 'known: ' + ', '.join(known)}")
        value = _map_texts(value, CliValue)
        if path == "continual" and (names := _only_names(value)):
            value = select_continual(result.get("continual"), names)
        _put(result, [first, *keys], value, path)
        if first == "models" and not keys:
            _remove_settings(result, data)
    return remove_unselected(result, file, [canonical(path) for path in overrides])


def canonical(path: str) -> str:
    """
    >>> canonical("target.fr")
    'targets.fr'
    """
    first, dot, keys = path.partition(".")
    return SINGULAR.get(first, first) + dot + keys


def _only_names(value: object) -> list[str]:
    """A name or names; empty if anything else is among them."""
    items = value if isinstance(value, list) else [value]
    names = [item for item in items if isinstance(item, str)]
    return names if len(names) == len(items) else []


def _put(data: YamlMapping, path: Sequence[str], value: object, option: str) -> None:
    *parents, last = path
    for name in parents:
        data = data.setdefault(name, {})
        if not isinstance(data, dict):
            raise UsageError(f"--set {option}: '{name}' of the study is not a mapping, so it has no '{last}'")
    old, names = data.get(last), [str(name) for name in (value if isinstance(value, list) else [value])]
    if isinstance(old, dict) and isinstance(value, str | list) and (last not in OPEN_KEYS or set(names) <= old.keys()):
        data[last] = {name: old[check_name(name, old, f"name under '{option}'")] for name in names}
    else:
        data[last] = value


def _remove_settings(changed: YamlMapping, data: Mapping[str, object]) -> None:
    """Remove the settings of models that were replaced, which would otherwise be reported as unknown names."""
    before, after = ({*_model_names(models)} for models in (data.get("models", data.get("model")), changed["models"]))
    if isinstance(changed.get("settings"), dict):
        settings = changed["settings"].items()
        changed["settings"] = {name: value for name, value in settings if name not in before - after}


def _model_names(models: object) -> Iterable[str]:
    """The names of models: keys, or the last parts of paths."""
    if isinstance(models, Mapping):
        return models
    return [Path(str(model)).name for model in (models if isinstance(models, list) else [models])]


def with_variables(data: Mapping[str, object], environment: Mapping[str, str] = os.environ) -> YamlMapping:
    """The content with `${NAME}` replaced by its value from `--set`, the environment or the file, in this order."""
    variables = dict(cast(YamlMapping, data.get("variables") or {}))
    for name, value in variables.items():
        if name in environment and not isinstance(value, CliValue):
            variables[name] = _cli_value(environment[name])

    def value_of(match: re.Match[str]) -> str:
        name = check_name(match[1], variables, "variable")
        if variables[name] is None:
            raise UsageError(f"the variable '{name}' needs a value: --set {name}=… or the environment variable {name}")
        return str(variables[name])

    def substitute(text: str) -> str:
        """A text that begins with a value from outside the file is such a value too."""
        first, new = VARIABLE.match(text), VARIABLE.sub(value_of, text)
        from_outside = isinstance(variables[first[1]] if first else text, CliValue)
        return CliValue(new) if from_outside else new

    content = {name: value for name, value in data.items() if name != "variables"}
    plain = {name: None if value is None else str(value) for name, value in variables.items()}
    return {"variables": plain, **cast(YamlMapping, _map_texts(content, substitute, substitute))}


def _cli_value(value: object) -> CliValue:
    """A value from outside the file; a path that exists is made absolute."""
    return CliValue(Path(str(value)).absolute() if Path(str(value)).exists() else value)


def _map_texts(value: object, change: Callable[[str], str], rename: Callable[[str], str] = str) -> object:
    """The value with all texts in it changed; with `rename`, keys too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {str(rename(str(name))): _map_texts(content, change, rename) for name, content in value.items()}
    return [_map_texts(item, change, rename) for item in value] if isinstance(value, list) else value
