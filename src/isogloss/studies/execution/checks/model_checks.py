"""Checks of the models of a study: what each can be trained, changed and measured for. No weights are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from isogloss.core.bundled import SHIPPED
from isogloss.core.errors import IsoglossError
from isogloss.models.loading.loaded_model import LoadedModel, clone
from isogloss.models.loading.skeleton import load_skeleton
from isogloss.models.loading.untrained import untrained_model
from isogloss.models.states.pooling import check_layers
from isogloss.studies.execution.checks.findings import Findings
from isogloss.studies.schema.interventions import Intervention
from isogloss.studies.schema.interventions.language_modeling import Pretrain
from isogloss.studies.schema.model_entry import BILSTM, ModelEntry
from isogloss.studies.schema.references import SpecError
from isogloss.studies.schema.study import Study
from isogloss.tasks import TASKS
from isogloss.training.adjustment.loss import resolve_layers
from isogloss.training.engine.settings import settings_for

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class ModelChecks:
    """The checks of the models of one study."""

    study: Study
    findings: Findings

    def run(self) -> None:
        for name, entry in self.study.models.items():
            if entry.base == BILSTM:
                self.check_baseline(name, entry)
            else:
                with self.findings.collecting():
                    model = _without_weights(entry)
                    if model is not None:
                        self.check_model(model, name, entry)
            self.check_settings(name, entry)

    def check_baseline(self, name: str, entry: ModelEntry) -> None:
        """The BiLSTM does some of the tasks, and has no layers to change or to measure."""
        for task in self.study.tasks:
            if TASKS[task].bilstm is None:
                able = ", ".join(task_name for task_name in TASKS if TASKS[task_name].bilstm)
                self._refuse(f"tasks that a BiLSTM can do ({able})", f"'{task}'", name, ("tasks",))
        for key, measurement in {"measure": self.study.measure, "distances": self.study.distances}.items():
            if measurement:
                self._refuse("models with layers to measure", f"the model '{name}'", name, (key,))
        places: dict[Place, Sequence[Intervention]] = {("models", name, "changes"): entry.changes}
        places |= {("changes", condition): interventions for condition, interventions in self.study.changes.items()}
        for place, interventions in places.items():
            if interventions:
                self._refuse("no interventions on a BiLSTM", f"'{interventions[0].name}'", name, place)
        for kind, continual in self.study.continual.items():
            if continual:
                self._refuse("models with layers to adjust", f"the model '{name}'", name, ("continual", kind))

    def check_model(self, model: LoadedModel, name: str, entry: ModelEntry) -> None:
        """Every condition can be applied to the model; layers that are measured or adjusted exist."""
        for condition, interventions in self.study.changes.items():
            changed = clone(model)
            self._apply(changed, entry.changes, ("models", name, "changes"))
            self._apply(changed, interventions, ("changes", condition))
        if (distances := self.study.distances) and distances.layer != "last":
            self._attempt(lambda: check_layers(model, [distances.layer]), ("distances", "layer"))
        for kind, continual in self.study.continual.items():
            if continual:
                layers = continual.layers
                self._attempt(lambda layers=layers: resolve_layers(model, layers), ("continual", kind, "layers"))

    def check_settings(self, name: str, entry: ModelEntry) -> None:
        """The settings of every fine-tuning are consistent."""
        for task in self.study.tasks:
            values, declared = self.study.training_settings(task, name), TASKS[task]
            parts = declared.bilstm if entry.base == BILSTM else None
            defaults = parts.defaults if parts else declared.defaults
            self._attempt(lambda defaults=defaults, values=values: settings_for(defaults, **values), ("settings",))

    def _apply(self, model: LoadedModel, interventions: Sequence[Intervention], place: Place) -> None:
        for position, intervention in enumerate(interventions):
            arguments = intervention.arguments
            self._attempt(lambda arguments=arguments: arguments.check(model), (*place, position, intervention.name))

    def _attempt(self, check: Callable[..., object], place: Place) -> None:
        """A check whose error is reported with its place in the study file."""
        try:
            check()
        except IsoglossError as error:
            self.findings.add(SpecError("arguments that fit the model", str(error), place=place))

    def _refuse(self, expected: str, got: str, name: str, place: Place) -> None:
        advice = f"'{name}' is the baseline without pretraining; put it into another study"
        self.findings.add(SpecError(expected, got, advice, place))


def _without_weights(entry: ModelEntry) -> LoadedModel | None:
    """The model before its interventions; None if it is a name on the hub, which the workers download."""
    if entry.base is None:
        arguments = entry.changes[0].arguments
        assert isinstance(arguments, Pretrain)
        sizes = arguments.model_dump(include={"layers", "width", "heads", "norm"})
        causal = arguments.settings.get("objective") == "clm"
        return untrained_model(load_skeleton("laboratory").tokenizer, causal=causal, **sizes)
    is_local = entry.base in SHIPPED or Path(entry.base).is_absolute()
    return load_skeleton(entry.base) if is_local else None
