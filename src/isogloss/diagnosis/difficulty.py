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
comparisons, by a test for which both seeds and test sentences are samples (`metrics.crossed`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from isogloss.core.registry import check_name
from isogloss.metrics.significance import holm
from isogloss.report.findings import SIGNIFICANCE_LEVEL
from isogloss.results.comparisons.example_tests import example_counts, seeds_and_examples
from isogloss.results.rows.results import Results

FINETUNED, ADAPTED, MONOLINGUAL, BILSTM = "fine-tuned", "adapted", "monolingual", "BiLSTM"
SERVING, BASELINES = (FINETUNED, ADAPTED), (BILSTM, MONOLINGUAL)
Level = Literal["Easy", "Intermediate", "Hard", "Undecided"]
DIFFERENCE_COLUMNS = {
    **dict.fromkeys(("system", "baseline"), pl.String),
    **dict.fromkeys(("reference", "mean", "delta", "low", "high", "p"), pl.Float64),  # low, high: 95 %, uncorrected
    "test": pl.String,  # what are samples: seeds and examples; with one seed examples
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
    """Systems against others, `(system, baseline)`: means and their difference, with an interval and a p over seeds and
    test sentences, where there are predictions; `holm` is p corrected for all pairs. Results name systems as models.
    """
    rows = results.tests.filter(pl.col("metric") == metric).sort("seed")
    parts = [_pair(rows, results.predictions, metric, *pair) for pair in pairs]
    frame = pl.DataFrame(parts, schema=DIFFERENCE_COLUMNS, orient="row")
    known = iter(holm(frame["p"].drop_nulls().to_list()))
    corrected = pl.Series("holm", [None if p is None else next(known) for p in frame["p"]], dtype=pl.Float64)
    return frame.with_columns(corrected, significant=(corrected < SIGNIFICANCE_LEVEL).fill_null(False))


def differences_of(frame: pl.DataFrame) -> list[Difference]:
    """The rows of `compared` in the form that is judged."""
    chosen = frame.select("system", "baseline", "delta", "significant")
    return [Difference(*row) for row in chosen.iter_rows()]


def _pair(rows: pl.DataFrame, predictions: pl.LazyFrame, metric: str, system: str, baseline: str) -> tuple[object, ...]:
    """A row of `DIFFERENCE_COLUMNS`, on the seeds that both have."""
    ours, theirs = (rows.filter(model=check_name(one, rows["model"].unique(), "system")) for one in (system, baseline))
    ours, theirs = ours.join(theirs, on="seed", how="semi"), theirs.join(ours, on="seed", how="semi")
    counts = example_counts(predictions, metric, [*ours["run"], *theirs["run"]])
    sides = [[counts.get(run) for run in side.select("run", "target").iter_rows()] for side in (theirs, ours)]
    found = seeds_and_examples(metric, *sides)
    name = "seeds and examples" if len(ours) > 1 else "examples"
    tested = (found.low, found.high, found.p, name) if found else (None,) * 4
    before, after = (float(side["value"].mean()) for side in (theirs, ours))  # type: ignore[arg-type]
    return system, baseline, before, after, after - before, *tested, len(ours), ours["n"].max()


def _worst(differences: Sequence[Difference]) -> Difference:
    """The difference that alone keeps a system from holding: a significant one, if there is any below 0."""
    return min(differences, key=lambda one: (not (one.significant and one.delta < 0), one.delta))


def _judged(level: Level, differences: Sequence[Difference]) -> Judgement:
    return Judgement(level, all(one.significant for one in differences), tuple(differences))
