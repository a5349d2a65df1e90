"""Writes a study as a file: `isogloss run recipe.yaml` reproduces the numbers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from isogloss.core.files import atomic_write
from isogloss.studies.schema.references import TRANSLITERATED
from isogloss.studies.schema.yaml_text import YamlMapping


def write_recipe(study: Mapping[str, object], path: str | os.PathLike[str], comments: Sequence[str] = ()) -> None:
    """Write the study as YAML, with comments above it. Paths inside the file's folder are written relative to it: the
    folder can be moved."""
    body = yaml.safe_dump(
        _relative(dict(study), Path(path).absolute().parent), allow_unicode=True, sort_keys=False, width=120
    )
    with atomic_write(path) as file:
        file.writelines(f"# {line}\n" for line in comments)
        file.write(body)


def select_model(study: Mapping[str, Any], model: str) -> YamlMapping:
    """A study of several models reduced to one of them.

    >>> select_model({"models": {"a": 1, "b": 2}, "settings": {"a": {"epochs": 3}}}, "a")
    {'models': {'a': 1}, 'settings': {'a': {'epochs': 3}}}
    """
    removed = study["models"].keys() - {model}
    settings = {name: value for name, value in study["settings"].items() if name not in removed}
    return {**study, "models": {model: study["models"][model]}, "settings": settings}


def _relative(value: object, folder: Path) -> object:
    if isinstance(value, Mapping):
        return {str(name): _relative(content, folder) for name, content in value.items()}
    if isinstance(value, list | tuple):
        return [_relative(item, folder) for item in value]
    if isinstance(value, str) and value.startswith(TRANSLITERATED):
        return f"{TRANSLITERATED}{_relative(value.removeprefix(TRANSLITERATED), folder)}"
    if isinstance(value, str) and Path(value).is_absolute() and Path(value).is_relative_to(folder):
        return os.path.join(".", Path(value).relative_to(folder))
    return value
