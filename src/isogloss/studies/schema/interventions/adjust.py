"""Cross-lingual adjustment on word-aligned sentence pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from isogloss.studies.schema.interventions.kind import InterventionKind
from isogloss.studies.schema.references import Bitexts, Part
from isogloss.studies.schema.settings import AdjustmentValues

if TYPE_CHECKING:
    from isogloss.models.loading.loaded_model import LoadedModel


class AdjustArguments(Part):
    """A bitext is a file, or `lab:SOURCE,TARGET/SPLIT/NUMBER`; `pairs` is the number of sentence pairs read from it."""

    bitext: Bitexts
    layers: int | str | tuple[int | str, ...] = "last"
    pairs: int | None = Field(None, ge=1)
    settings: AdjustmentValues = Field(default_factory=dict)
    seed: Annotated[int, Field(ge=0)] | Literal["run"] = 0


def apply_adjust(model: LoadedModel, arguments: AdjustArguments, seed: int, work: Path) -> LoadedModel:
    from isogloss.studies.execution.corpora import read_bitexts
    from isogloss.training.adjustment.adjust import adjust

    bitexts = [bitext[: arguments.pairs] for bitext in read_bitexts(arguments.bitext)]
    return adjust(model, bitexts, layers=arguments.layers, out=work, seed=seed, **arguments.settings)


ADJUST = InterventionKind("adjust", AdjustArguments, apply_adjust, stored=True)
