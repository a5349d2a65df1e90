"""The findings in words. Every sentence is computed; what is called significant is so for sentences and for seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from isogloss.report.inputs import ReportInputs
from isogloss.report.statistics import ReportStatistics
from isogloss.results.comparisons.transfer_means import other_language
from isogloss.results.tables.tables import POINTS_PER_UNIT

SIGNIFICANCE_LEVEL = 0.05
MOST = 14  # sentences about one thing: more would not be read
FEW = 8  # languages
GROUP = ["study", "model", "task", "source", "metric"]


def findings(inputs: ReportInputs, statistics: ReportStatistics) -> dict[str, list[str]]:
    """Sentences by what they are about; of each, the first `MOST`."""
    told = {
        "Transfer": [*_gaps(inputs, statistics)],
        "What changes do": [*_changes(statistics), *_published(statistics)],
        "Where languages meet": [*_peaks(inputs), *_correlations(inputs, statistics)],
    }
    return {title: _first(sentences) for title, sentences in told.items() if sentences}


def _first(sentences: list[str]) -> list[str]:
    left = len(sentences) - MOST
    return sentences if left <= 0 else [*sentences[:MOST], f"{left:,} more of this kind are in the tables alone."]


def _gaps(inputs: ReportInputs, statistics: ReportStatistics) -> Iterator[str]:
    """How well the reference does at home and abroad."""
    scores = _main(statistics.scores, statistics)
    if inputs.reference is not None:
        scores = scores.filter(pl.col("changes") == inputs.reference)
    for key, group in scores.group_by([*GROUP, "changes"], maintain_order=True):
        away = group.filter(other_language())
        home = group.filter(pl.col("target") == pl.col("source"))["mean"].to_list()
        if away.is_empty():
            continue
        where = "in another language" if away.height == 1 else f"on average in {away.height} other languages"
        worst = away.sort("mean").row(0, named=True)
        text = f"{_named(key, scores)}: {points(_mean(away['mean']))} {key[4]} {where}"
        text += f" against {points(home[0])} in {key[3]} itself" if home else ""
        yield text + (f"; lowest for {worst['target']} ({points(worst['mean'])})." if away.height > 1 else ".")


def _changes(statistics: ReportStatistics) -> Iterator[str]:
    """What each change does to other languages, and to the source."""
    cells = _main(statistics.deltas, statistics).filter(pl.col("delta").is_not_null())
    for key, group in cells.group_by([*GROUP, "change"], maintain_order=True):
        away, home = group.filter(other_language()), group.filter(pl.col("target") == pl.col("source"))
        if away.is_empty():
            continue
        text = f"{_named(key[:-1], cells)}, {key[-1] or 'no change'}: {_effect(away, key[4])}"
        yield text + (f"; in {key[3]} itself {_cell(home)}." if len(home) else ".")


def _effect(away: pl.DataFrame, metric: Any) -> str:
    """The mean difference over other languages, and in how many of them it is significant."""
    tested = away.filter(pl.col("holm").is_not_null())
    sure = tested.filter(significant())
    worse, better = sure.filter(pl.col("delta") < 0), sure.filter(pl.col("delta") > 0)
    text = f"{signed(_mean(away['delta']))} points of {metric} in other languages"
    if tested.is_empty():
        return text + " (too few seeds to test)"
    said = [f"significantly {word} in {_targets(rows, away)}" for word, rows in (("worse", worse), ("better", better))
            if len(rows)]  # fmt: skip
    return f"{text}, {' and '.join(said) or 'significant in none of them'}"


def _targets(rows: pl.DataFrame, away: pl.DataFrame) -> str:
    """How many of how many, and which if these are few."""
    ordered = rows.sort(pl.col("delta").abs(), descending=True)
    named = ", ".join(f"{row['target']} {signed(row['delta'])}" for row in ordered.head(3).iter_rows(named=True))
    return f"{len(rows)} of {len(away)} ({named}{', …' if len(rows) > 3 else ''})"


def significant() -> pl.Expr:
    """Whether a difference holds for other sentences (the corrected test) and for other seeds (the interval): a test
    over examples by itself would take the luck of a few seeds for an effect."""
    one_side = (pl.col("low") > 0) | (pl.col("high") < 0)
    return (pl.col("holm") < SIGNIFICANCE_LEVEL) & one_side.fill_null(True)


def _cell(rows: pl.DataFrame) -> str:
    row = rows.with_columns(sure=significant()).row(0, named=True)
    doubt = ", not tested" if row["holm"] is None else "" if row["sure"] else ", not significant"
    return signed(row["delta"]) + doubt


def _published(statistics: ReportStatistics) -> Iterator[str]:
    if "published" not in statistics.deltas.columns:
        return
    cells = pl.concat([statistics.deltas, statistics.means]).filter(
        pl.col("published").is_not_null() & pl.col("delta").is_not_null()
    )
    if len(cells):
        apart = cells.select((pl.col("delta") - pl.col("published")).abs().mean()).item()
        same = cells.filter(pl.col("delta").sign() == pl.col("published").sign()).height
        yield (
            f"Of {len(cells)} published differences to the reference, {same} have the same sign here; "
            f"the mean distance to the published value is {points(apart)} points."
        )


def _peaks(inputs: ReportInputs) -> Iterator[str]:
    """The layer where languages are most alike, on average over pairs."""
    curves = inputs.results.curves.frame.filter((pl.col("stage") != "final norm") & pl.col("value").is_finite())
    if inputs.reference is not None:
        curves = curves.filter(pl.col("changes").is_null() | (pl.col("changes") == inputs.reference))
    curves = curves.with_columns(pl.col("when").fill_null("before"))
    before = curves.filter(pl.col("when") == "before")
    for key, group in (before if len(before) else curves).group_by("model", "source", "index", maintain_order=True):
        layers = group.group_by("layer").agg(pl.col("value").mean()).sort("value", "layer", descending=[True, False])
        best, last = layers.row(0), layers.sort("layer").row(-1)
        pairs = group["target"].n_unique()
        over = f"on average over {pairs} languages" if pairs > 1 else f"for {group['target'][0]}"
        yield (
            f"{key[0]}, {key[2]} with {key[1]}, {group['when'][0]} fine-tuning: most alike at layer {best[0]} "
            f"({best[1]:.2f}) {over}; {last[1]:.2f} at the last layer ({last[0]})."
        )


def _correlations(inputs: ReportInputs, statistics: ReportStatistics) -> Iterator[str]:
    """Whether the gap shrinks as similarity grows, of the reference; all indexes of a time in one sentence."""
    rows = _main(statistics.correlations, statistics).filter(pl.col("layer").is_null() & pl.col("value").is_not_null())
    if inputs.reference is not None:
        rows = rows.filter(pl.col("changes") == inputs.reference)
    for key, group in rows.group_by([*GROUP, "changes", "when", "n"], maintain_order=True):
        told = ", ".join(f"{row['index']} {_rho(row)}" for row in group.iter_rows(named=True))
        few = "; so few languages prove little" if key[-1] < FEW else ""
        yield (
            f"{_named(key, rows)}, similarity {key[-2]} fine-tuning: ρ of gap and similarity over {key[-1]} languages: "
            f"{told}. Below 0, languages that are more alike lose less{few}."
        )


def _rho(row: dict[str, Any]) -> str:
    """The coefficient with its p, which says nothing where the ranks agree entirely."""
    text = f"{row['value']:.2f}".replace("-", "−")
    return text if abs(row["value"]) > 1 - 1e-9 else f"{text} (p = {row['p']:.2g})"


def _main(frame: pl.DataFrame, statistics: ReportStatistics) -> pl.DataFrame:
    """The rows of each task's main metric."""
    wanted = [(pl.col("task") == task) & (pl.col("metric") == name) for task, name in statistics.main_metrics.items()]
    return frame.filter(pl.any_horizontal(wanted)) if wanted else frame


def _named(key: Sequence[Any], frame: pl.DataFrame) -> str:
    """Task and source, and the study and model where there are several."""
    study, model, task, source = key[:4]
    several = [str(name) for column, name in (("study", study), ("model", model)) if frame[column].n_unique() > 1]
    return ", ".join([*several, f"{task} from {source}"])


def _mean(values: pl.Series) -> float:
    return float(values.mean())  # type: ignore[arg-type]


def points(value: float) -> str:
    """
    >>> points(0.9514)
    '95.1'
    """
    return f"{value * POINTS_PER_UNIT:.1f}"


def signed(value: float) -> str:
    """
    >>> signed(-0.1234), signed(0.001), signed(-0.0001)
    ('−12.3', '+0.1', '0.0')
    """
    text = f"{value * POINTS_PER_UNIT:+.1f}"
    return "0.0" if float(text) == 0 else text.replace("-", "−")
