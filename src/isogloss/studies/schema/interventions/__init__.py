"""The interventions that a study file may name: one file each, and one line in the list below."""

from __future__ import annotations

from pydantic import SerializeAsAny, ValidationInfo, model_validator

from isogloss.core.registry import Registry
from isogloss.studies.schema.interventions.arguments import InterventionArguments
from isogloss.studies.schema.references import Part, parsed_change

RUN_SEED = "run"  # as the value of `seed`: the seed is derived from the run's
INTERVENTIONS: Registry[type[InterventionArguments]] = Registry(
    "intervention",
    {
        "reinit": "isogloss.studies.schema.interventions.reinit:Reinit",
        "adapt": "isogloss.studies.schema.interventions.language_modeling:Adapt",
        "adjust": "isogloss.studies.schema.interventions.adjust:Adjust",
        "extend_vocabulary": "isogloss.studies.schema.interventions.extend_vocabulary:ExtendVocabulary",
        "language_adapter": "isogloss.studies.schema.interventions.language_modeling:LanguageAdapter",
        "task_adapter": "isogloss.studies.schema.interventions.adapters:TaskAdapter",
        "lora": "isogloss.studies.schema.interventions.adapters:Lora",
        "pretrain": "isogloss.studies.schema.interventions.language_modeling:Pretrain",
    },
)


class Intervention(Part):
    """One intervention of a study file, with its arguments checked."""

    name: str
    arguments: SerializeAsAny[InterventionArguments]

    @model_validator(mode="before")
    @classmethod
    def _from_file(cls, value: object, info: ValidationInfo) -> object:
        return parsed_change(value, INTERVENTIONS, "intervention", info)

    @property
    def fixed_seed(self) -> int | None:
        """The seed among its arguments; None where its seed is derived from the run's."""
        seed = getattr(self.arguments, "seed", RUN_SEED) if self.arguments.stored else RUN_SEED
        return None if seed == RUN_SEED else int(seed)

    @property
    def seeded(self) -> bool:
        """Whether it depends on the run's seed."""
        return self.fixed_seed is None
