"""Settings declared once, as fields of a frozen dataclass with type, default, limits and help text:

    epochs: Annotated[int, Setting("Number of training epochs.", above=0)] = 3

`check_settings`, called in `__post_init__`, validates an instance. The keys of study files and the options of the
command line are generated from the same declarations (`declared_settings`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name

SettingValues = dict[str, Any]  # values by field name, for some of the fields of a settings class
NAMES_OF_TYPES = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


@dataclass(frozen=True)
class Setting:
    """Metadata of a settings field: help text, limits, and the command-line option where it is not `--field-name`."""

    help: str
    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None
    option: str = ""


@dataclass(frozen=True)
class SettingField:
    """One declared field of a settings class; `default` is `dataclasses.MISSING` where a value is required."""

    name: str
    type: type
    choices: tuple[str, ...]
    optional: bool  # None is allowed
    default: object
    setting: Setting

    @property
    def expected(self) -> str:
        """Type and limits in words, for error messages."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        setting = self.setting
        limits = {"above": setting.above, "of at least": setting.at_least}
        limits |= {"below": setting.below, "at most": setting.at_most}
        finite = {words: limit for words, limit in limits.items() if limit is not None and math.isfinite(limit)}
        unbounded = self.type is float and finite and setting.below is None and setting.at_most is None
        text = " and ".join(f"{words} {limit:g}" for words, limit in finite.items())
        return f"{NAMES_OF_TYPES[self.type]} {text}".strip() + (" (inf is allowed)" if unbounded else "")

    def accepts(self, value: object) -> bool:
        """Whether the value has the declared type and lies within the limits."""
        if value is None:
            return self.optional
        if self.choices:
            return value in self.choices
        if isinstance(value, bool) != (self.type is bool):
            return False
        if not isinstance(value, (int, float) if self.type is float else self.type):
            return False
        setting = self.setting
        return not isinstance(value, int | float) or (
            (setting.above is None or value > setting.above)
            and (setting.at_least is None or value >= setting.at_least)
            and (setting.below is None or value < setting.below)
            and (setting.at_most is None or value <= setting.at_most)
        )

    def check(self, value: object) -> None:
        if self.accepts(value):
            return
        if self.choices:
            check_name(str(value), self.choices, self.name)
        raise UsageError(f"{self.name}: expected {self.expected}, got {value!r}")


@cache
def declared_settings(kind: type) -> dict[str, SettingField]:
    """The declared fields of a settings class by name, without those that it excludes (`excluded_settings`)."""
    excluded = getattr(kind, "excluded_settings", ())
    return {name: field for name, field in _all_fields(kind).items() if name not in excluded}


def check_settings(settings: object) -> None:
    """Raise an error for the first field of the instance that violates its declaration."""
    kind: type = type(settings)
    for name, field in _all_fields(kind).items():
        field.check(getattr(settings, name))


def check_values(kind: type, values: Mapping[str, object]) -> None:
    """Raise an error for an unknown name, or for a value that violates the declaration of its field."""
    declared = declared_settings(kind)
    for name, value in values.items():
        declared[check_name(name, declared, "setting")].check(value)


@cache
def _all_fields(kind: type) -> dict[str, SettingField]:
    hints = get_type_hints(kind, include_extras=True)
    declared = {}
    for field in fields(kind):
        settings = [item for item in getattr(hints[field.name], "__metadata__", ()) if isinstance(item, Setting)]
        if settings:
            declared[field.name] = _declaration(field.name, hints[field.name].__origin__, field.default, settings[0])
    return declared


def _declaration(name: str, annotation: Any, default: object, setting: Setting) -> SettingField:
    options = [annotation] if get_origin(annotation) is Literal else get_args(annotation) or [annotation]
    (plain,) = [option for option in options if option is not NoneType]
    choices = get_args(plain) if get_origin(plain) is Literal else ()
    return SettingField(name, str if choices else plain, choices, NoneType in options, default, setting)
