"""Study files read: YAML with its variables and overrides becomes a checked `Study`, or an error with its line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from isogloss.core.errors import InputError, UsageError, shown
from isogloss.studies.schema.interventions import INTERVENTIONS
from isogloss.studies.schema.overrides import canonical, overridden, with_variables
from isogloss.studies.schema.references import SpecError, did_you_mean
from isogloss.studies.schema.study import SINGULAR, Study
from isogloss.studies.schema.text_changes import TEXT_CHANGES
from isogloss.studies.schema.yaml_text import read_yaml

PLURAL = {many: one for one, many in SINGULAR.items()}
EXPECTED = {
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


def read_study(path: str | os.PathLike[str], set: Mapping[str, Any] | None = None) -> Study:
    """The study in a file, with other values where `set` gives some (`{"seeds": 1, "settings.epochs": 2}`)."""
    data, lines = read_yaml(path)
    if not isinstance(data, dict):
        raise InputError(path, "a study (name: …, models: …)", shown(str(data)))
    return study_of(data, folder=Path(path).parent, set=set, origin=path, lines=lines)


def study_of(
    data: Mapping[str, Any],
    *,
    folder: str | os.PathLike[str] = ".",
    set: Mapping[str, Any] | None = None,
    origin: str | os.PathLike[str] = "study",
    lines: Mapping[tuple[str | int, ...], int] | None = None,
) -> Study:
    """The study in a mapping; paths are meant from `folder`."""
    if twice := [one for one, many in SINGULAR.items() if one in data and many in data]:
        raise InputError(origin, f"'{twice[0]}' or '{SINGULAR[twice[0]]}'", "both")
    filled = with_variables(overridden(data, set or {}))
    try:
        return Study.model_validate(filled, context={"folder": os.fspath(folder)})
    except ValidationError as error:
        raise _explained(error, origin, lines or {}, set or {}) from None


def _explained(
    error: ValidationError,
    origin: str | os.PathLike[str],
    lines: Mapping[tuple[str | int, ...], int],
    set: Mapping[str, Any],
) -> InputError | UsageError:
    """The first thing that is wrong, where it stands, what was expected instead. A key that is unknown is told
    before one that is missing, for it is often the same one misspelt."""
    first = min(error.errors(), key=lambda one: one["type"] == "missing")
    wrong = (first.get("ctx") or {}).get("error")
    place = first["loc"] or getattr(wrong, "place", ())
    place = tuple(part for part in place if part != "")
    name = ".".join(map(str, place)) or "the study"
    if isinstance(wrong, SpecError):
        expected, got, advice = wrong.expected, wrong.got, wrong.advice
    elif first["type"] == "extra_forbidden":
        siblings = _keys(place[:-1])
        within = ".".join(map(str, place[:-1])) or "a study"
        expected = f"known keys ({', '.join(siblings)})" if siblings else "known keys"
        got, advice = f"'{place[-1]}' in {within}", did_you_mean(str(place[-1]), siblings)
    elif first["type"] == "missing":
        expected, got, advice = f"the key '{place[-1]}'", "none", ""
    else:
        expected = EXPECTED.get(first["type"], first["msg"].removeprefix("Input should be "))
        got, advice = shown(repr(first["input"])), ""
    if wrong is not None or first["type"] not in ("extra_forbidden", "missing"):
        expected = f"{expected} for '{name}'" if place else expected
    if any(name == said or name.startswith(f"{said}.") for said in map(canonical, set)):
        return UsageError(f"--set {name}: expected {expected}, got {got}" + (f"; {advice}" if advice else ""))
    return InputError(origin, expected, got, line=_line(place, lines), advice=advice)


def _line(place: tuple[str | int, ...], lines: Mapping[tuple[str | int, ...], int]) -> int | None:
    """The line of a value, or of the nearest thing around it that the file holds."""
    for end in range(len(place), -1, -1):
        for start in (place[:end], (PLURAL.get(str(place[0]), place[0]), *place[1:end]) if end else ()):
            if start in lines:
                return lines[start]
    return None


def _keys(place: tuple[str | int, ...]) -> list[str]:
    """The keys that may stand at a place of a study file."""
    if not place:
        return list(Study.model_fields)
    if place[0] in ("changes", "text", "models") and any(isinstance(part, int) for part in place):
        kinds: list[Any] = [*INTERVENTIONS.values(), *TEXT_CHANGES.values()]
        return list(dict.fromkeys(name for kind in kinds for name in kind.arguments.model_fields))
    part: Any = Study.model_fields[str(place[0])].annotation
    return [name for kind in (part, *_inner(part)) if _is_part(kind) for name in kind.model_fields]


def _inner(annotation: Any) -> list[Any]:
    """All that an annotation such as `dict[str, X] | None` is made of."""
    return [one for argument in get_args(annotation) for one in (argument, *_inner(argument))]


def _is_part(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
