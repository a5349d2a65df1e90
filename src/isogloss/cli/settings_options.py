"""Command-line options generated from the declarations of a settings class."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING
from typing import Annotated, Optional

from typer import Option

from isogloss.core.settings import SettingField, check_values, declared_settings

Command = Callable[..., None]


def with_settings(
    parameter: str,
    kind: type,
    *,
    without: tuple[str, ...] = (),
    show_defaults: bool = True,
    default_of_required: str = "",
) -> Callable[[Command], Command]:
    """Replace a parameter of a command by one option per setting of a class.

    The command receives the values that were given on the command line, checked, as a dictionary by field name.
    `without`: settings that get no option. `show_defaults`: whether the help shows the defaults of the class.
    `default_of_required`: shown as the default of settings that have none in the class.
    """
    options = {name: field for name, field in declared_settings(kind).items() if name not in without}
    defaults = {
        name: _shown_default(field, default_of_required) if show_defaults else "" for name, field in options.items()
    }

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def with_values(**arguments: object) -> None:
            values = {name: arguments.pop(name) for name in options}
            chosen = {name: value for name, value in values.items() if value is not None}
            check_values(kind, chosen)
            command(**arguments, **{parameter: chosen})

        signature = inspect.signature(command, eval_str=True)
        parameters: list[inspect.Parameter] = []
        for name, declared in signature.parameters.items():
            if name == parameter:
                parameters += [_option(field, defaults[field.name]) for field in options.values()]
            else:
                parameters.append(declared.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        with_values.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        with_values.__annotations__ = {option.name: option.annotation for option in parameters}
        return with_values

    return decorate


def _option(field: SettingField, default: str) -> inspect.Parameter:
    name = field.setting.option or f"--{field.name.replace('_', '-')}"
    option = Option(name, help=field.setting.help, show_default=default or False)
    annotation = Annotated[Optional[field.type], option]  # type: ignore[name-defined]  # noqa: UP045
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _shown_default(field: SettingField, of_required: str) -> str:
    if field.default is MISSING:
        return of_required
    return "" if field.default is None or field.default is False else str(field.default)
