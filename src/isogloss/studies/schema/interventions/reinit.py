"""Re-initialisation of layers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from isogloss.studies.schema.interventions.kind import InterventionKind
from isogloss.studies.schema.references import Part

if TYPE_CHECKING:
    from isogloss.models.loading.loaded_model import LoadedModel


class ReinitArguments(Part):
    layers: str
    parts: Literal["attention", "feed-forward"] | None = None
    keep_norms: bool = False
    scheme: Literal["model", "pytorch"] = "model"


def apply_reinit(model: LoadedModel, arguments: ReinitArguments, seed: int, work: Path) -> LoadedModel:
    from isogloss.models.interventions.reinit import reinit

    return reinit(**arguments.model_dump())(model, seed=seed)


REINIT = InterventionKind("reinit", ReinitArguments, apply_reinit)
