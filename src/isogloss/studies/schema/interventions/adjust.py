"""Cross-lingual adjustment on word-aligned sentence pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from isogloss.studies.schema.interventions.arguments import InterventionArguments
from isogloss.studies.schema.references import Bitexts
from isogloss.studies.schema.settings import AdjustmentValues

if TYPE_CHECKING:
    from isogloss.models.loading.loaded_model import LoadedModel


class Adjust(InterventionArguments):
    """A bitext is a file, or `lab:SOURCE,TARGET/SPLIT/NUMBER`; `pairs` is the number of sentence pairs read from it."""

    stored = True
    bitext: Bitexts
    layers: int | str | tuple[int | str, ...] = "last"
    pairs: int | None = Field(None, ge=1)
    settings: AdjustmentValues = Field(default_factory=dict)
    seed: Annotated[int, Field(ge=0)] | Literal["run"] = 0

    def check(self, model: LoadedModel) -> None:
        from isogloss.training.adjustment.loss import resolve_layers

        resolve_layers(model, self.layers)

    def apply(self, model: LoadedModel, seed: int, work: Path) -> LoadedModel:
        from isogloss.studies.execution.corpora import read_bitexts
        from isogloss.training.adjustment.adjust import adjust

        bitexts = [bitext[: self.pairs] for bitext in read_bitexts(self.bitext)]
        return adjust(model, bitexts, layers=self.layers, out=work, seed=seed, **self.settings)
