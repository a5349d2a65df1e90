"""What a text change in study files declares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from isogloss.studies.schema.references import Part

if TYPE_CHECKING:
    from isogloss.corpora.corpus import AnyCorpus

Role = Literal["train", "dev", "test"]


class TextArguments(Part, ABC):
    """One kind of text change, corpus → corpus; its fields are the arguments in a study file.

    `on`: the corpora that are changed.
    """

    version: ClassVar[int] = 1  # raised when the same arguments would give another text
    on: tuple[Role, ...] = ("train", "dev", "test")
    seed: int = Field(0, ge=0)

    @abstractmethod
    def apply(self, corpus: AnyCorpus) -> AnyCorpus: ...
