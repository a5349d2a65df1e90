"""The interventions that a study file may name: one file each, and one line in the list below."""

from __future__ import annotations

from typing import Any

from pydantic import SerializeAsAny, ValidationInfo, model_validator

from isogloss.core.registry import Registry
from isogloss.studies.schema.interventions.kind import RUN_SEED, InterventionKind
from isogloss.studies.schema.references import Part, parsed_change

INTERVENTIONS: Registry[InterventionKind[Any]] = Registry(
    "intervention",
    {
        "reinit": "isogloss.studies.schema.interventions.reinit:REINIT",
        "adapt": "isogloss.studies.schema.interventions.language_modeling:ADAPT",
        "adjust": "isogloss.studies.schema.interventions.adjust:ADJUST",
        "extend_vocabulary": "isogloss.studies.schema.interventions.extend_vocabulary:EXTEND_VOCABULARY",
        "language_adapter": "isogloss.studies.schema.interventions.language_modeling:LANGUAGE_ADAPTER",
        "task_adapter": "isogloss.studies.schema.interventions.adapters:TASK_ADAPTER",
        "lora": "isogloss.studies.schema.interventions.adapters:LORA",
        "pretrain": "isogloss.studies.schema.interventions.language_modeling:PRETRAIN",
    },
)


class Intervention(Part):
    """One intervention of a study file, with its arguments checked."""

    name: str
    arguments: SerializeAsAny[Part]

    @model_validator(mode="before")
    @classmethod
    def _from_file(cls, value: object, info: ValidationInfo) -> object:
        return parsed_change(value, INTERVENTIONS, "intervention", info)

    @property
    def kind(self) -> InterventionKind[Any]:
        return INTERVENTIONS[self.name]

    @property
    def fixed_seed(self) -> int | None:
        """The seed among its arguments; None where its seed is derived from the run's."""
        seed = getattr(self.arguments, "seed", RUN_SEED) if self.kind.stored else RUN_SEED
        return None if seed == RUN_SEED else int(seed)

    @property
    def seeded(self) -> bool:
        """Whether it depends on the run's seed."""
        return self.fixed_seed is None
