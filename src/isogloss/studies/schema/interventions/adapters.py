"""Adapters that are trained with the task: bottleneck adapters and LoRA."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from isogloss.studies.schema.interventions.kind import InterventionKind
from isogloss.studies.schema.references import Part

if TYPE_CHECKING:
    from isogloss.models.loading.loaded_model import LoadedModel


class TaskAdapterArguments(Part):
    reduction: int = Field(16, ge=1)
    placement: Literal["pfeiffer", "houlsby"] = "pfeiffer"


class LoraArguments(Part):
    rank: int = Field(8, ge=1)
    alpha: float = Field(16, gt=0)
    dropout: float = Field(0.0, ge=0, lt=1)


def apply_task_adapter(model: LoadedModel, arguments: TaskAdapterArguments, seed: int, work: Path) -> LoadedModel:
    from isogloss.models.interventions.adapters import task_adapter

    return task_adapter(**arguments.model_dump())(model, seed=seed)


def apply_lora(model: LoadedModel, arguments: LoraArguments, seed: int, work: Path) -> LoadedModel:
    from isogloss.models.adapters.lora import lora

    return lora(**arguments.model_dump())(model, seed=seed)


TASK_ADAPTER = InterventionKind("task_adapter", TaskAdapterArguments, apply_task_adapter)
LORA = InterventionKind("lora", LoraArguments, apply_lora)
