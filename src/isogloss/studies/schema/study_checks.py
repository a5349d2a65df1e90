"""Checks of a study that involve several of its keys."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from isogloss.studies.schema.references import SpecError, for_task, known_name
from isogloss.tasks import TASKS

if TYPE_CHECKING:
    from isogloss.studies.schema.study import Study

CONDITION = "condition of 'changes'"


def check_study(study: Study) -> None:
    """Raise a `SpecError` for the first contradiction between keys of the study."""
    if not study.tasks:
        _check_measurement_only(study)
    elif not (study.sources and study.targets):
        raise SpecError("'sources' and 'targets' for the tasks", "none")
    known_name(study.reference, study.changes, CONDITION, ("reference",))
    for condition, interventions in study.changes.items():
        if creating := [intervention.name for intervention in interventions if intervention.arguments.creates_model]:
            got = f"'{creating[0]}', which belongs in 'models'"
            raise SpecError(f"interventions on a model in 'changes.{condition}'", got)
    _check_corpora(study)
    _check_scorers(study)
    _check_measurements(study)
    _check_continual(study)


def _check_corpora(study: Study) -> None:
    """Each source serves every task, each target at least one, and each task has a target."""
    for task, (name, source) in itertools.product(study.tasks, study.sources.items()):
        for role, corpora in {"train": source.train, "dev": source.dev}.items():
            if for_task(corpora, task) is None:
                expected = f"a corpus for the task '{task}' under sources.{name}.{role}"
                raise SpecError(expected, f"only {', '.join(corpora)}")
    served = {name: [task for task in study.tasks if for_task(tests, task)] for name, tests in study.targets.items()}
    for name, tasks in served.items():
        if not tasks and study.tasks:
            any_task = "' or '".join(study.tasks)
            expected = f"a corpus for the task '{any_task}' under targets.{name}"
            raise SpecError(expected, f"only {', '.join(study.targets[name])}")
    if without := [task for task in study.tasks if not any(task in tasks for tasks in served.values())]:
        raise SpecError(f"a target for the task '{without[0]}'", "none")


def _check_scorers(study: Study) -> None:
    """A scorer is chosen only for tasks that have several."""
    for task, model in itertools.product(study.tasks, study.models):
        scorer = study.scorer_of(task, model)
        if scorer is not None and scorer not in TASKS[task].scorers:
            advice = "put it under the task: settings: {qa: {scorer: …}}"
            raise SpecError("a scorer for the task qa", f"'{scorer}' for {task}", advice, ("settings", "scorer"))


def _check_measurements(study: Study) -> None:
    for name, measure in {"measure": study.measure, "distances": study.distances}.items():
        for condition in (measure.changes if measure else None) or ():
            known_name(condition, study.changes, CONDITION, (name, "changes"))
        seeds = measure.seeds if measure and measure.seeds != "all" else None
        if missing := set(seeds or ()) - set(study.seeds):
            raise SpecError(f"seeds of the study ({list(study.seeds)})", str(sorted(missing)), place=(name, "seeds"))


def _check_continual(study: Study) -> None:
    """Continual learning is crossed with existing conditions, and an "original" anchor is not adjusted."""
    for name, continual in study.continual.items():
        for condition in (continual.changes if continual else None) or ():
            known_name(condition, study.changes, CONDITION, ("continual", name, "changes"))
        for model, entry in study.models.items():
            adjusted = any(intervention.name == "adjust" for intervention in entry.changes)
            if continual and continual.anchor == "original" and adjusted:
                raise SpecError(
                    f"'adjust' under 'changes', or 'anchor: adjusted', for the continual learning of '{model}'",
                    "'adjust' among the model's own changes",
                    "the original is the model before the changes of its condition",
                )
    if lacking := study.changes.keys() - {changes for changes, _ in study.conditions}:
        raise SpecError("a kind of 'continual' for every condition", f"none for {', '.join(sorted(lacking))}")


def _check_measurement_only(study: Study) -> None:
    """Without tasks nothing is fine-tuned, and a measurement must name its source language."""
    text_changed, replayed = any(study.text.values()), any(study.continual.values())
    finetunes = study.sources or study.targets or study.settings or text_changed or replayed
    if finetunes or not (study.measure or study.distances):
        raise SpecError("'tasks' with 'sources' and 'targets', or 'measure' alone", "no tasks")
    if study.measure and (study.measure.when != ("before",) or study.measure.source is None):
        got = f"when: [{', '.join(study.measure.when)}], source: {study.measure.source or 'none'}"
        raise SpecError("'when: [before]' and a 'source' in 'measure', as there are no tasks", got)
    if study.distances and study.distances.when != ("before",):
        raise SpecError("'when: [before]' in 'distances', as there are no tasks", ", ".join(study.distances.when))
