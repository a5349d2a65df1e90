"""Word order of another language type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from isogloss.studies.schema.text_changes.arguments import Role, TextArguments

if TYPE_CHECKING:
    from isogloss.corpora.corpus import AnyCorpus


class Reorder(TextArguments):
    order: Literal["SVO", "SOV", "VSO", "VOS", "OSV", "OVS"]
    probability: float = Field(1.0, ge=0, le=1)
    on: tuple[Role, ...] = ("train",)

    def apply(self, corpus: AnyCorpus) -> AnyCorpus:
        from isogloss.text.changes.reordering import reorder

        return reorder(corpus, self.order, probability=self.probability, seed=self.seed)
