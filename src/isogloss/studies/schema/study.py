"""A study as data: the models, changes, tasks, languages and seeds that are crossed, and what is measured."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, TypeVar

from pydantic import BeforeValidator, Field, ValidationInfo, field_serializer, field_validator, model_validator

from isogloss.core.settings import SettingValues
from isogloss.studies.schema.continual import Continual, named_continual
from isogloss.studies.schema.interventions import Intervention
from isogloss.studies.schema.measurements import Measure, Positive, WordDistances
from isogloss.studies.schema.model_entry import BILSTM, ModelEntry, named_models
from isogloss.studies.schema.references import Corpora, Part, SpecError, absolute, known_name
from isogloss.studies.schema.settings import FINE_TUNING_SETTINGS, FineTuningValues
from isogloss.studies.schema.study_checks import check_study
from isogloss.studies.schema.text_changes import TextChange
from isogloss.tasks import TASKS

__all__ = ["BILSTM", "SINGULAR", "Source", "Study"]
SINGULAR = {"model": "models", "change": "changes", "task": "tasks", "source": "sources", "target": "targets"}
SINGULAR["seed"] = "seeds"
V = TypeVar("V")


class Source(Part):
    """The corpora of a source language: for training, and for choosing the best epoch."""

    train: Corpora
    dev: Corpora


def _tasks(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _seeds(value: object) -> object:
    """A number of seeds, or a list of seeds."""
    seeds = list(range(value)) if isinstance(value, int) and not isinstance(value, bool) else value
    listed = seeds if isinstance(seeds, list | tuple) else ()
    if 0 < len(listed) == len(set(listed)) and all(type(seed) is int and seed >= 0 for seed in listed):
        return seeds
    raise SpecError("how many seeds (5), or which ([0, 1, 7])", repr(value))


class Study(Part):
    """A study file. The runs are the product of models, changes, continual learning, tasks, sources, text and seeds.

    A run is fine-tuned on its source and evaluated on every target; without tasks, models are only measured.
    `reference` is the condition of `changes` that the others are compared with. `settings` are for all runs, for a
    task, for a model, or for a task of a model. `threads` is the number of CPU threads of a run: the last bits of sums
    depend on it. `networks: discard` removes a fine-tuned network once its run is done. `published` is a CSV of
    published values, `published_conditions` the YAML file of the conditions under which they hold.
    """

    name: str = Field(pattern=r"^[\w.-]+$")
    description: str = ""
    variables: dict[str, str | None] = Field(default_factory=dict)
    models: Annotated[dict[str, ModelEntry], BeforeValidator(named_models)] = Field(min_length=1)
    changes: dict[str, tuple[Intervention, ...]] = Field(
        default_factory=lambda: dict[str, tuple[Intervention, ...]](REF=()), min_length=1
    )
    tasks: Annotated[tuple[str, ...], BeforeValidator(_tasks)] = ()  # none: models are only measured
    sources: dict[str, Source] = Field(default_factory=dict)
    targets: dict[str, Corpora] = Field(default_factory=dict)
    text: dict[str, tuple[TextChange, ...]] = Field(
        default_factory=lambda: dict[str, tuple[TextChange, ...]]({"": ()}), min_length=1
    )
    continual: Annotated[dict[str, Continual | None], BeforeValidator(named_continual)] = Field(
        default_factory=lambda: dict[str, Continual | None]({"": None}), min_length=1
    )
    settings: dict[str, dict[str, FineTuningValues]] = Field(default_factory=dict)  # by model and task, "" for all
    seeds: Annotated[tuple[int, ...], BeforeValidator(_seeds)] = (0,)
    measure: Measure | None = None
    distances: WordDistances | None = None
    reference: str = "REF"
    published: str | None = None
    published_conditions: str | None = None
    threads: Positive = 1
    networks: Literal["keep", "discard"] = "keep"

    @model_validator(mode="before")
    @classmethod
    def _plural(cls, value: object) -> object:
        """`task: pos` is `tasks: [pos]`, and so on."""
        if not isinstance(value, Mapping):
            raise SpecError("a mapping (name: …, models: …)", repr(value)[:40])
        if both := [name for name, plural in SINGULAR.items() if name in value and plural in value]:
            raise SpecError(f"'{both[0]}' or '{SINGULAR[both[0]]}'", "both")
        return {SINGULAR.get(name, name): content for name, content in value.items()}

    @field_validator("tasks")
    @classmethod
    def _known_tasks(cls, tasks: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(known_name(task, TASKS, "task") for task in tasks))

    @field_validator("text", "continual")
    @classmethod
    def _unnamed_first(cls, value: dict[str, V]) -> dict[str, V]:
        """Conditions are labelled with the names of all but the first, so the unnamed one must be the first."""
        return {"": value[""], **value} if "" in value else value

    @field_validator("settings", mode="before")
    @classmethod
    def _settings_by_model(cls, value: object, info: ValidationInfo) -> object:
        """Settings for all runs next to those of tasks and models: `{epochs: 3, parse: {epochs: 15}, bilstm: {…}}`."""
        models = info.data.get("models", {})
        if not isinstance(value, Mapping):
            raise SpecError("settings (epochs: 3, …)", repr(value))
        for name in models.keys() & value.keys() & {*TASKS, *FINE_TUNING_SETTINGS.fields}:
            got = f"'{name}', which is a task or setting too"
            raise SpecError("another name for a model that is given settings", got)
        by_model = {"": {name: settings for name, settings in value.items() if name not in models}}
        by_model |= {name: settings for name, settings in value.items() if name in models}
        by_task = {name: _by_task(settings, () if name else models) for name, settings in by_model.items()}
        return {name: settings for name, settings in by_task.items() if settings}

    @field_serializer("settings")
    def _as_in_the_file(self, settings: dict[str, dict[str, SettingValues]]) -> SettingValues:
        flat = {
            model: tasks.get("", {}) | {task: values for task, values in tasks.items() if task}
            for model, tasks in settings.items()
        }
        return {**flat.pop("", {}), **flat}

    @field_validator("published", "published_conditions", mode="before")
    @classmethod
    def _absolute(cls, value: object, info: ValidationInfo) -> object:
        return absolute(value, info) if isinstance(value, str) and value else value

    @model_validator(mode="after")
    def _is_consistent(self) -> Study:
        check_study(self)
        return self

    @property
    def conditions(self) -> list[tuple[str, str]]:
        """Names of changes, each with the names of the kinds of continual learning that it is crossed with."""
        return [
            (changes, name)
            for changes, (name, continual) in itertools.product(self.changes, self.continual.items())
            if not (continual and continual.changes) or changes in continual.changes
        ]

    def training_settings(self, task: str, model: str) -> SettingValues:
        """The settings of a model's fine-tuning for a task, without how it is scored."""
        return {name: value for name, value in self.settings_of(task, model).items() if name != "scorer"}

    def scorer_of(self, task: str, model: str) -> str | None:
        """The scoring script of a task, if the study chooses one."""
        return self.settings_of(task, model).get("scorer")

    def settings_of(self, task: str, model: str) -> SettingValues:
        """The settings of a model for a task; settings of the model override those of the task."""
        settings: SettingValues = {}
        for model_key, task_key in itertools.product(("", model), ("", task)):
            settings |= self.settings.get(model_key, {}).get(task_key, {})
        return settings


def _by_task(value: object, models: Iterable[str]) -> Mapping[str, object]:
    """Settings by task, under "" those of all tasks."""
    if not isinstance(value, Mapping):
        raise SpecError("settings (epochs: 3, …)", repr(value))
    by_task = {name: settings for name, settings in value.items() if name in TASKS}
    shared = {name: setting for name, setting in value.items() if name not in TASKS}
    for name, setting in shared.items():
        if isinstance(setting, Mapping):
            known_name(name, [*TASKS, *models], "task or model of 'settings'")
    return {"": shared, **by_task} if shared else by_task
