"""The interventions that a study file may name. A new one is a file here, with a class of arguments, a function and an
`InterventionKind`, and a line in the list below."""

from __future__ import annotations

from typing import Any

from pydantic import SerializeAsAny, ValidationInfo, model_validator

from isogloss.studies.schema.interventions.adapters import LORA, TASK_ADAPTER
from isogloss.studies.schema.interventions.adjust import ADJUST
from isogloss.studies.schema.interventions.extend_vocabulary import EXTEND_VOCABULARY
from isogloss.studies.schema.interventions.kind import RUN_SEED, InterventionKind
from isogloss.studies.schema.interventions.language_modeling import ADAPT, LANGUAGE_ADAPTER, PRETRAIN
from isogloss.studies.schema.interventions.reinit import REINIT
from isogloss.studies.schema.references import Part, parsed_change

INTERVENTIONS: dict[str, InterventionKind[Any]] = {
    kind.name: kind
    for kind in (
        REINIT,
        ADAPT,
        ADJUST,
        EXTEND_VOCABULARY,
        LANGUAGE_ADAPTER,
        TASK_ADAPTER,
        LORA,
        PRETRAIN,
    )
}


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
