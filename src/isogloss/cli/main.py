"""The `isogloss` command: registers all commands and turns errors into one line and an exit code.

Exit codes: 0 success · 1 unexpected error · 2 wrong usage or unknown name · 3 invalid input · 4 missing optional
package · 130 interrupted.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer
from typer import Option

from isogloss import __version__
from isogloss.cli.arguments import spread_lists
from isogloss.cli.screen import print_error
from isogloss.core.errors import IsoglossError, UnknownName, UsageError

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measure, explain and repair zero-shot cross-lingual transfer in multilingual language models.",
)
COMMANDS = (  # in the order of `isogloss --help`; each is a function in a module of the same name
    *("demo", "similarity", "transfer", "predict", "pretrain", "adapt", "extend", "adjust", "align", "transliterate"),
    *("clean", "diagnose", "run", "report", "serve", "gc", "ls", "validate", "lab"),
)
for name in COMMANDS:
    app.command(name)(getattr(import_module(f"isogloss.cli.{name}"), name))

LIST_OPTIONS = (  # options that may be followed by several words
    *("--parallel", "--against", "--test", "--text", "--mix", "--swap", "--set", "--option", "--source"),
    *("--comparable", "--finetune", "--bilstm", "--adapt", "--pretrain", "--max-memory"),
)


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"isogloss {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, Option("--debug", help="Show the full traceback of an error.")] = False,
) -> None:
    """Global options; `run` accepts `--debug` anywhere on the command line."""


def run(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the console script."""
    words = spread_lists(sys.argv[1:] if arguments is None else arguments, LIST_OPTIONS)
    debug = "--debug" in words
    code = _exit_code([word for word in words if word != "--debug"], debug)
    if code == 130:
        print_error("interrupted")
    sys.exit(code)


def _exit_code(arguments: list[str], debug: bool) -> int:
    try:
        code = app(arguments or ["--help"], prog_name="isogloss", standalone_mode=False)
        return int(code or 0)
    except (typer.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:  # `isogloss ls | head`
        return 0
    except Exception as error:
        if debug:
            traceback.print_exc()
        message, code = _explain(error, arguments, debug)
        print_error(message)
        return code


def _explain(error: Exception, arguments: Sequence[str], debug: bool) -> tuple[str, int]:
    """One line and an exit code for any error; errors of Typer (an unknown option) bring their exit code."""
    if isinstance(error, UsageError | UnknownName):
        return _with_options(str(error), arguments), error.exit_code
    if isinstance(error, IsoglossError):
        return str(error), error.exit_code
    if format_message := getattr(error, "format_message", None):
        return f"{format_message()} (isogloss --help lists commands and options)", int(getattr(error, "exit_code", 2))
    return f"unexpected {type(error).__name__}: {error}" + ("" if debug else " (--debug shows the traceback)"), 1


def _with_options(message: str, arguments: Sequence[str]) -> str:
    """The message of the library with Python arguments of the running command written as its options.

    `learning_rate: expected …` becomes `--lr: expected …`, `(lang=)` becomes `(--lang)`, `device_map` `--device-map`.
    """
    group = typer.main.get_command(app)
    command = getattr(group, "commands", {}).get(arguments[0] if arguments else "")
    names = {parameter.name: parameter.opts[0] for parameter in (command.params if command else ())}
    options: dict[str, str] = {name: option for name, option in names.items() if option.startswith("--")}
    message = re.sub(r"^(\w+)(?=: )", lambda match: options.get(match[1], match[1]), message)
    message = re.sub(
        r"(?<![-\w.])(\w+)=(?=([\w'\"])?)",
        lambda match: options[match[1]] + " " * bool(match[2]) if match[1] in options else match[0],
        message,
    )
    message = re.sub(
        r"(?<![-\w./'])([a-z]+(?:_[a-z]+)+)(?![\w./'])", lambda match: options.get(match[1], match[1]), message
    )
    return re.sub(r"(--[\w-]+) \(\1\)", r"\1", message)  # where the library names both
