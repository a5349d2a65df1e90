"""Remedies tried one after the other, each on top of the best so far, while the time lasts.

What is better is decided on the dev set, so that test scores stay those of systems that were chosen without them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from isogloss.diagnosis.difficulty import ADAPTED, FINETUNED, compared
from isogloss.diagnosis.remedies import Chosen, Remedy
from isogloss.diagnosis.study_runner import Bench, Trial, joined
from isogloss.diagnosis.treatments import Steps
from isogloss.results.rows.results import Results

GROUNDS = {FINETUNED: Steps(), ADAPTED: Steps(training="adapt")}
REMEDY_COLUMNS = {
    "remedy": pl.String,
    "system": pl.String,
    "outcome": pl.String,  # best so far, helps (but something else is better), no better; left out, no time, failed
    "dev": pl.Float64,
    "test": pl.Float64,
    "against": pl.String,  # the best so far
    "why": pl.String,
}


@dataclass(frozen=True)
class Found:
    """A system that was trained: its trial, and its mean dev score."""

    system: str
    trial: Trial
    dev: float


@dataclass(frozen=True)
class Search:
    """`best`: of all systems, baselines too; `ground`: of those that rest on the multilingual model, with its steps."""

    rows: tuple[dict[str, object], ...]
    trials: tuple[Trial, ...]
    best: Found
    ground: Found
    steps: Steps

    @property
    def results(self) -> Results:
        return joined(self.trials)

    def frame(self, metric: str) -> pl.DataFrame:
        """A row per remedy; those that were trained have the difference to the best so far, and its test."""
        return remedy_frame(self.rows, self.results, metric)


def remedy_frame(rows: Sequence[Mapping[str, object]], results: Results, metric: str) -> pl.DataFrame:
    """Rows of remedies with the differences and tests of those that were trained."""
    frame = pl.DataFrame(list(rows), schema=REMEDY_COLUMNS)
    pairs = frame.filter(pl.col("test").is_not_null()).select("system", "against").rows()
    tested = compared(results, pairs, metric)
    told = tested.select("system", "delta", "low", "high", "p", "holm", "significant")
    return frame.join(told, on="system", how="left", maintain_order="left")


def begin(trial: Trial, metric: str) -> Search:
    """Where the search starts: the best systems of the comparison."""
    found = [Found(system, trial, mean(trial, system, metric, "dev")) for system in trial.plan.study.models]
    best = max(found, key=lambda one: one.dev)
    ground = max((one for one in found if one.system in GROUNDS), key=lambda one: one.dev)
    return Search((), (trial,), best, ground, GROUNDS[ground.system])


def search(
    start: Search,
    chosen: Chosen,
    bench: Bench,
    study_of: Callable[[Steps], dict[str, object]],
    metric: str,
    budget: float | None,
    tell: Callable[[str], None],
) -> Search:
    """Try the remedies. `budget`: seconds; none is begun that would not end within it, if it takes as long as the
    longest so far (the first: as a system of the comparison)."""
    left_out = [_row(name, "left out", why=why) for name, why in chosen.left_out.items()]
    now = start
    longest, spent = start.trials[0].seconds / len(start.trials[0].plan.study.models), 0.0
    for remedy in chosen.order:
        steps = remedy.step(now.steps)
        if steps == now.steps:
            now = _noted(now, _row(remedy.name, "left out", why="the best system has it already"))
        elif budget is not None and spent + longest > budget:
            why = f"{spent / 60:.1f} of {budget / 60:.1f} minutes are spent"
            now = _noted(now, _row(remedy.name, "no time", steps.name, why=why))
        else:
            tell(f"remedy: {remedy.name}")
            trial = bench.run(study_of(steps))
            longest, spent = max(longest, trial.seconds), spent + trial.seconds
            now = _tried(now, remedy, steps, trial, metric)
            bench.forget(now.trials, now.best.trial.best_run(now.best.system, metric))
    return replace(now, rows=(*now.rows, *left_out))


def mean(trial: Trial, system: str, metric: str, split: str) -> float:
    """A system's mean score over seeds."""
    rows = trial.results.frame.filter(model=system, metric=metric, split=split).sort("seed")
    return float(rows["value"].mean())  # type: ignore[arg-type]


def _tried(now: Search, remedy: Remedy, steps: Steps, trial: Trial, metric: str) -> Search:
    """The search after a remedy was trained."""
    if trial.results.failed:
        why = next(iter(trial.results.failed.values())).strip().splitlines()[-1]
        return _noted(now, _row(remedy.name, "failed", steps.name, why=why))
    found = Found(steps.name, trial, mean(trial, steps.name, metric, "dev"))
    better, helps = found.dev > now.best.dev, found.dev > now.ground.dev
    outcome = "best so far" if better else "helps" if helps else "no better"
    scores = {"dev": found.dev, "test": mean(trial, steps.name, metric, "test")}
    row = _row(remedy.name, outcome, steps.name, **scores, against=now.best.system)
    best = found if better else now.best
    ground, own = (found, steps) if helps else (now.ground, now.steps)
    return Search((*now.rows, row), (*now.trials, trial), best, ground, own)


def _noted(now: Search, row: dict[str, object]) -> Search:
    return replace(now, rows=(*now.rows, row))


def _row(remedy: str, outcome: str, system: str = "", **facts: object) -> dict[str, object]:
    return {"remedy": remedy, "outcome": outcome, "system": system or None, **facts}
