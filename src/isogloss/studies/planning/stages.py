"""The stages of a planned study: one frozen class per kind, with all that a worker needs to compute it.

A new kind is a class here and a function in `execution.stages.STAGE_FUNCTIONS`. Nothing here imports torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pydantic import JsonValue, TypeAdapter

from isogloss.core.hashing import digest
from isogloss.studies.schema.continual import Continual
from isogloss.studies.schema.interventions import Intervention
from isogloss.studies.schema.measurements import Measure, WordDistances
from isogloss.studies.schema.text_changes import TextChange

SCORING_VERSIONS = {"qa": 2}  # of tasks; raised when the same predictions of corpora in files get other scores


@dataclass(frozen=True)
class ModelSpec:
    """A model before fine-tuning: loaded from `base` or from the stage `stored`, then changed by `interventions`.

    Without `base` and `stored`, the first intervention creates the model. Each intervention comes with its position
    among all interventions of the run: its seed is derived from `seed` and the position.
    """

    base: str | None
    stored: str | None
    interventions: tuple[tuple[int, Intervention], ...]
    seed: int

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.stored,) if self.stored else ()


@dataclass(frozen=True)
class TaskCorpora:
    """The corpora of a task in the source language; `fingerprints` are the hashes of all corpora of the stage.

    `scorer`: the scoring script, where the study chooses one.
    """

    task: str
    source: str
    train: tuple[str, ...]
    dev: tuple[str, ...]
    text_changes: tuple[TextChange, ...]
    fingerprints: Mapping[str, str]
    scorer: str | None = None


@dataclass(frozen=True)
class ContinualSpec:
    """Continual learning during fine-tuning; `original` is the anchor model where `options.anchor` is "original"."""

    options: Continual
    original: ModelSpec | None


@dataclass(frozen=True)
class Stage:
    """A result that is computed once: its `id` is the hash of everything that decides it.

    `needs` are the ids of the stages that it reads.
    """

    id: str
    needs: tuple[str, ...]
    kind: ClassVar[str]
    title: ClassVar[str]  # plural, in explanations
    version: ClassVar[int] = 1  # raised when the same stage would compute something else
    stores_network: ClassVar[bool] = False

    @classmethod
    def identity(cls, *parts: object) -> str:
        return f"{cls.kind}-{digest(cls.kind, cls.version, *parts)}"

    @property
    def network_id(self) -> str | None:
        """The fine-tuning whose network this stage reads, if any."""
        return next((id for id in self.needs if id.startswith(f"{FineTuningStage.kind}-")), None)

    @property
    def time_key(self) -> tuple[str, ...]:
        """The same for stages that are expected to take the same time."""
        return (self.kind,)

    def to_json(self) -> dict[str, JsonValue]:
        """The stage as plain values, for the manifest of its entry in the store."""
        if type(self) not in _ADAPTERS:
            _ADAPTERS[type(self)] = TypeAdapter(type(self))
        fields: dict[str, JsonValue] = _ADAPTERS[type(self)].dump_python(self, mode="json")
        return fields


_ADAPTERS: dict[type[Stage], TypeAdapter[Stage]] = {}


@dataclass(frozen=True)
class StageOfModel(Stage):
    """A stage that starts from `model`, the model before fine-tuning."""

    model: ModelSpec

    @property
    def time_key(self) -> tuple[str, ...]:
        return (self.kind, str(self.model.base or self.model.stored))


@dataclass(frozen=True)
class ModelStage(StageOfModel):
    """A model after interventions whose outcome is stored."""

    kind = "model"
    title = "changed models"
    stores_network = True


@dataclass(frozen=True)
class StageOfTask(StageOfModel):
    """A stage of one run of a task."""

    seed: int
    corpora: TaskCorpora

    @property
    def time_key(self) -> tuple[str, ...]:
        return (*super().time_key, self.corpora.task)


@dataclass(frozen=True)
class FineTuningStage(StageOfTask):
    """A network fine-tuned for a task; `settings` are those that differ from the task's defaults."""

    settings: Mapping[str, JsonValue]
    continual: ContinualSpec | None
    kind = "finetuned"
    title = "fine-tuned networks"
    version = 2
    stores_network = True
    continual_version: ClassVar[int] = 1  # `version` for fine-tuning with continual learning only

    @property
    def time_key(self) -> tuple[str, ...]:
        replayed = (str(self.continual.options.pairs),) if self.continual else ()
        return (*super().time_key, *replayed)


@dataclass(frozen=True)
class EvaluationStage(StageOfTask):
    """Scores and predictions of a fine-tuned network on the dev set and on every target."""

    targets: Mapping[str, tuple[str, ...]]
    kind = "evaluation"
    title = "evaluations"


@dataclass(frozen=True)
class SimilarityStage(StageOfModel):
    """Similarity curves of a fine-tuned network's encoder (`network_id`), or of the model before fine-tuning."""

    measure: Measure
    source: str
    kind = "similarity"
    title = "similarity curves"
    version = 2


@dataclass(frozen=True)
class DistancesStage(StageOfModel):
    """Word distances in a fine-tuned network's encoder (`network_id`), or in the model before fine-tuning."""

    measure: WordDistances
    kind = "distances"
    title = "word distances"


STAGE_CLASSES: tuple[type[Stage], ...] = (
    ModelStage, FineTuningStage, EvaluationStage, SimilarityStage, DistancesStage,
)  # fmt: skip
