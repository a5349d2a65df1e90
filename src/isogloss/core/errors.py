"""Errors a person can act on: where, expected, got, what to do."""

from __future__ import annotations

import os
from collections.abc import Sequence


class IsoglossError(Exception):
    """Base of every error the tool raises on purpose; `exit_code` is the command line's."""

    exit_code = 1


class InputError(IsoglossError):
    """A file does not say what its format promises.

    >>> str(InputError("train.tsv", "token<TAB>tag", "3 fields", line=12, advice="use --repair"))
    'train.tsv:12: expected token<TAB>tag, got 3 fields; use --repair'
    """

    exit_code = 3

    def __init__(
        self, path: str | os.PathLike[str], expected: str, got: str, *, line: int | None = None, advice: str = ""
    ):
        self.path, self.line = os.fspath(path), line
        self.expected, self.got, self.advice = expected, got, advice
        where = self.path if line is None else f"{self.path}:{line}"
        super().__init__(f"{where}: expected {expected}, got {got}" + (f"; {advice}" if advice else ""))


class SeveralErrors(IsoglossError):
    """All errors that are found before a computation, in one message; the exit code is that of the first.

    >>> print(SeveralErrors([InputError("a.tsv", "labels", "none"), InputError("b.tsv", "labels", "none", line=3)]))
    2 errors:
    - a.tsv: expected labels, got none
    - b.tsv:3: expected labels, got none
    """

    def __init__(self, errors: Sequence[IsoglossError]):
        self.errors = tuple(errors)
        self.exit_code = self.errors[0].exit_code
        super().__init__("\n".join([f"{len(self.errors)} errors:", *(f"- {error}" for error in self.errors)]))


def raise_all(errors: Sequence[IsoglossError]) -> None:
    """Raise the error, or all of several as one; nothing if there are none."""
    if errors:
        raise errors[0] if len(errors) == 1 else SeveralErrors(errors)


class UnknownName(IsoglossError):
    """A name that no registry, study or language list knows."""

    exit_code = 2


class UsageError(IsoglossError):
    """A wrong argument, or arguments that contradict each other.

    Messages start with the Python name of the argument (`lang: expected …`) or contain it as `lang=`; the command line
    writes the option of that name instead.
    """

    exit_code = 2


class MissingExtra(IsoglossError):
    """An optional dependency is needed and absent.

    >>> str(MissingExtra("datasets", "hub"))
    "this needs the package 'datasets', which is not installed; run: pip install 'isogloss[hub]'"
    """

    exit_code = 4

    def __init__(self, package: str, extra: str):
        super().__init__(
            f"this needs the package '{package}', which is not installed; run: pip install 'isogloss[{extra}]'"
        )


def shown(text: str, limit: int = 60) -> str:
    """`text` quoted for an error message: control characters escaped, long text cut.

    >>> shown("a" * 100, 10)
    "'aaaaaaaaaa…' (100 characters)"
    """
    if len(text) <= limit:
        return repr(text)
    return f"{repr(text[:limit])[:-1]}…' ({len(text)} characters)"
