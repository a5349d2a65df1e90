"""What `diagnose` gives: the verdict on a language, what it rests on, and the best model that was found."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from isogloss.core.files import atomic_write
from isogloss.diagnosis.difficulty import Level
from isogloss.diagnosis.source_ranking import Ranking
from isogloss.metrics.significance import paired_t_test
from isogloss.models.tokenization.statistics import TokenizerStatistics
from isogloss.results.rows.results import Results

SYSTEM_COLUMNS = {
    "system": pl.String,
    "dev": pl.Float64,
    "test": pl.Float64,
    **dict.fromkeys(("low", "high"), pl.Float64),  # of the mean test score, over seeds
    "seeds": pl.Int64,
}


@dataclass(frozen=True)
class Estimate:
    """How well transfer from a source is expected to do where nothing can be measured. `low` and `high`: where 80 % of
    languages like those that it was learnt from would lie; none where these are too few."""

    source: str
    home: float  # the score in the source language
    expected: float | None
    low: float | None
    high: float | None
    rests_on: str


@dataclass(frozen=True)
class Verdict:
    """`level`: Easy, Intermediate, Hard, or Undecided (see `studies.verdict`); `sure`: whether all that it rests on is
    significant. `repaired`: whether the best system that rests on the model is below no baseline once remedies were
    tried. `best`: the system that did best on the dev set, saved in `folder/model`.

    Frames: `systems` (scores), `differences` (to the baselines), `remedies` (in the order they were tried).
    """

    model: str
    lang: str
    task: str
    metric: str
    level: Level
    sure: bool
    by_bilstm: Level  # what the comparison with the BiLSTM alone would say
    repaired: bool | None
    best: str
    systems: pl.DataFrame
    differences: pl.DataFrame
    remedies: pl.DataFrame
    tokenizer: TokenizerStatistics
    sources: Ranking
    folder: Path
    results: Results
    estimate: Estimate | None = None

    def __repr__(self) -> str:
        sure = "" if self.sure or self.level == "Undecided" else " (not significant)"
        return f"<{self.lang} for {Path(self.model).name}, {self.task}: {self.level}{sure}; best: {self.best}>"

    @property
    def saved(self) -> Path:
        """The folder of the best model."""
        return self.folder / "model"

    @property
    def recipe(self) -> Path:
        """The study file that makes the best system again."""
        return self.folder / "recipe.yaml"

    def write(self) -> None:
        """All figures as `verdict.json`, for programs."""
        with atomic_write(self.folder / "verdict.json") as file:
            json.dump(self._plain(), file, ensure_ascii=False, indent=1)

    def _plain(self) -> dict[str, Any]:
        told = {name: getattr(self, name) for name in ("model", "lang", "task", "metric", "level", "sure", "by_bilstm",
                                                       "repaired", "best")}  # fmt: skip
        told["tokenizer"] = asdict(self.tokenizer)
        told["estimate"] = asdict(self.estimate) if self.estimate else None
        told["sources"] = {"basis": self.sources.basis, "ranking": self.sources.frame.to_dicts()}
        frames = {name: getattr(self, name).to_dicts() for name in ("systems", "differences", "remedies")}
        return {**told, **frames}


def system_scores(results: Results, metric: str, target: str) -> pl.DataFrame:
    """A row per system: mean dev and test score, and Student's interval of the latter over seeds."""
    rows = results.frame.filter(pl.col("metric") == metric)
    found = []
    for (system,), group in rows.group_by("model", maintain_order=True):
        tests = group.filter(pl.col("split") == "test", pl.col("target") == target).sort("seed")["value"].to_list()
        dev = group.filter(pl.col("split") == "dev")["value"]
        over = paired_t_test([0.0] * len(tests), tests) if len(tests) > 1 else None
        found.append(
            {
                "system": system,
                "dev": dev.mean(),
                "test": sum(tests) / len(tests) if tests else None,
                "low": over.low if over else None,
                "high": over.high if over else None,
                "seeds": group["seed"].n_unique(),
            }
        )
    return pl.DataFrame(found, schema=SYSTEM_COLUMNS)
