"""A study as a file that anyone can run: `isogloss run recipe.yaml` gives the same numbers again."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from isogloss.core.files import atomic_write
from isogloss.studies.schema.references import TRANSLITERATED


def write_recipe(study: Mapping[str, Any], path: str | os.PathLike[str], comments: Sequence[str] = ()) -> None:
    """The study as YAML, with comments above it. What lies in the file's folder is named from there, so that the folder
    may be moved."""
    body = yaml.safe_dump(
        _relative(dict(study), Path(path).absolute().parent), allow_unicode=True, sort_keys=False, width=120
    )
    with atomic_write(path) as file:
        file.writelines(f"# {line}\n" for line in comments)
        file.write(body)


def only(study: Mapping[str, Any], system: str) -> dict[str, Any]:
    """A study of several systems as that of one alone.

    >>> only({"models": {"a": 1, "b": 2}, "settings": {"a": {"epochs": 3}}}, "a")
    {'models': {'a': 1}, 'settings': {'a': {'epochs': 3}}}
    """
    lost = study["models"].keys() - {system}
    settings = {name: one for name, one in study["settings"].items() if name not in lost}
    return {**study, "models": {system: study["models"][system]}, "settings": settings}


def _relative(value: Any, folder: Path) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _relative(one, folder) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_relative(one, folder) for one in value]
    if isinstance(value, str) and value.startswith(TRANSLITERATED):
        return TRANSLITERATED + _relative(value.removeprefix(TRANSLITERATED), folder)
    if isinstance(value, str) and Path(value).is_absolute() and Path(value).is_relative_to(folder):
        return os.path.join(".", Path(value).relative_to(folder))
    return value
