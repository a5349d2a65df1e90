"""Character noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from isogloss.studies.schema.text_changes.arguments import Role, TextArguments

if TYPE_CHECKING:
    from isogloss.corpora.corpus import AnyCorpus


class Noise(TextArguments):
    rate: float = Field(ge=0, le=1)
    on: tuple[Role, ...] = ("train",)

    def apply(self, corpus: AnyCorpus) -> AnyCorpus:
        from isogloss.text.changes.noise import noise

        return noise(corpus, self.rate, seed=self.seed)
