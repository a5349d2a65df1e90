"""The text changes that a study file may name: corpus → corpus. A new one is a class, a function and a line below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, SerializeAsAny, ValidationInfo, model_validator

from isogloss.languages.codes import canonical
from isogloss.studies.schema.references import Part, Text, parsed_change

if TYPE_CHECKING:
    from isogloss.corpora.corpus import AnyCorpus

Role = Literal["train", "dev", "test"]


class TextArguments(Part):
    """`on`: the corpora that are changed."""

    on: tuple[Role, ...] = ("train", "dev", "test")


@dataclass(frozen=True)
class TextChangeKind:
    """`apply(corpus, arguments)` gives the changed corpus."""

    arguments: type[TextArguments]
    apply: Callable[[AnyCorpus, Any], AnyCorpus]
    version: int = 1  # raised when the same change would give another text


class TransliterateArguments(TextArguments):
    """`langs`: the languages whose corpora are rewritten, all where not given."""

    scheme: str | None = None
    langs: tuple[str, ...] = ()
    seed: int = Field(0, ge=0)


class NoiseArguments(TextArguments):
    rate: float = Field(ge=0, le=1)
    on: tuple[Role, ...] = ("train",)
    seed: int = Field(0, ge=0)


class CodeSwitchArguments(TextArguments):
    lexicon: Text
    ratio: float = Field(0.5, ge=0, le=1)
    on: tuple[Role, ...] = ("train",)
    seed: int = Field(0, ge=0)


class ReorderArguments(TextArguments):
    order: Literal["SVO", "SOV", "VSO", "VOS", "OSV", "OVS"]
    probability: float = Field(1.0, ge=0, le=1)
    on: tuple[Role, ...] = ("train",)
    seed: int = Field(0, ge=0)


def apply_transliterate(corpus: AnyCorpus, arguments: TransliterateArguments) -> AnyCorpus:
    from isogloss.text.transliteration.transliterate import transliterate

    if arguments.langs and corpus.lang not in map(canonical, arguments.langs):
        return corpus
    return transliterate(corpus, scheme=arguments.scheme, seed=arguments.seed)


def apply_noise(corpus: AnyCorpus, arguments: NoiseArguments) -> AnyCorpus:
    from isogloss.text.changes.noise import noise

    return noise(corpus, arguments.rate, seed=arguments.seed)


def apply_code_switch(corpus: AnyCorpus, arguments: CodeSwitchArguments) -> AnyCorpus:
    from isogloss.corpora.readers import read_lexicon
    from isogloss.text.changes.code_switching import code_switch

    lexicons = [read_lexicon(one) for one in arguments.lexicon]
    entries = lexicons[0].with_items(entry for one in lexicons for entry in one)
    return code_switch(corpus, entries, arguments.ratio, seed=arguments.seed)


def apply_reorder(corpus: AnyCorpus, arguments: ReorderArguments) -> AnyCorpus:
    from isogloss.text.changes.reordering import reorder

    return reorder(corpus, arguments.order, probability=arguments.probability, seed=arguments.seed)


TEXT_CHANGES: dict[str, TextChangeKind] = {
    "transliterate": TextChangeKind(TransliterateArguments, apply_transliterate),
    "noise": TextChangeKind(NoiseArguments, apply_noise),
    "code_switch": TextChangeKind(CodeSwitchArguments, apply_code_switch),
    "reorder": TextChangeKind(ReorderArguments, apply_reorder),
}


class TextChange(Part):
    """One text change of a study file, with its arguments checked."""

    name: str
    arguments: SerializeAsAny[TextArguments]

    @model_validator(mode="before")
    @classmethod
    def _from_file(cls, value: object, info: ValidationInfo) -> object:
        return parsed_change(value, {name: kind.arguments for name, kind in TEXT_CHANGES.items()}, "text change", info)

    @property
    def kind(self) -> TextChangeKind:
        return TEXT_CHANGES[self.name]
