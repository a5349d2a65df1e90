"""Word order of another language type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from isogloss.studies.schema.text_changes.kind import Role, TextArguments, TextChangeKind

if TYPE_CHECKING:
    from isogloss.corpora.corpus import AnyCorpus


class ReorderArguments(TextArguments):
    order: Literal["SVO", "SOV", "VSO", "VOS", "OSV", "OVS"]
    probability: float = Field(1.0, ge=0, le=1)
    on: tuple[Role, ...] = ("train",)
    seed: int = Field(0, ge=0)


def apply_reorder(corpus: AnyCorpus, arguments: ReorderArguments) -> AnyCorpus:
    from isogloss.text.changes.reordering import reorder

    return reorder(corpus, arguments.order, probability=arguments.probability, seed=arguments.seed)


REORDER = TextChangeKind("reorder", ReorderArguments, apply_reorder)
