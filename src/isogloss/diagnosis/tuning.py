"""Every system gets its best chance: learning rate and epochs are chosen on dev data before systems are compared.

The search (`successive_halving`) has the first seed; all seeds train with its choice. Its trials are runs of ordinary
studies, a study for each round, so that an interrupted search resumes and a repeated one computes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

import polars as pl

from isogloss.core.errors import IsoglossError
from isogloss.diagnosis.selection_data import SelectionData
from isogloss.diagnosis.study_runner import StudyOutcome, StudyRunner
from isogloss.diagnosis.systems import System, TunedSystem, systems_study
from isogloss.diagnosis.treatments import DiagnosisInputs, StudyDocument
from isogloss.tasks import TASKS
from isogloss.training.finetuning.successive_halving import Candidate, Trial, best_trial, next_round

TUNING_COLUMNS = {
    "system": pl.String,
    "learning_rate": pl.Float64,
    "epochs": pl.Int64,
    "dev": pl.Float64,  # null: training failed
    "chosen": pl.Boolean,
    "failure": pl.String,
}


class TuningError(IsoglossError):
    """All trials of a system failed."""

    def __init__(self, system: str, reason: str):
        super().__init__(f"{system} with all settings: {reason}")
        self.reason = reason


@dataclass(frozen=True)
class SystemTrainer:
    """Chooses the settings of systems and trains them. Without `selection` the settings are not searched."""

    runner: StudyRunner
    inputs: DiagnosisInputs
    selection: SelectionData | None
    report_progress: Callable[[str], None]

    @property
    def metric(self) -> str:
        return TASKS[self.inputs.task].main_metric

    def train(self, name: str, systems: Sequence[System]) -> StudyOutcome:
        """Tune systems with the same training data, then train them with all seeds. Raises `TuningError`."""
        settings = {system.name: system.untuned_settings for system in systems}
        if self.selection is None:
            return self.runner.run(systems_study(name, systems, settings, self.inputs))
        search = _Search(self, name, systems, self.selection)
        search.run()
        tuned = {system.name: TunedSystem(system, tuple(search.trials[system.name])) for system in systems}
        settings = {system: result.settings for system, result in tuned.items()}
        outcome = self.runner.run(systems_study(name, systems, settings, self.inputs))
        seconds, folds = outcome.seconds + search.seconds, self.selection.is_cross_validation
        return replace(outcome, seconds=seconds, tuned=tuned, cross_validated=folds)


class _Search:
    """The search for the settings of several systems; round by round, all systems in one study."""

    def __init__(self, trainer: SystemTrainer, name: str, systems: Sequence[System], selection: SelectionData):
        self.trainer, self.name, self.systems, self.selection = trainer, name, systems, selection
        task = trainer.inputs.task
        self.spaces = {system.name: system.search_space(task, selection.sentences) for system in systems}
        self.trials: dict[str, list[Trial]] = {system.name: [] for system in systems}
        self.networks: dict[tuple[str, Candidate], str] = {}  # stages of the fine-tuned networks that are stored
        self.seconds = 0.0

    def run(self) -> None:
        for number in count(1):
            candidates = {name: next_round(space, self.trials[name]) for name, space in self.spaces.items()}
            if not any(candidates.values()):
                return
            trials = sum(map(len, candidates.values()))
            self.trainer.report_progress(f"choosing learning rate and epochs: round {number}, {trials} settings")
            outcome = self.trainer.runner.run(self._study(number, candidates), quiet=True)
            self.seconds += outcome.seconds
            for system, tried in candidates.items():
                self.trials[system] += [_trial(system, each, outcome, self.trainer.metric) for each in tried]
            self._check_failures()
            self._remove_networks(outcome, candidates)

    def _study(self, number: int, candidates: Mapping[str, Sequence[Candidate]]) -> StudyDocument:
        """The study of a round: a model for each candidate, a source for each split; dev scores are compared."""
        inputs = replace(self.trainer.inputs, seeds=self.trainer.inputs.seeds[:1])
        systems, settings = [], {}
        for system in self.systems:
            for candidate in candidates[system.name]:
                trial = replace(system, name=_trial_name(system.name, candidate))
                systems.append(trial)
                chosen = {"learning_rate": candidate.learning_rate, "epochs": candidate.epochs}
                settings[trial.name] = {**system.settings, **chosen}
        study = systems_study(f"{self.name}-tuning-{number}", systems, settings, inputs)
        splits, extra = self.selection.splits, self.systems[0].extra_train
        folds = self.selection.is_cross_validation
        names = [f"{inputs.lang}-fold{fold}" for fold in range(1, len(splits) + 1)] if folds else [inputs.lang]
        return {
            **study,
            "sources": {
                name: {"train": [*split.train, *extra], "dev": list(split.dev)}
                for name, split in zip(names, splits, strict=True)
            },
            "targets": {inputs.lang: list(splits[0].dev)},  # a study needs a target; its scores are not read
            "networks": "discard" if folds else "keep",  # without folds, the first seed of the final training
        }

    def _check_failures(self) -> None:
        for system, trials in self.trials.items():
            if best_trial(trials) is None:
                raise TuningError(system, trials[-1].failure)

    def _remove_networks(self, outcome: StudyOutcome, candidates: Mapping[str, Sequence[Candidate]]) -> None:
        """Remove all networks but those of the best trials so far."""
        if self.selection.is_cross_validation:
            return
        stages = {run.model: run.finetuned for run in outcome.plan.runs}
        self.networks |= {
            (system, candidate): stages[_trial_name(system, candidate)]
            for system, tried in candidates.items()
            for candidate in tried
        }
        best = {(system, trial.candidate) for system, trials in self.trials.items() if (trial := best_trial(trials))}
        for key in self.networks.keys() - best:
            self.trainer.runner.store.remove(self.networks.pop(key))


def tuning_frame(outcomes: Sequence[StudyOutcome]) -> pl.DataFrame:
    """A row per trial, in order, of all systems that were tuned."""
    return pl.DataFrame(list(_tuning_rows(outcomes)), schema=TUNING_COLUMNS, orient="row")


def _tuning_rows(outcomes: Sequence[StudyOutcome]) -> Iterator[tuple[object, ...]]:
    for outcome in outcomes:
        for name, tuned in outcome.tuned.items():
            for trial in tuned.trials:
                candidate, is_chosen = trial.candidate, trial == tuned.chosen
                yield name, candidate.learning_rate, candidate.epochs, trial.score, is_chosen, trial.failure or None


def _trial_name(system: str, candidate: Candidate) -> str:
    return f"{system} {candidate.learning_rate:g} x {candidate.epochs}"


def _trial(system: str, candidate: Candidate, outcome: StudyOutcome, metric: str) -> Trial:
    """The mean dev score over splits; a candidate that fails on one of them has failed."""
    name = _trial_name(system, candidate)
    failures = [why for label, why in outcome.results.failed.items() if label.startswith(f"{name} ")]
    rows = outcome.results.frame.filter(model=name, metric=metric, split="dev")
    if not failures and len(rows) == len(outcome.plan.study.sources):
        return Trial(candidate, float(rows["value"].mean()))  # type: ignore[arg-type]
    failures = failures or list(outcome.results.failed.values()) or ["no result"]
    return Trial(candidate, None, failures[0].strip().splitlines()[-1])
