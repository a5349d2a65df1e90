"""Remedies tried one after the other, each on top of the best treatment so far, within a time budget.

Systems are compared on the dev set, or by cross-validation on the training set if the dev set is small, so that test
scores are those of systems chosen without them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from isogloss.diagnosis.difficulty import ADAPTED, FINETUNED, compare_systems
from isogloss.diagnosis.remedies import REMEDIES
from isogloss.diagnosis.remedies.remedy import LanguageFindings, Remedy
from isogloss.diagnosis.study_runner import StudyOutcome, concatenate_results
from isogloss.diagnosis.systems import treatment_system
from isogloss.diagnosis.treatments import ADAPT, DiagnosisInputs, Treatment
from isogloss.diagnosis.tuning import SystemTrainer, TuningError
from isogloss.results.rows.results import Results

MULTILINGUAL_SYSTEMS = {FINETUNED: Treatment(), ADAPTED: Treatment((ADAPT,))}
# outcome: best so far, helps (better than the model's best), no better, left out, no time or failed; against: the best
# system so far
REMEDY_COLUMNS = {
    **dict.fromkeys(("remedy", "system", "outcome"), pl.String),
    **dict.fromkeys(("dev", "test"), pl.Float64),
    **dict.fromkeys(("against", "why"), pl.String),
}


@dataclass(frozen=True)
class SelectedRemedies:
    """The remedies to try in order, and why the others are left out."""

    order: tuple[Remedy, ...]
    left_out: dict[str, str]


def select_remedies(
    names: Sequence[str] | None, inputs: DiagnosisInputs, findings: LanguageFindings
) -> SelectedRemedies:
    """The applicable remedies: in the order of `names`, or all of them in order of urgency."""
    candidates = [REMEDIES[name] for name in (REMEDIES if names is None else names)]
    obstacles = {remedy.name: remedy.obstacle(inputs, findings) for remedy in candidates}
    possible = [remedy for remedy in candidates if not obstacles[remedy.name]]
    if names is None:
        possible.sort(key=lambda remedy: -remedy.urgency(findings))
    return SelectedRemedies(tuple(possible), {name: why for name, why in obstacles.items() if why})


@dataclass(frozen=True)
class TrainedSystem:
    """A system, the study that trained it, and the score by which systems are selected (`selection_score`)."""

    system: str
    outcome: StudyOutcome
    dev: float


@dataclass(frozen=True)
class SearchState:
    """The state of the search.

    `best`: the best of all systems, baselines included. `best_multilingual`: the best system based on the multilingual
    model, which has `treatment`.
    """

    rows: tuple[dict[str, object], ...]
    outcomes: tuple[StudyOutcome, ...]
    best: TrainedSystem
    best_multilingual: TrainedSystem
    treatment: Treatment

    @property
    def results(self) -> Results:
        return concatenate_results(self.outcomes)


def remedy_frame(rows: Sequence[Mapping[str, object]], results: Results, metric: str) -> pl.DataFrame:
    """A row per remedy; trained ones have their difference to the best system so far, and its test."""
    frame = pl.DataFrame(list(rows), schema=REMEDY_COLUMNS)
    pairs = frame.filter(pl.col("test").is_not_null()).select("system", "against").rows()
    tests = compare_systems(results, pairs, metric)
    columns = tests.select("system", "delta", "low", "high", "p", "holm", "significant")
    return frame.join(columns, on="system", how="left", maintain_order="left")


def start_search(outcome: StudyOutcome, metric: str) -> SearchState:
    """The initial state: the best systems of the comparison."""
    systems = [
        TrainedSystem(system, outcome, outcome.selection_score(system, metric)) for system in outcome.plan.study.models
    ]
    best = max(systems, key=lambda trained: trained.dev)
    multilingual = [trained for trained in systems if trained.system in MULTILINGUAL_SYSTEMS]
    best_multilingual = max(multilingual, key=lambda trained: trained.dev)
    return SearchState((), (outcome,), best, best_multilingual, MULTILINGUAL_SYSTEMS[best_multilingual.system])


def search_remedies(
    start: SearchState, remedies: SelectedRemedies, trainer: SystemTrainer, budget_seconds: float | None
) -> SearchState:
    """Try the remedies.

    A remedy is started only if it would end within the budget, assuming that it takes as long as the longest remedy so
    far (the first: as long as a system of the comparison).
    """
    state, spent, metric = start, 0.0, trainer.metric
    longest = start.outcomes[0].seconds / len(start.outcomes[0].plan.study.models)
    for remedy in remedies.order:
        treatment = remedy.apply(state.treatment)
        if treatment == state.treatment:
            state = _add_rows(state, _row(remedy.name, "left out", why="already part of the best system"))
        elif budget_seconds is not None and spent + longest > budget_seconds:
            why = f"{spent / 60:.1f} of {budget_seconds / 60:.1f} minutes are spent"
            state = _add_rows(state, _row(remedy.name, "no time", treatment.name, why=why))
        else:
            trainer.report_progress(f"remedy: {remedy.name}")
            try:
                outcome = trainer.train(treatment.name, [treatment_system(treatment, trainer.inputs)])
            except TuningError as error:
                state = _add_rows(state, _row(remedy.name, "failed", treatment.name, why=error.reason))
                continue
            longest, spent = max(longest, outcome.seconds), spent + outcome.seconds
            state = _after_trial(state, remedy, treatment, outcome, metric)
            best_run = state.best.outcome.best_run(state.best.system, metric)
            trainer.runner.remove_networks(state.outcomes, best_run)
    left_out = [_row(name, "left out", why=why) for name, why in remedies.left_out.items()]
    return _add_rows(state, *left_out)


def mean_test_score(outcome: StudyOutcome, system: str, metric: str) -> float:
    """A system's mean test score over seeds."""
    rows = outcome.results.frame.filter(model=system, metric=metric, split="test").sort("seed")
    return float(rows["value"].mean())  # type: ignore[arg-type]


def _after_trial(
    state: SearchState, remedy: Remedy, treatment: Treatment, outcome: StudyOutcome, metric: str
) -> SearchState:
    """The state after a remedy was trained."""
    if outcome.results.failed:
        why = next(iter(outcome.results.failed.values())).strip().splitlines()[-1]
        return _add_rows(state, _row(remedy.name, "failed", treatment.name, why=why))
    trained = TrainedSystem(treatment.name, outcome, outcome.selection_score(treatment.name, metric))
    is_best, helps = trained.dev > state.best.dev, trained.dev > state.best_multilingual.dev
    scores = {"dev": trained.dev, "test": mean_test_score(outcome, treatment.name, metric)}
    label = "best so far" if is_best else "helps" if helps else "no better"
    row = _row(remedy.name, label, treatment.name, **scores, against=state.best.system)
    return SearchState(
        (*state.rows, row),
        (*state.outcomes, outcome),
        trained if is_best else state.best,
        trained if helps else state.best_multilingual,
        treatment if helps else state.treatment,
    )


def _add_rows(state: SearchState, *rows: dict[str, object]) -> SearchState:
    return replace(state, rows=(*state.rows, *rows))


def _row(remedy: str, outcome: str, system: str = "", **values: object) -> dict[str, object]:
    return {"remedy": remedy, "outcome": outcome, "system": system or None, **values}
