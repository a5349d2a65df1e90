"""`Verdict`, the result of `diagnose`: the category of a language, its basis, and the best model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from isogloss.core.files import atomic_write
from isogloss.diagnosis.difficulty import Level
from isogloss.diagnosis.source_ranking import Ranking
from isogloss.diagnosis.study_runner import StudyOutcome
from isogloss.metrics.significance import paired_t_test
from isogloss.models.tokenization.statistics import TokenizerStatistics
from isogloss.results.rows.readability import READABILITY_COLUMNS, unreadable_reason
from isogloss.results.rows.results import Results, Schema

SYSTEM_COLUMNS: Schema = {
    "system": pl.String,
    "dev": pl.Float64,  # or the score of cross-validation, where systems were selected by it
    "test": pl.Float64,
    **dict.fromkeys(("low", "high"), pl.Float64),  # interval of the mean test score over seeds
    "seeds": pl.Int64,
    **READABILITY_COLUMNS,  # of the test set, for the tokenizer of the system
}


@dataclass(frozen=True)
class Estimate:
    """The expected score of zero-shot transfer from a source.

    `low` and `high`: the 80 % prediction interval; None if there are too few languages to learn from.
    """

    source: str
    home: float  # score in the source language
    expected: float | None
    low: float | None
    high: float | None
    rests_on: str


@dataclass(frozen=True)
class Verdict:
    """The category of a language for a model, and its basis.

    `level`: Easy, Intermediate, Hard or Undecided (see `diagnosis.difficulty`). `sure`: whether every difference that
    the level rests on is significant, and no system may be trained too little (`cautions`). `repaired`: whether the
    model's best system is below no baseline after the remedies. `best`: the system with the highest dev score, saved in
    `folder/model`.

    `withheld`: why there is no category although systems were compared: the model cannot read the text. `repaired` is
    then None unless a remedy made it readable.

    `selection`: how settings and systems were chosen ("on the dev set of …"); "" if settings were not searched.

    Frames: `systems` (scores), `differences` (to the baselines), `remedies` (in order of trial), `tuning` (learning
    rate and epochs that were tried).
    """

    model: str
    lang: str
    task: str
    metric: str
    level: Level
    sure: bool
    by_bilstm: Level  # the level by the BiLSTM alone
    repaired: bool | None
    best: str
    systems: pl.DataFrame
    differences: pl.DataFrame
    remedies: pl.DataFrame
    tuning: pl.DataFrame
    selection: str
    cautions: tuple[str, ...]  # systems that may be trained too little
    tokenizer: TokenizerStatistics
    sources: Ranking
    folder: Path
    results: Results
    estimate: Estimate | None = None
    withheld: str = ""  # why the scores of the model as it is are no evidence about the language
    repaired_by: str = ""  # the best system of the multilingual model, after the remedies

    def __repr__(self) -> str:
        sure = "" if self.sure or self.level == "Undecided" else " (not significant)"
        return f"<{self.lang} for {Path(self.model).name}, {self.task}: {self.level}{sure}; best: {self.best}>"

    @property
    def saved(self) -> Path:
        """The folder of the best model."""
        return self.folder / "model"

    @property
    def recipe(self) -> Path:
        """The study file that recomputes the best system."""
        return self.folder / "recipe.yaml"

    def write(self) -> None:
        """Write all figures to `verdict.json`."""
        names = (
            *("model", "lang", "task", "metric", "level", "sure", "by_bilstm", "repaired", "repaired_by", "best"),
            *("selection", "withheld"),
        )
        fields: dict[str, object] = {name: getattr(self, name) for name in names}
        fields["tokenizer"] = asdict(self.tokenizer)
        fields["cautions"] = list(self.cautions)
        fields["estimate"] = asdict(self.estimate) if self.estimate else None
        fields["sources"] = {"basis": self.sources.basis, "ranking": self.sources.frame.to_dicts()}
        fields |= {name: getattr(self, name).to_dicts() for name in ("systems", "differences", "remedies", "tuning")}
        with atomic_write(self.folder / "verdict.json") as file:
            json.dump(fields, file, ensure_ascii=False, indent=1)


def unreadable_systems(results: Results, target: str) -> dict[str, str]:
    """The systems whose tokenizer cannot represent the test set, with the reason."""
    rows = results.tests.filter(pl.col("target") == target, ~pl.col("readable")).unique("model", maintain_order=True)
    measured = rows.select("model", *READABILITY_COLUMNS).rows(named=True)
    return {row.pop("model"): unreadable_reason(**row) for row in measured}


def system_scores(outcomes: Sequence[StudyOutcome], metric: str, target: str) -> pl.DataFrame:
    """A row per system: the score by which it was selected, and the mean test score with its interval over seeds."""
    scores = []
    for outcome in outcomes:
        rows = outcome.results.frame.filter(pl.col("metric") == metric)
        for (system,), group in rows.group_by("model", maintain_order=True):
            tests = group.filter(pl.col("split") == "test", pl.col("target") == target).sort("seed")["value"].to_list()
            interval = paired_t_test([0.0] * len(tests), tests) if len(tests) > 1 else None
            low, high = (interval.low, interval.high) if interval else (None, None)
            test = sum(tests) / len(tests) if tests else None
            dev = outcome.selection_score(str(system), metric)
            measured = group.filter(split="test", target=target).select(*READABILITY_COLUMNS)
            text = measured.row(0) if len(measured) else (None,) * len(READABILITY_COLUMNS)
            scores.append((system, dev, test, low, high, group["seed"].n_unique(), *text))
    return pl.DataFrame(scores, schema=SYSTEM_COLUMNS, orient="row")
