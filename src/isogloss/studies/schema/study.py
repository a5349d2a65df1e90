"""A study as data: which models, changes, tasks, languages and seeds are crossed, and what is measured of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_serializer, field_validator, model_validator

from isogloss.core.bundled import SHIPPED
from isogloss.core.settings import SettingValues
from isogloss.studies.schema.continual import Continual, named_continual
from isogloss.studies.schema.interventions import INTERVENTIONS, Intervention
from isogloss.studies.schema.measurements import Measure, Positive, WordDistances
from isogloss.studies.schema.references import Corpora, Part, SpecError, absolute, for_task, known_name
from isogloss.studies.schema.settings import FINE_TUNING_SETTINGS, FineTuningValues
from isogloss.studies.schema.text_changes import TextChange
from isogloss.tasks import TASKS

BILSTM = "bilstm"
COLUMN = "column of 'changes'"
SINGULAR = {"model": "models", "change": "changes", "task": "tasks", "source": "sources", "target": "targets"}
SINGULAR["seed"] = "seeds"


class Model(Part):
    """A model and what is done to it whatever the column: `base` is None where the first change makes it.

    `text`: what is done to all that it is taught and tested on; not to the text of its changes (`transliterated:…`).
    """

    base: str | None
    changes: tuple[Intervention, ...] = ()
    text: tuple[TextChange, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _from_file(cls, value: object, info: ValidationInfo) -> object:
        """A name or folder, `{base: …, changes: […], text: […]}`, or the one change that makes it, `{pretrain: …}`."""
        if isinstance(value, str):
            return {"base": _model_name(value, info)}
        if isinstance(value, Mapping) and "base" not in value and len(value) == 1:
            starts = [name for name, kind in INTERVENTIONS.items() if kind.starts]
            known_name(next(iter(value)), ["base", *starts], "way to get a model")
            return {"base": None, "changes": [value]}
        if isinstance(value, Mapping) and isinstance(value.get("base"), str):
            return {**value, "base": _model_name(value["base"], info)}
        if isinstance(value, Mapping):
            return value
        raise SpecError("a model name, a folder, or {base: …, changes: […]}", repr(value))

    @model_validator(mode="after")
    def _begins(self) -> Model:
        """Something makes the model, once and first."""
        starting = [number for number, change in enumerate(self.changes) if change.kind.starts]
        if starting != ([0] if self.base is None else []):
            raise SpecError(
                "a base, or a change that makes a model as the first", str([one.name for one in self.changes])
            )
        return self


class Source(Part):
    """What a source language is learnt from, and what the epoch is chosen on."""

    train: Corpora
    dev: Corpora


def _named(value: object) -> object:
    """A list of models as a mapping from their short names; one alone is a list of one."""
    if isinstance(value, Mapping):
        return value
    listed = value if isinstance(value, list | tuple) else [value]
    names = [Path(one).name if isinstance(one, str) else None for one in listed]
    if None in names or len(set(names)) < len(names):
        raise SpecError("names for these models ({NAME: model, …})", repr(value))
    return dict(zip(names, listed, strict=True))


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _seeds(value: object) -> object:
    """How many, or which."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = list(range(value))
    wrong = not isinstance(value, list | tuple) or not value or len(set(value)) < len(value)
    if wrong or any(not isinstance(seed, int) or isinstance(seed, bool) or seed < 0 for seed in value):  # type: ignore[attr-defined]
        raise SpecError("how many seeds (5), or which ([0, 1, 7])", repr(value))
    return value


class Study(Part):
    """A study file. The runs are the product of models, changes, continual learning, tasks, sources, text and seeds.

    A run is fine-tuned on its source and scored on every target; without tasks, models are only measured.
    `reference` is the column of `changes` that the others are held against. `settings` are those of all runs, of a
    task, of a model, or of a task with a model. `threads` is how many a run computes with on a CPU, however many
    runs there are at once: sums depend on it in the last bits. `networks: discard` removes a fine-tuned network once
    its run is done.
    """

    name: str = Field(pattern=r"^[\w.-]+$")
    description: str = ""
    variables: dict[str, str | None] = Field(default_factory=dict)
    models: Annotated[dict[str, Model], BeforeValidator(_named)] = Field(min_length=1)
    changes: dict[str, tuple[Intervention, ...]] = Field(
        default_factory=lambda: dict[str, tuple[Intervention, ...]](REF=()), min_length=1
    )
    tasks: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()  # none: models are only measured
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
    threads: Positive = 1
    networks: Literal["keep", "discard"] = "keep"

    @model_validator(mode="before")
    @classmethod
    def _plural(cls, value: object) -> object:
        """`task: pos` is `tasks: [pos]`, and so on."""
        if not isinstance(value, Mapping):
            raise SpecError("a mapping (name: …, models: …)", repr(value)[:40])
        if twice := [one for one, many in SINGULAR.items() if one in value and many in value]:
            raise SpecError(f"'{twice[0]}' or '{SINGULAR[twice[0]]}'", "both")
        return {SINGULAR.get(name, name): one for name, one in value.items()}

    @field_validator("tasks")
    @classmethod
    def _known_tasks(cls, tasks: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(known_name(task, TASKS, "task") for task in tasks))

    @field_validator("text", "continual")
    @classmethod
    def _unnamed_first(cls, value: dict[str, Any]) -> dict[str, Any]:
        """Columns have the names of all but the first, so that one without a name can be no other."""
        return {"": value[""], **value} if "" in value else value

    @field_validator("settings", mode="before")
    @classmethod
    def _settings_by_model(cls, value: object, info: ValidationInfo) -> object:
        """Settings of all runs side by side with others: `{epochs: 3, parse: {epochs: 15}, bilstm: {epochs: 30}}`."""
        models = info.data.get("models", {})
        if not isinstance(value, Mapping):
            raise SpecError("settings (epochs: 3, …)", repr(value))
        for name in models.keys() & value.keys() & {*TASKS, *FINE_TUNING_SETTINGS.fields}:
            raise SpecError(
                "another name for a model that is given settings", f"'{name}', which is a task or setting too"
            )
        own = {name: one for name, one in value.items() if name in models}
        shared = {name: one for name, one in value.items() if name not in models}
        each = {name: _by_task(one, () if name else models) for name, one in {"": shared, **own}.items()}
        return {name: one for name, one in each.items() if one}

    @field_serializer("settings")
    def _as_in_the_file(self, settings: dict[str, dict[str, SettingValues]]) -> dict[str, Any]:
        flat = {
            model: tasks.get("", {}) | {task: values for task, values in tasks.items() if task}
            for model, tasks in settings.items()
        }
        return {**flat.pop("", {}), **flat}

    @field_validator("published", mode="before")
    @classmethod
    def _absolute(cls, value: object, info: ValidationInfo) -> object:
        return absolute(value, info) if isinstance(value, str) and value else value

    @model_validator(mode="after")
    def _agrees(self) -> Study:
        """What no part of the file can see by itself."""
        if not self.tasks:
            self._only_measures()
        elif not (self.sources and self.targets):
            raise SpecError("'sources' and 'targets' for the tasks", "none")
        known_name(self.reference, self.changes, COLUMN, ("reference",))
        for column, changes in self.changes.items():
            if starting := [change.name for change in changes if change.kind.starts]:
                raise SpecError(
                    f"changes of a model in 'changes.{column}'", f"'{starting[0]}', which belongs in 'models'"
                )
        self._serves()
        for name, one in {"measure": self.measure, "distances": self.distances}.items():
            for column in (one.changes if one else None) or ():
                known_name(column, self.changes, COLUMN, (name, "changes"))
            named = one.seeds if one and one.seeds != "all" else None
            if missing := set(named or ()) - set(self.seeds):
                raise SpecError(f"seeds of the study ({list(self.seeds)})", str(sorted(missing)), place=(name, "seeds"))
        self._replays()
        return self

    def _serves(self) -> None:
        """Each source serves every task, each target at least one, and each task has a target."""
        for task, (name, one), role in itertools.product(self.tasks, self.sources.items(), ("train", "dev")):
            if for_task(getattr(one, role), task) is None:
                given = ", ".join(getattr(one, role))
                raise SpecError(f"a corpus for the task '{task}' under sources.{name}.{role}", f"only {given}")
        served = {name: [task for task in self.tasks if for_task(one, task)] for name, one in self.targets.items()}
        for name, tasks in served.items():
            if not tasks and self.tasks:
                any_of = "' or '".join(self.tasks)
                raise SpecError(
                    f"a corpus for the task '{any_of}' under targets.{name}", f"only {', '.join(self.targets[name])}"
                )
        if without := [task for task in self.tasks if not any(task in tasks for tasks in served.values())]:
            raise SpecError(f"a target for the task '{without[0]}'", "none")

    def _replays(self) -> None:
        """Continual learning is crossed with columns that there are, and its anchor is what it is called."""
        for name, one in self.continual.items():
            for column in (one.changes if one else None) or ():
                known_name(column, self.changes, COLUMN, ("continual", name, "changes"))
            for model, made in self.models.items():
                if one and one.anchor == "original" and any(change.name == "adjust" for change in made.changes):
                    raise SpecError(
                        f"'adjust' under 'changes', or 'anchor: adjusted', for the continual learning of '{model}'",
                        "'adjust' among the model's own changes",
                        "the original is the model before the changes of its column",
                    )
        if lacking := self.changes.keys() - {column for column, _ in self.conditions}:
            raise SpecError("a kind of 'continual' for every column", f"none for {', '.join(sorted(lacking))}")

    def _only_measures(self) -> None:
        """Without tasks there is nothing to fine-tune, and what is measured must say against which language."""
        taught = (
            self.sources or self.targets or self.settings or any(self.text.values()) or any(self.continual.values())
        )
        if taught or not (self.measure or self.distances):
            raise SpecError("'tasks' with 'sources' and 'targets', or 'measure' alone", "no tasks")
        if self.measure and (self.measure.when != ("before",) or self.measure.source is None):
            got = f"when: [{', '.join(self.measure.when)}], source: {self.measure.source or 'none'}"
            raise SpecError("'when: [before]' and a 'source' in 'measure', as there are no tasks", got)
        if self.distances and self.distances.when != ("before",):
            raise SpecError("'when: [before]' in 'distances', as there are no tasks", ", ".join(self.distances.when))

    @property
    def conditions(self) -> list[tuple[str, str]]:
        """The columns of a table: changes, each with the kinds of continual learning that it is crossed with."""
        crossed = itertools.product(self.changes, self.continual.items())
        return [(column, name) for column, (name, one) in crossed if not (one and one.changes) or column in one.changes]

    def settings_of(self, task: str, model: str) -> SettingValues:
        """What the study says of fine-tuning a model for a task; a model's own settings go before a task's."""
        places = itertools.product(("", model), ("", task))
        given = [self.settings[one][which] for one, which in places if which in self.settings.get(one, {})]
        return {name: value for one in given for name, value in one.items()}


def _by_task(value: object, models: Iterable[str]) -> Mapping[str, object]:
    """Settings of all tasks, under "", and those of one."""
    if not isinstance(value, Mapping):
        raise SpecError("settings (epochs: 3, …)", repr(value))
    own = {name: one for name, one in value.items() if name in TASKS}
    shared = {name: one for name, one in value.items() if name not in TASKS}
    for name, one in shared.items():
        if isinstance(one, Mapping):
            known_name(name, [*TASKS, *models], "task or model of 'settings'")
    return {"": shared, **own} if shared else own


def _model_name(value: str, info: ValidationInfo) -> str:
    """A folder made absolute; the name of any other model as it is."""
    folder = Path(absolute(value, info))
    if value == BILSTM or value in SHIPPED or not (folder.is_dir() or value.startswith((".", "/", "~"))):
        return value
    if not (folder / "config.json").is_file():
        raise SpecError("a model folder with config.json", f"'{folder}', which has none")
    return str(folder)
