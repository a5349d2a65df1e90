"""Systems of a diagnosis: a model with its treatment, its training data and its settings, as parts of a study file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isogloss.diagnosis.difficulty import ADAPTED, BILSTM, FINETUNED, MONOLINGUAL
from isogloss.diagnosis.treatments import ADAPT, DiagnosisInputs, Options, StudyDocument, Treatment
from isogloss.studies.schema.study import BILSTM as BILSTM_MODEL
from isogloss.tasks import TASKS
from isogloss.training.finetuning.successive_halving import SearchSpace, Trial, best_trial, search_space


@dataclass(frozen=True)
class System:
    """A system before its settings are chosen.

    Args:
        name: Its name in tables, and among the models of a study file.
        model: Its entry among the models of a study file.
        settings: Settings that are fixed.
        start: Learning rate and epochs where the search begins, if not those of the task.
        extra_train: Training data added to that of the language.
    """

    name: str
    model: StudyDocument | str
    settings: Options
    start: Options
    extra_train: tuple[str, ...] = ()

    @property
    def untuned_settings(self) -> Options:
        return {**self.start, **self.settings}

    def search_space(self, task: str, sentences: int) -> SearchSpace:
        """The settings to search; `sentences`: size of the training set."""
        bilstm = TASKS[task].bilstm
        defaults = bilstm.defaults if bilstm and self.model == BILSTM_MODEL else TASKS[task].defaults
        return search_space(
            self.start.get("learning_rate", defaults.learning_rate),
            self.start.get("epochs", defaults.epochs),
            sentences,
            fixed_rate=self.settings.get("learning_rate"),
            fixed_epochs=self.settings.get("epochs"),
        )


@dataclass(frozen=True)
class TunedSystem:
    """A system with all trials of its search, one of which at least did not fail."""

    system: System
    trials: tuple[Trial, ...]

    @property
    def chosen(self) -> Trial:
        best = best_trial(self.trials)
        assert best
        return best

    @property
    def settings(self) -> Options:
        candidate = self.chosen.candidate
        return {**self.system.settings, "learning_rate": candidate.learning_rate, "epochs": candidate.epochs}

    @property
    def longer_was_tried(self) -> bool:
        """Whether longer training than the chosen one was tried, and was no better."""
        return any(trial.candidate.epochs > self.chosen.candidate.epochs for trial in self.trials)


def comparison_systems(inputs: DiagnosisInputs) -> list[System]:
    """The systems of Muller et al. (2021): the model fine-tuned directly and after adaptation, and two baselines.

    Without raw text there is neither adaptation nor a monolingual model.
    """
    sizes = inputs.sizes
    systems = [treatment_system(Treatment(), inputs)]
    if inputs.text:
        pretraining = {"pretrain": {"texts": {inputs.lang: list(inputs.text)}, **sizes.pretrain}}
        systems.append(treatment_system(Treatment((ADAPT,)), inputs))
        systems.append(System(MONOLINGUAL, pretraining, sizes.finetune, sizes.start))
    assert [system.name for system in systems[:2]] == [FINETUNED, ADAPTED][: len(systems)]
    return [*systems, System(BILSTM, BILSTM_MODEL, sizes.bilstm, {})]


def treatment_system(treatment: Treatment, inputs: DiagnosisInputs) -> System:
    """The multilingual model after a treatment."""
    settings = {name: value for step in treatment.steps for name, value in step.settings.items()}
    return System(
        treatment.name,
        treatment.model(inputs),
        {**inputs.sizes.finetune, **settings},
        inputs.sizes.start,
        tuple(reference for step in treatment.steps for reference in step.extra_train(inputs)),
    )


def systems_study(
    name: str, systems: Sequence[System], settings: Mapping[str, Options], inputs: DiagnosisInputs
) -> StudyDocument:
    """The study that trains systems with their settings, by name; all have the extra training data of the first."""
    return {
        "name": re.sub(r"[^\w.]+", "-", f"{inputs.lang}-{inputs.task}-{name}"),
        "description": f"{inputs.task} in {inputs.lang}: {name}",
        "tasks": [inputs.task],
        "sources": {inputs.lang: {"train": [*inputs.train, *systems[0].extra_train], "dev": list(inputs.dev)}},
        "targets": {inputs.lang: list(inputs.test)},
        "seeds": list(inputs.seeds),
        "threads": inputs.threads,
        "models": {system.name: system.model for system in systems},
        "settings": {system.name: dict(settings[system.name]) for system in systems if settings[system.name]},
    }
