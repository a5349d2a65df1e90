"""Character noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from isogloss.studies.schema.text_changes.kind import Role, TextArguments, TextChangeKind

if TYPE_CHECKING:
    from isogloss.corpora.corpus import AnyCorpus


class NoiseArguments(TextArguments):
    rate: float = Field(ge=0, le=1)
    on: tuple[Role, ...] = ("train",)
    seed: int = Field(0, ge=0)


def apply_noise(corpus: AnyCorpus, arguments: NoiseArguments) -> AnyCorpus:
    from isogloss.text.changes.noise import noise

    return noise(corpus, arguments.rate, seed=arguments.seed)


NOISE = TextChangeKind("noise", NoiseArguments, apply_noise)
