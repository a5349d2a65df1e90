"""Easy, Intermediate or Hard: how well a model serves a language that it did not see in pretraining.

The three categories are those of Muller et al. 2021 ("When Being Unseen from mBERT is just the Beginning") and of the
slides "Cross Lingual Transfer with Multilingual Language Models" (Muller 2022): a language is Easy if the fine-tuned
model outperforms strong baselines, Intermediate if it does so only after masked-LM adaptation on raw text, and Hard
if it fails in both settings. The rule here, on mean test scores over seeds:

- a system *holds* if its mean is below that of no baseline; the baselines are a BiLSTM and, where there is raw text, a
  monolingual model trained on it from scratch (the slides name the BiLSTM; what it alone would say is told beside);
- Easy: the fine-tuned model holds. Intermediate: only the adapted and fine-tuned model does. Hard: neither does.
- Without raw text there is nothing to adapt with: a language that is not Easy stays Undecided.

The verdict is *sure* if every comparison that it rests on is significant: p below .05 after Holm's correction for all
comparisons, and an interval over seeds on one side of 0 (where there are several).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from isogloss.report.findings import significant
from isogloss.results.corrected import corrected
from isogloss.results.deltas import DELTA_COLUMNS, deltas
from isogloss.results.record import Results

FINETUNED, ADAPTED, MONOLINGUAL, BILSTM = "fine-tuned", "adapted", "monolingual", "BiLSTM"
SERVING, BASELINES = (FINETUNED, ADAPTED), (BILSTM, MONOLINGUAL)
Level = Literal["Easy", "Intermediate", "Hard", "Undecided"]


@dataclass(frozen=True)
class Difference:
    """A system's mean score minus a baseline's, and whether the difference is significant."""

    system: str
    baseline: str
    delta: float
    significant: bool


@dataclass(frozen=True)
class Judgement:
    """The category, whether all that it rests on is significant, and these differences."""

    level: Level
    sure: bool
    rests_on: tuple[Difference, ...]


def judge(differences: Sequence[Difference]) -> Judgement:
    """The category of a language from the differences of fine-tuned and adapted model to the baselines.

    >>> found = judge([Difference("fine-tuned", "BiLSTM", -0.02, True), Difference("adapted", "BiLSTM", 0.03, False)])
    >>> found.level, found.sure
    ('Intermediate', False)
    """
    plain, adapted = ([one for one in differences if one.system == system] for system in SERVING)
    if holds(plain):
        return _judged("Easy", plain)
    if not adapted:
        return _judged("Undecided", [_worst(plain)])
    if holds(adapted):
        return _judged("Intermediate", [_worst(plain), *adapted])
    return _judged("Hard", [_worst(plain), _worst(adapted)])


def holds(differences: Sequence[Difference]) -> bool:
    """Whether a system, of which these are all differences to baselines, is below none of them."""
    return all(one.delta >= 0 for one in differences)


def compared(results: Results, pairs: Sequence[tuple[str, str]], metric: str) -> pl.DataFrame:
    """Systems against others, `(system, baseline)`: the rows of `deltas` with `baseline`, `holm` and `significant`.

    Results name systems as models; each pair is compared on the seeds and the examples that both have.
    """
    rows = results.frame.filter(pl.col("metric") == metric)
    named = rows.with_columns(study=pl.lit(""), changes=pl.col("model"), model=pl.lit(""))
    parts = [_pair(named, results.predictions, *pair) for pair in pairs]
    frame = pl.concat(parts) if parts else pl.DataFrame(schema={**DELTA_COLUMNS, "baseline": pl.String})
    tested = corrected(frame.rename({"change": "system"}))
    return tested.with_columns(significant=significant().fill_null(False))


def differences_of(frame: pl.DataFrame) -> list[Difference]:
    """The rows of `compared` in the form that is judged."""
    chosen = frame.select("system", "baseline", "delta", "significant")
    return [Difference(*row) for row in chosen.iter_rows()]


def _pair(named: pl.DataFrame, predictions: pl.LazyFrame, system: str, baseline: str) -> pl.DataFrame:
    both = named.filter(pl.col("changes").is_in([system, baseline]))
    return deltas(both, predictions, reference=baseline).with_columns(baseline=pl.lit(baseline))


def _worst(differences: Sequence[Difference]) -> Difference:
    """The difference that alone keeps a system from holding: a significant one, if there is any below 0."""
    return min(differences, key=lambda one: (not (one.significant and one.delta < 0), one.delta))


def _judged(level: Level, differences: Sequence[Difference]) -> Judgement:
    return Judgement(level, all(one.significant for one in differences), tuple(differences))
