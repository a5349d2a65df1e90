"""Reads study files: YAML with variables and overrides becomes a checked `Study`, or an error with its line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from pydantic import BaseModel, ValidationError

from isogloss.core.errors import InputError, UsageError, shown
from isogloss.studies.schema.interventions import INTERVENTIONS
from isogloss.studies.schema.overrides import canonical, with_overrides, with_variables
from isogloss.studies.schema.references import SpecError, did_you_mean
from isogloss.studies.schema.study import SINGULAR, Study
from isogloss.studies.schema.text_changes import TEXT_CHANGES
from isogloss.studies.schema.yaml_text import read_yaml

SINGULAR_OF = {plural: singular for singular, plural in SINGULAR.items()}
EXPECTED_TYPES = {
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "float_type": "a number",
    "string_type": "text",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dict_type": "a mapping (name: value)",
    "model_type": "a mapping (name: value)",
    "tuple_type": "a list",
}


def read_study(path: str | os.PathLike[str], set: Mapping[str, object] | None = None) -> Study:
    """The study in a file; `set` has values that replace those of the file (`{"seeds": 1, "settings.epochs": 2}`)."""
    data, lines = read_yaml(path)
    if not isinstance(data, dict):
        raise InputError(path, "a study (name: …, models: …)", shown(str(data)))
    return study_of(data, folder=Path(path).parent, set=set, origin=path, lines=lines)


def study_of(
    data: Mapping[str, object],
    *,
    folder: str | os.PathLike[str] = ".",
    set: Mapping[str, object] | None = None,
    origin: str | os.PathLike[str] = "study",
    lines: Mapping[tuple[str | int, ...], int] | None = None,
) -> Study:
    """The study in a mapping; paths are relative to `folder`."""
    if both := [name for name, plural in SINGULAR.items() if name in data and plural in data]:
        raise InputError(origin, f"'{both[0]}' or '{SINGULAR[both[0]]}'", "both")
    try:
        return Study.model_validate(
            with_variables(with_overrides(data, set or {})), context={"folder": os.fspath(folder)}
        )
    except ValidationError as error:
        raise _explained(error, origin, lines or {}, set or {}) from None


def _explained(
    error: ValidationError,
    origin: str | os.PathLike[str],
    lines: Mapping[tuple[str | int, ...], int],
    set: Mapping[str, object],
) -> InputError | UsageError:
    """The first error, with its place and what was expected. An unknown key is reported before a missing one, because
    it is often the same key misspelt."""
    first = min(error.errors(), key=lambda details: details["type"] == "missing")
    cause = (first.get("ctx") or {}).get("error")
    place = first["loc"] or getattr(cause, "place", ())
    place = tuple(part for part in place if part != "")
    name = ".".join(map(str, place)) or "the study"
    if isinstance(cause, SpecError):
        expected, got, advice = cause.expected, cause.got, cause.advice
    elif first["type"] == "extra_forbidden":
        siblings = _keys(place[:-1])
        parent = ".".join(map(str, place[:-1])) or "a study"
        expected = f"known keys ({', '.join(siblings)})" if siblings else "known keys"
        got, advice = f"'{place[-1]}' in {parent}", did_you_mean(str(place[-1]), siblings)
    elif first["type"] == "missing":
        expected, got, advice = f"the key '{place[-1]}'", "none", ""
    else:
        expected = EXPECTED_TYPES.get(first["type"], first["msg"].removeprefix("Input should be "))
        got, advice = shown(repr(first["input"])), ""
    if cause is not None or first["type"] not in ("extra_forbidden", "missing"):
        expected = f"{expected} for '{name}'" if place else expected
    if any(name == key or name.startswith(f"{key}.") for key in map(canonical, set)):
        return UsageError(f"--set {name}: expected {expected}, got {got}" + (f"; {advice}" if advice else ""))
    return InputError(origin, expected, got, line=_line(place, lines), advice=advice)


def located(error: SpecError, origin: str | os.PathLike[str] | None) -> InputError:
    """An error that was found after reading, with the line of its place in the study file."""
    lines = read_yaml(origin)[1] if origin is not None else {}
    expected = f"{error.expected} for '{'.'.join(map(str, error.place))}'" if error.place else error.expected
    return InputError(origin or "study", expected, error.got, line=_line(error.place, lines), advice=error.advice)


def _line(place: tuple[str | int, ...], lines: Mapping[tuple[str | int, ...], int]) -> int | None:
    """The line of a value, or of the nearest enclosing entry of the file."""
    for end in range(len(place), -1, -1):
        for start in (place[:end], (SINGULAR_OF.get(str(place[0]), place[0]), *place[1:end]) if end else ()):
            if start in lines:
                return lines[start]
    return None


def _keys(place: tuple[str | int, ...]) -> list[str]:
    """The keys that are allowed at a place of a study file."""
    if not place:
        return list(Study.model_fields)
    if place[0] in ("changes", "text", "models") and any(isinstance(part, int) for part in place):
        kinds = [*INTERVENTIONS.values(), *TEXT_CHANGES.values()]
        return list(dict.fromkeys(name for kind in kinds for name in kind.model_fields))
    annotation = Study.model_fields[str(place[0])].annotation
    return [name for part in _parts(annotation) for name in part.model_fields]


def _parts(annotation: object) -> list[type[BaseModel]]:
    """The pydantic models in an annotation such as `dict[str, X] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [part for argument in get_args(annotation) for part in _parts(argument)]
