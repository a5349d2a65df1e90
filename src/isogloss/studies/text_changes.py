"""The text changes that a study file may name: corpus → corpus. A new one is a class, a function and a line below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import SerializeAsAny, ValidationInfo, model_validator

from isogloss.studies.changes import arguments_of
from isogloss.studies.parts import Part, known, one_key

if TYPE_CHECKING:
    from isogloss.corpora.corpus import Corpus

Role = Literal["train", "dev", "test"]


class TextArguments(Part):
    """`on`: the corpora that are changed."""

    on: tuple[Role, ...] = ("train", "dev", "test")


@dataclass(frozen=True)
class TextChangeKind:
    """`apply(corpus, arguments)` gives the changed corpus."""

    arguments: type[TextArguments]
    apply: Callable[[Corpus[Any], Any], Corpus[Any]]
    version: int = 1  # raised when the same change would give another text


TEXT_CHANGES: dict[str, TextChangeKind] = {}


class TextChange(Part):
    """One text change of a study file, with its arguments checked."""

    name: str
    arguments: SerializeAsAny[TextArguments]

    @model_validator(mode="before")
    @classmethod
    def _from_file(cls, value: object, info: ValidationInfo) -> object:
        if isinstance(value, dict) and isinstance(value.get("arguments"), Part):
            return value
        name, given = one_key(value, "text change")
        kind = TEXT_CHANGES[known(name, TEXT_CHANGES, "text change")].arguments
        return {"name": name, "arguments": arguments_of(kind, given, info)}

    @property
    def kind(self) -> TextChangeKind:
        return TEXT_CHANGES[self.name]
