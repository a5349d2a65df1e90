"""What the parts of a study file are made of: strict mappings, errors that say what was expected, references.

A corpus is named by a path (from the folder of the study file; where it is given on the command line, from the working
folder), by `hub:NAME`, or by `lab:LANGUAGE/SPLIT/NUMBER[@SEED]`, items of the laboratory; what kind of corpus is read
follows from the task. `mixed:ONE|OTHER` is made of two parallel corpora: inference pairs of the first with the premise
or the hypothesis of the second, or questions of the first about the paragraphs of the second; `transliterated:CORPUS`
is one in the letters that suit its language.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo

LAB = re.compile(
    r"lab:(?P<langs>[\w,-]+)/(?P<split>train|dev|test)/(?P<number>[1-9]\d*)(?:/(?P<domain>talk|chronicle))?(?:@(?P<seed>\d+))?"
)
LAB_FORM = "lab:LANGUAGE/SPLIT/NUMBER[/DOMAIN][@SEED] such as lab:qla/train/1000"
MIXED, AND = "mixed:", "|"
TRANSLITERATED = "transliterated:"


class Part(BaseModel):
    """A mapping of a study file: unknown keys are errors, and nothing changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, coerce_numbers_to_str=True)


class SpecError(ValueError):
    """A value of a study file that is not what was expected; `place`: where, if it is wrong for what stands elsewhere.

    >>> str(Wrong("a number", "'x'"))
    "expected a number, got 'x'"
    """

    def __init__(self, expected: str, got: str, advice: str = "", place: tuple[str, ...] = ()):
        self.expected, self.got, self.advice, self.place = expected, got, advice, place
        super().__init__(f"expected {expected}, got {got}" + (f"; {advice}" if advice else ""))


class CliValue(str):
    """A value from the command line or the environment: a path in it is meant from the working folder."""


class Reference(str):
    """A corpus as a study names it: an absolute path, `hub:…` or `lab:…`."""


def known_name(name: object, names: Iterable[str], kind: str, place: tuple[str, ...] = ()) -> str:
    """`name` itself if it is one of the names."""
    names = list(names)
    if isinstance(name, str) and name in names:
        return name
    raise SpecError(f"one of {', '.join(names)} as {kind}", repr(name), did_you_mean(str(name), names), place)


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """
    >>> did_you_mean("epoch", ["epochs", "batch"])
    "did you mean 'epochs'?"
    """
    close = difflib.get_close_matches(name, list(names), n=1)
    return f"did you mean '{close[0]}'?" if close else ""


def reference(value: object, info: ValidationInfo, several: bool = False) -> Reference:
    """A corpus's name with its path made absolute; `several` languages or one."""
    if not isinstance(value, str) or not value.strip():
        raise SpecError("a path, hub:NAME or lab:LANGUAGE/SPLIT/NUMBER", repr(value))
    if value.startswith(TRANSLITERATED):
        return Reference(TRANSLITERATED + reference(value.removeprefix(TRANSLITERATED), info))
    if value.startswith(MIXED):
        parts = [reference(part, info) for part in value.removeprefix(MIXED).split(AND)]
        if len(parts) != 2 or any(part.startswith(MIXED) for part in parts):
            raise SpecError(f"two corpora such as {MIXED}es.tsv{AND}en.tsv", repr(value))
        return Reference(MIXED + AND.join(parts))
    if value.startswith("lab:"):
        _check_lab(value, several)
    if value.startswith(("hub:", "lab:")):
        return Reference(value)
    return Reference(absolute(value, info))


def mixed_parts(reference: str) -> list[str]:
    """The two corpora that a reference mixes; none where it does not.

    >>> mixed_parts("mixed:es.tsv|en.tsv"), mixed_parts("es.tsv")
    (['es.tsv', 'en.tsv'], [])
    """
    return reference.removeprefix(MIXED).split(AND) if reference.startswith(MIXED) else []


def _check_lab(value: str, several: bool) -> None:
    from isogloss.corpora.lab.languages import LANGUAGES

    match = LAB.fullmatch(value)
    if not match or ("," in match["langs"] and not several):
        raise SpecError(LAB_FORM, repr(value))
    for lang in match["langs"].split(","):
        known_name(lang, LANGUAGES, "language of the laboratory")


def absolute(path: str, info: ValidationInfo) -> str:
    """A path from the folder of the study file, or from the working folder where it was given there."""
    folder = Path("." if isinstance(path, CliValue) else (info.context or {}).get("folder", "."))
    return str((folder / Path(path).expanduser()).resolve())


def _references(value: object, info: ValidationInfo) -> tuple[Reference, ...]:
    """One corpus, or several that are read one after the other."""
    return tuple(reference(one, info) for one in (value if isinstance(value, list | tuple) else [value]))


def _by_task(value: object, info: ValidationInfo) -> dict[str, tuple[Reference, ...]]:
    """Corpora by task, under "" where the same serve every task."""
    from isogloss.tasks import TASKS

    if isinstance(value, Mapping):
        return {
            task if task == "" else known_name(task, TASKS, "task"): _references(one, info)
            for task, one in value.items()
        }
    return {"": _references(value, info)}


def _bitexts(value: object, info: ValidationInfo) -> tuple[Reference, ...]:
    """One language pair, or several."""
    listed = value if isinstance(value, list | tuple) else [value]
    return tuple(reference(one, info, several=True) for one in listed)


def _parallel(value: object, info: ValidationInfo) -> dict[str, Reference]:
    """A file by language, or under "" one that holds them all."""
    if isinstance(value, Mapping):
        return {lang: reference(one, info) for lang, one in value.items()}
    return {"": reference(value, info, several=True)}


Text = Annotated[tuple[Reference, ...], BeforeValidator(_references)]
Bitexts = Annotated[tuple[Reference, ...], BeforeValidator(_bitexts)]
Corpora = Annotated[dict[str, tuple[Reference, ...]], BeforeValidator(_by_task)]
Parallel = Annotated[dict[str, Reference], BeforeValidator(_parallel)]


def for_task(corpora: Mapping[str, tuple[Reference, ...]], task: str) -> tuple[Reference, ...] | None:
    """The corpora that serve a task, if any does."""
    return corpora.get(task, corpora.get(""))


def single_key(value: object, kind: str) -> tuple[str, Any]:
    """`{reinit: "1-2"}` as a name and what belongs to it; a name alone has nothing."""
    if isinstance(value, str):
        return value, {}
    if isinstance(value, Mapping) and len(value) == 1:
        return next(iter(value.items()))
    raise SpecError(f"a {kind} such as {{NAME: …}} with one name", repr(value))


def parsed_change(value: object, kinds: Mapping[str, type[Part]], what: str, info: ValidationInfo) -> object:
    """A change of a study file, `{reinit: "1-2"}`, as its name and its arguments, checked; one that is so already."""
    if isinstance(value, dict) and isinstance(value.get("arguments"), Part):
        return value
    name, given = single_key(value, what)
    return {"name": name, "arguments": _arguments(kinds[known_name(name, kinds, what)], given, info)}


def _arguments(kind: type[Part], given: object, info: ValidationInfo) -> Part:
    """Arguments as a study file gives them: all by name, or the first alone."""
    named = given if isinstance(given, dict) else {_first(kind): given}
    return kind.model_validate(named, context=info.context)


def _first(kind: type[Part]) -> str:
    """The argument that has no default, or else the first."""
    fields = kind.model_fields
    return next((name for name, field in fields.items() if field.is_required()), next(iter(fields)))
