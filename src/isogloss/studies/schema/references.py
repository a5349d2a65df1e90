"""The building blocks of study files: strict mappings, errors that say what was expected, references to corpora.

A corpus is named by a path (relative to the folder of the study file, or to the working folder if it is given on the
command line), by `hub:NAME`, or by `lab:LANGUAGE/SPLIT/NUMBER[@SEED]` for items of the laboratory; the task decides
which kind of corpus is read. `mixed:FIRST|SECOND` combines two parallel corpora: inference pairs of the first with the
premise or the hypothesis of the second, or questions of the first about the paragraphs of the second.
`transliterated:CORPUS` is a corpus in the script that suits its language. `FORMAT:PATH` names the format of a file
(see `isogloss ls formats`), where it is not detected.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationInfo

from isogloss.core.errors import UnknownName
from isogloss.languages.checks import EXPECTED, check_language, suggested_code

LAB = re.compile(
    r"lab:(?P<langs>[\w,-]+)/(?P<split>train|dev|test)/(?P<number>[1-9]\d*)(?:/(?P<domain>talk|chronicle))?(?:@(?P<seed>\d+))?"
)
LAB_FORM = "lab:LANGUAGE/SPLIT/NUMBER[/DOMAIN][@SEED] such as lab:qla/train/1000"
MIXED, MIXED_SEPARATOR = "mixed:", "|"
TRANSLITERATED = "transliterated:"


class Part(BaseModel):
    """A mapping of a study file: unknown keys are errors, and it is immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, coerce_numbers_to_str=True)


class SpecError(ValueError):
    """An invalid value in a study file; `place`: the keys that lead to it, if it is invalid because of other keys.

    >>> str(SpecError("a number", "'x'"))
    "expected a number, got 'x'"
    """

    def __init__(self, expected: str, got: str, advice: str = "", place: tuple[str | int, ...] = ()):
        self.expected, self.got, self.advice, self.place = expected, got, advice, place
        super().__init__(f"expected {expected}, got {got}" + (f"; {advice}" if advice else ""))


class CliValue(str):
    """A value from the command line or the environment: paths in it are relative to the working folder."""


class Reference(str):
    """A reference to a corpus: an absolute path, `hub:…` or `lab:…`."""


def known_name(name: object, names: Iterable[str], kind: str, place: tuple[str, ...] = ()) -> str:
    """`name` if it is one of the names, otherwise an error."""
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


def known_language(code: str) -> str:
    """`code` as it is written, if it is a language code, otherwise an error."""
    try:
        check_language(code)
    except UnknownName:
        suggested = suggested_code(code)
        raise SpecError(EXPECTED, repr(code), f"did you mean '{suggested}'?" if suggested else "") from None
    return code


def reference(value: object, info: ValidationInfo, multilingual: bool = False) -> Reference:
    """A reference with an absolute path; `multilingual`: it may name several languages."""
    if not isinstance(value, str) or not value.strip():
        raise SpecError("a path, hub:NAME or lab:LANGUAGE/SPLIT/NUMBER", repr(value))
    if value.startswith(TRANSLITERATED):
        return Reference(TRANSLITERATED + reference(value.removeprefix(TRANSLITERATED), info))
    if value.startswith(MIXED):
        parts = [reference(part, info) for part in value.removeprefix(MIXED).split(MIXED_SEPARATOR)]
        if len(parts) != 2 or any(part.startswith(MIXED) for part in parts):
            raise SpecError(f"two corpora such as {MIXED}es.tsv{MIXED_SEPARATOR}en.tsv", repr(value))
        return Reference(MIXED + MIXED_SEPARATOR.join(parts))
    if value.startswith("lab:"):
        _check_lab(value, multilingual)
    if value.startswith(("hub:", "lab:")):
        return Reference(value)
    format, path = split_format(value)
    located = absolute(CliValue(path) if isinstance(value, CliValue) else path, info)
    return Reference(f"{format}:{located}" if format else located)


def split_format(reference: str) -> tuple[str | None, str]:
    """The format that a reference names, if any, and the path.

    >>> split_format("nli-tsv:/data/pairs.txt"), split_format("/data/pairs.tsv")
    (('nli-tsv', '/data/pairs.txt'), (None, '/data/pairs.tsv'))
    """
    from isogloss.corpora.formats import FORMATS

    name, mark, path = reference.partition(":")
    return (name, path) if mark and name in FORMATS else (None, reference)


def mixed_parts(reference: str) -> list[str]:
    """The two corpora of a `mixed:` reference; an empty list for others.

    >>> mixed_parts("mixed:es.tsv|en.tsv"), mixed_parts("es.tsv")
    (['es.tsv', 'en.tsv'], [])
    """
    return reference.removeprefix(MIXED).split(MIXED_SEPARATOR) if reference.startswith(MIXED) else []


def _check_lab(value: str, multilingual: bool) -> None:
    from isogloss.corpora.lab.languages import LANGUAGES

    match = LAB.fullmatch(value)
    if not match or ("," in match["langs"] and not multilingual):
        raise SpecError(LAB_FORM, repr(value))
    for lang in match["langs"].split(","):
        known_name(lang, LANGUAGES, "language of the laboratory")


def absolute(path: str, info: ValidationInfo) -> str:
    """A path as absolute: relative to the study file, or to the working folder for a `CliValue`."""
    folder = Path("." if isinstance(path, CliValue) else (info.context or {}).get("folder", "."))
    return str((folder / Path(path).expanduser()).resolve())


def _references(value: object, info: ValidationInfo, *, multilingual: bool = False) -> tuple[Reference, ...]:
    """One corpus, or several."""
    items = value if isinstance(value, list | tuple) else [value]
    return tuple(reference(item, info, multilingual) for item in items)


def _by_task(value: object, info: ValidationInfo) -> dict[str, tuple[Reference, ...]]:
    """Corpora by task, under "" if they serve every task."""
    from isogloss.tasks import TASKS

    if isinstance(value, Mapping):
        return {
            task if task == "" else known_name(task, TASKS, "task"): _references(corpora, info)
            for task, corpora in value.items()
        }
    return {"": _references(value, info)}


def _parallel(value: object, info: ValidationInfo) -> dict[str, Reference]:
    """A file for each language, or under "" one file with all languages."""
    if isinstance(value, Mapping):
        return {known_language(lang): reference(text, info) for lang, text in value.items()}
    return {"": reference(value, info, multilingual=True)}


LanguageCode = Annotated[str, AfterValidator(known_language)]
Text = Annotated[tuple[Reference, ...], BeforeValidator(_references)]
Bitexts = Annotated[tuple[Reference, ...], BeforeValidator(partial(_references, multilingual=True))]
Corpora = Annotated[dict[str, tuple[Reference, ...]], BeforeValidator(_by_task)]
Parallel = Annotated[dict[str, Reference], BeforeValidator(_parallel)]


def for_task(corpora: Mapping[str, tuple[Reference, ...]], task: str) -> tuple[Reference, ...] | None:
    """The corpora that serve a task, if any."""
    return corpora.get(task, corpora.get(""))


def parsed_change(value: object, kinds: Mapping[str, type[Part]], what: str, info: ValidationInfo) -> object:
    """`{reinit: "1-2"}` of a study file as a name with checked arguments; an already checked change is returned."""
    if isinstance(value, dict) and isinstance(value.get("arguments"), Part):
        return value
    name, content = _single_key(value, what)
    arguments = kinds[known_name(name, kinds, what)]
    values = content if isinstance(content, dict) else {_main_argument(arguments): content}
    return {"name": name, "arguments": arguments.model_validate(values, context=info.context)}


def _single_key(value: object, what: str) -> tuple[str, object]:
    """`{reinit: "1-2"}` as name and content; a name alone has no content."""
    if isinstance(value, str):
        return value, {}
    if isinstance(value, Mapping) and len(value) == 1:
        return next(iter(value.items()))
    article = "an" if what[0] in "aeiou" else "a"
    raise SpecError(f"{article} {what} such as {{NAME: …}} with one name", repr(value))


def _main_argument(arguments: type[Part]) -> str:
    """The argument that has no default, or else the first."""
    fields = arguments.model_fields
    return next((name for name, field in fields.items() if field.is_required()), next(iter(fields)))
