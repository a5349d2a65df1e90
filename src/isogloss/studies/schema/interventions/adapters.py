"""Adapters that are trained with the task: bottleneck adapters and LoRA."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from isogloss.studies.schema.interventions.arguments import InterventionArguments

if TYPE_CHECKING:
    from isogloss.models.loading.loaded_model import LoadedModel


class TaskAdapter(InterventionArguments):
    reduction: int = Field(16, ge=1)
    placement: Literal["pfeiffer", "houlsby"] = "pfeiffer"

    def check(self, model: LoadedModel) -> None:
        from isogloss.models.interventions.adapters import task_adapter

        task_adapter(**self.model_dump())(model, seed=0)

    def apply(self, model: LoadedModel, seed: int, work: Path) -> LoadedModel:
        from isogloss.models.interventions.adapters import task_adapter

        return task_adapter(**self.model_dump())(model, seed=seed)


class Lora(InterventionArguments):
    rank: int = Field(8, ge=1)
    alpha: float = Field(16, gt=0)
    dropout: float = Field(0.0, ge=0, lt=1)

    def check(self, model: LoadedModel) -> None:
        from isogloss.core.registry import import_extra
        from isogloss.models.adapters.lora import attention_layers

        import_extra("peft", "adapters")
        attention_layers(model)

    def apply(self, model: LoadedModel, seed: int, work: Path) -> LoadedModel:
        from isogloss.models.adapters.lora import lora

        return lora(**self.model_dump())(model, seed=seed)
