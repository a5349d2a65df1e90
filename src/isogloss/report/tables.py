"""The tables of a report, each with a name for its file, a title, and a sentence on how to read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import polars as pl

from isogloss.report.inputs import ReportInputs
from isogloss.report.published import STRENGTH, published_similarity, with_published_scores, with_published_strength
from isogloss.report.statistics import ReportStatistics, both
from isogloss.results.rows.curves import Curves
from isogloss.results.tables.curve_summary import curve_table
from isogloss.results.tables.tables import POINTS_PER_UNIT, Cell, Table, delta_table, frame_table

STARS = "Stars: p < .05, .01, .001 for a cell by itself."
INTERVALS = "In brackets the 95 % interval over seeds."


@dataclass(frozen=True)
class NamedTable:
    """`main`: shown at once; the others are folded away until asked for."""

    name: str
    title: str
    note: str
    table: Table
    main: bool = True


def tables(inputs: ReportInputs, statistics: ReportStatistics) -> list[NamedTable]:
    return [
        *_costs(inputs, statistics),
        *_scores(inputs, statistics),
        *_similarity(inputs),
        *_correlations(inputs, statistics),
        *_distances(inputs),
        *_neurons(inputs),
    ]


def _costs(inputs: ReportInputs, statistics: ReportStatistics) -> Iterator[NamedTable]:
    """The paper's table for each task and metric: the reference, and what each change costs."""
    reference = inputs.results.reference
    for (task, metric), rows in both(statistics).group_by("task", "metric", maintain_order=True):
        tests = [name for name in rows["test"].unique(maintain_order=True) if name]
        told = f" Tests: {' and '.join(tests)}." if tests else ""
        paper = " In parentheses the published value." if "published" in rows.columns else ""
        seeds = INTERVALS if rows["low"].is_not_null().any() else ""
        yield NamedTable(
            f"costs-{task}-{metric}",
            f"What each change costs: {task}, {metric}",
            f"{reference}: score in points; Δ: difference to it. {seeds} {STARS}{told}{paper}".replace("  ", " "),
            delta_table(rows, reference=reference, intervals=True),
            main=statistics.main_metrics[str(task)] == metric,
        )


def _scores(inputs: ReportInputs, statistics: ReportStatistics) -> Iterator[NamedTable]:
    """Scores and gaps of every experiment; the main table where there is nothing to compare."""
    for (task, metric), rows in statistics.scores.group_by("task", "metric", maintain_order=True):
        told = [name for name in ("study", "model", "changes", "source") if rows[name].n_unique() > 1]
        named = with_published_scores(rows, inputs)
        paper = ["published"] if named["published"].count() else []
        score = [(pl.col(name) * POINTS_PER_UNIT) for name in ("mean", *paper, "sd", "gap", "gap_sd")]
        shown = named.with_columns(score).select(*told, "target", "mean", *paper, "sd", "gap", "gap_sd", "seeds", "n")
        yield NamedTable(
            f"scores-{task}-{metric}",
            f"Scores: {task}, {metric}",
            "In points: mean and standard deviation over seeds, and the gap to the score in the source language; "
            "n: items of the test set.",
            frame_table(shown.rename({"gap_sd": "gap sd"})),
            main=inputs.reference is None and statistics.main_metrics[str(task)] == metric,
        )


def _similarity(inputs: ReportInputs) -> Iterator[NamedTable]:
    """Similarity in a few numbers, and by layer with a table for each index; mean over seeds and tasks."""
    curves = inputs.results.curves.frame
    if len(curves):
        yield NamedTable(
            "similarity",
            "Similarity at the first, the best and the last layer",
            f"{'' if 'after' in curves['when'] else 'Before fine-tuning. '}The best layer’s number in parentheses; "
            "layer 0 is the embedding output. Mean over seeds.",
            curve_table(Curves(curves.with_columns(pl.col("when").fill_null("before")))),
        )
    beside = published_similarity(inputs)
    if len(beside):
        note = "Mean over seeds, and the published value."
        yield NamedTable("similarity-published", "Similarity, published", note, frame_table(beside, decimals=3))
    labels = [name for name in ("model", "changes", "task", "when") if curves[name].drop_nulls().n_unique() > 1]
    key = [*dict.fromkeys(["model", *labels]), "source", "target"]
    for (index,), rows in curves.group_by("index", maintain_order=True):
        places = [*key, "index", "layer", "stage"]
        means = rows.group_by(places, maintain_order=True).agg(pl.col("value").mean())
        named = means.with_columns(model=_joined(key[:-2])).drop(set(labels) - {"model"})
        wide = Curves(named).table(str(index))
        shown = wide.drop([] if labels else ["model"]).rename({"model": " · ".join(key[:-2])} if labels else {})
        yield NamedTable(
            f"similarity-{index}",
            f"Similarity by layer: {index}",
            "Layer 0 is the embedding output; +norm: after the final norm. Mean over seeds.",
            frame_table(shown, decimals=3),
            main=False,
        )


def _correlations(inputs: ReportInputs, statistics: ReportStatistics) -> Iterator[NamedTable]:
    overall = statistics.correlations.filter(pl.col("layer").is_null())
    rows = with_published_strength(overall, inputs, statistics.main_metrics)
    if rows.is_empty():
        return
    told = [name for name in ("study", "model", "changes", "task", "source", "metric") if rows[name].n_unique() > 1]
    whole = pl.col("value").abs() > 1 - 1e-9  # then interval and p, being those of many pairs, say more than they know
    chance = [pl.when(whole).then(None).otherwise(pl.col(name)).alias(name) for name in ("low", "high", "p")]
    paper = [STRENGTH] if rows[STRENGTH].count() else []
    shown = rows.select(*told, "index", "when", pl.col("value").alias("ρ"), *paper, *chance, "n", "note")
    shown = shown.drop([] if shown["note"].str.len_chars().sum() else ["note"])
    yield NamedTable(
        "gap-and-similarity",
        "Do languages that are more alike lose less?",
        "Spearman's ρ of the cross-lingual gap and the similarity averaged over layers, with its 95 % interval; "
        "below 0: the gap shrinks as similarity grows. n: languages. No interval where the ranks agree entirely."
        + (" Of the published ρ the strength alone is known." if paper else ""),
        _with_small_p(frame_table(shown, decimals=3), shown),
        main=len(shown) <= 12,
    )


def _with_small_p(table: Table, frame: pl.DataFrame) -> Table:
    """p with two digits that count: rounded to thousandths, small ones would look like none at all."""
    place = frame.columns.index("p")
    body = (
        (*row[:place], Cell("" if p is None else f"{p:.2g}", number=True), *row[place + 1 :])
        for row, p in zip(table.body, frame["p"], strict=True)
    )
    return replace(table, body=tuple(body))


def _distances(inputs: ReportInputs) -> Iterator[NamedTable]:
    if len(inputs.distances.summary):
        yield NamedTable(
            "distances",
            "Distances of related and unrelated words",
            "Mean distances; overlap of the two histograms (0 to 1); separation: the chance that a related pair is "
            "closer than an unrelated one; d′: difference of the means in standard deviations; top: the share of the "
            "squared distance of related words that so many dimensions carry.",
            frame_table(inputs.distances.table().rename({"d_prime": "d′"}), decimals=3),
        )


def _neurons(inputs: ReportInputs) -> Iterator[NamedTable]:
    """The neurons of each layer that behave most alike in all languages, and those that do so least."""
    neutral = inputs.results.neutral
    if neutral.is_empty():
        return
    labels = [name for name in ("model", "changes", "when") if neutral[name].drop_nulls().n_unique() > 1]
    first = neutral.unique(["model", "changes", "when", "layer", "stage", "rank"], keep="first", maintain_order=True)
    correlations = [pl.col("mean").alias("mean |r|"), pl.col("lowest").alias("lowest |r|")]
    shown = first.select(*labels, "layer", "stage", "rank", "of", "neuron", *correlations)
    yield NamedTable(
        "neurons",
        "Language-neutral neurons",
        "The most and the least language-neutral neurons of each layer: |correlation| of a neuron's values in two "
        "languages, mean and lowest over the pairs.",
        frame_table(shown, decimals=3),
        main=False,
    )


def _joined(names: list[str]) -> pl.Expr:
    return pl.concat_str([pl.col(name).fill_null("") for name in names], separator=" · ")
