"""Re-initialisation of layers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from isogloss.studies.schema.interventions.arguments import InterventionArguments

if TYPE_CHECKING:
    from isogloss.models.loading.loaded_model import LoadedModel


class Reinit(InterventionArguments):
    layers: str
    parts: Literal["attention", "feed-forward"] | None = None
    keep_norms: bool = False
    scheme: Literal["model", "pytorch"] = "model"

    def check(self, model: LoadedModel) -> None:
        from isogloss.models.interventions.reinit import reinit

        reinit(**self.model_dump()).check(model)

    def apply(self, model: LoadedModel, seed: int, work: Path) -> LoadedModel:
        from isogloss.models.interventions.reinit import reinit

        return reinit(**self.model_dump())(model, seed=seed)
