"""Easy, Intermediate or Hard: how well a model serves a language that it did not see in pretraining.

The categories are those of Muller et al. (2021), *When Being Unseen from mBERT is just the Beginning*: a language is
Easy if the fine-tuned model outperforms strong baselines, Intermediate if it does so only after masked-LM adaptation on
raw text, and Hard if it fails in both settings. The rule here, on mean test scores over seeds:

- The baselines are a BiLSTM and, if there is raw text, a monolingual model pretrained on it (the publication names the
  BiLSTM; the category by the BiLSTM alone is reported too).
- Easy: the fine-tuned model is below no baseline. Intermediate: only the adapted model is. Hard: neither is.
- Without raw text there is no adaptation: a language that is not Easy is Undecided.
- So is a language whose text the model cannot read (`results.rows.readability`): the scores then say nothing about the
  language. Remedies that make it readable (transliteration, new sub-words) are still compared with the baselines.

The verdict is *sure* if every comparison that it rests on is significant: p below .05 after Holm's correction for all
comparisons, by a test with seeds and test sentences as crossed random effects (`metrics.crossed`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from isogloss.core.registry import check_name
from isogloss.results.comparisons.example_tests import example_counts, seeds_and_examples
from isogloss.results.comparisons.marks import with_marks
from isogloss.results.rows.results import Results

FINETUNED, ADAPTED, MONOLINGUAL, BILSTM = "fine-tuned", "adapted", "monolingual", "BiLSTM"
MODEL_SYSTEMS, BASELINES = (FINETUNED, ADAPTED), (BILSTM, MONOLINGUAL)
Level = Literal["Easy", "Intermediate", "Hard", "Undecided"]
DIFFERENCE_COLUMNS = {
    **dict.fromkeys(("system", "baseline"), pl.String),
    **dict.fromkeys(("reference", "mean", "delta", "low", "high", "p"), pl.Float64),  # low, high: 95 %, uncorrected
    "test": pl.String,  # random effects: seeds and examples; with one seed examples only
    **dict.fromkeys(("seeds", "n"), pl.Int64),
}


@dataclass(frozen=True)
class Difference:
    """A system's mean score minus a baseline's, and whether the difference is significant."""

    system: str
    baseline: str
    delta: float
    significant: bool


@dataclass(frozen=True)
class Classification:
    """The category, and whether all differences that it rests on are significant."""

    level: Level
    sure: bool


def classify(differences: Sequence[Difference], unreadable: Collection[str] = ()) -> Classification:
    """The category of a language, from the differences between the model's systems and the baselines.

    `unreadable`: systems whose tokenizer cannot represent the text. Their scores are no evidence about the language: if
    the fine-tuned model is one of them, the language is Undecided.

    >>> plain, adapted = Difference("fine-tuned", "BiLSTM", -0.02, True), Difference("adapted", "BiLSTM", 0.03, False)
    >>> result = classify([plain, adapted])
    >>> result.level, result.sure
    ('Intermediate', False)
    """
    if FINETUNED in unreadable:
        return Classification("Undecided", False)
    plain, adapted = ([row for row in differences if row.system == system] for system in MODEL_SYSTEMS)
    if below_no_baseline(plain):
        return _classification("Easy", plain)
    if not adapted:
        return _classification("Undecided", [_worst(plain)])
    if below_no_baseline(adapted):
        return _classification("Intermediate", [_worst(plain), *adapted])
    return _classification("Hard", [_worst(plain), _worst(adapted)])


def below_no_baseline(differences: Sequence[Difference]) -> bool:
    """Whether no difference of a system to a baseline is negative."""
    return all(difference.delta >= 0 for difference in differences)


def compare_systems(results: Results, pairs: Sequence[tuple[str, str]], metric: str) -> pl.DataFrame:
    """Compare pairs `(system, baseline)`: means, difference, interval, p and p after Holm's correction for all pairs.

    The test needs predictions. Systems are the values of the column `model`.
    """
    rows = results.tests.filter(pl.col("metric") == metric).sort("seed")
    parts = [_difference_row(rows, results.predictions, metric, *pair) for pair in pairs]
    frame = pl.DataFrame(parts, schema=DIFFERENCE_COLUMNS, orient="row")
    return with_marks(frame, family=()).drop("stars")


def to_differences(frame: pl.DataFrame) -> list[Difference]:
    """The rows of `compare_systems` as `Difference`s."""
    columns = frame.select("system", "baseline", "delta", "significant")
    return [Difference(*row) for row in columns.iter_rows()]


def _difference_row(
    rows: pl.DataFrame, predictions: pl.LazyFrame, metric: str, system: str, baseline: str
) -> tuple[object, ...]:
    """A row of `DIFFERENCE_COLUMNS`, over the seeds that both systems have."""
    system_rows, baseline_rows = (
        rows.filter(model=check_name(name, rows["model"].unique(), "system")) for name in (system, baseline)
    )
    system_rows, baseline_rows = (
        system_rows.join(baseline_rows, on="seed", how="semi"),
        baseline_rows.join(system_rows, on="seed", how="semi"),
    )
    counts = example_counts(predictions, metric, [*system_rows["run"], *baseline_rows["run"]])
    sides = [
        [counts.get(run) for run in side.select("run", "target").iter_rows()] for side in (baseline_rows, system_rows)
    ]
    comparison = seeds_and_examples(metric, *sides)
    name = "seeds and examples" if len(system_rows) > 1 else "examples"
    test_columns = (comparison.low, comparison.high, comparison.p, name) if comparison else (None,) * 4
    before, after = (float(side["value"].mean()) for side in (baseline_rows, system_rows))  # type: ignore[arg-type]
    return system, baseline, before, after, after - before, *test_columns, len(system_rows), system_rows["n"].max()


def _worst(differences: Sequence[Difference]) -> Difference:
    """The difference that decides that a system is below a baseline: the lowest, significant ones first."""
    return min(differences, key=lambda row: (not (row.significant and row.delta < 0), row.delta))


def _classification(level: Level, differences: Sequence[Difference]) -> Classification:
    return Classification(level, all(difference.significant for difference in differences))
