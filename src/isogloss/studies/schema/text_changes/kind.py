"""What a text change in study files declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from isogloss.studies.schema.references import Part

if TYPE_CHECKING:
    from isogloss.corpora.corpus import AnyCorpus

Role = Literal["train", "dev", "test"]


class TextArguments(Part):
    """`on`: the corpora that are changed."""

    on: tuple[Role, ...] = ("train", "dev", "test")


A = TypeVar("A", bound=TextArguments)


@dataclass(frozen=True)
class TextChangeKind(Generic[A]):
    """One kind of text change, corpus → corpus: `apply(corpus, arguments)` returns the changed corpus."""

    name: str
    arguments: type[A]
    apply: Callable[[AnyCorpus, A], AnyCorpus]
    version: int = 1  # raised when the same arguments would give another text
