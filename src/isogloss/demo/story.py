"""The five sections of `isogloss demo`; every sentence is computed from the results.

The first sentence of each section is its finding; the others, the table and the figure are for the page.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from isogloss.demo.study import ADJUSTED, BITEXT, PAIRS, REFERENCE, SOURCE
from isogloss.diagnosis.report import summary, system_table
from isogloss.diagnosis.source_ranking import script_and_name
from isogloss.diagnosis.verdict import Verdict
from isogloss.indexes.curve_verdict import Verdict as CurveVerdict
from isogloss.report.export import figures
from isogloss.report.findings import findings
from isogloss.report.inputs import ReportInputs
from isogloss.report.sections import Section, render_chart
from isogloss.report.statistics import ReportStatistics
from isogloss.results.comparisons.marks import SIGNIFICANCE_LEVEL, stars_note
from isogloss.results.comparisons.target_languages import other_languages
from isogloss.results.rows.curves import Curves
from isogloss.results.tables.curve_summary import curve_table
from isogloss.results.tables.points import points, signed_points
from isogloss.results.tables.tables import Cell, Table, delta_table

CURVE_LANGUAGES = ("qlb", "qlc", "qld", "qlf", "qlj")  # relatives of the source, unrelated ones, an unseen one
MATCHING, METRIC = "matching", "l2"


def language_label(code: str) -> str:
    """
    >>> language_label("qlj")
    'Jagur (qlj)'
    """
    return f"{script_and_name(code)[1]} ({code})"


def similarity_section(inputs: ReportInputs) -> Section:
    """Similarity between languages, by layer."""
    curves = _curves(inputs, REFERENCE)
    shapes = inputs.results.curves.shapes.filter(changes=REFERENCE)
    shown = pl.col("target").is_in(CURVE_LANGUAGES)
    selected = Curves(curves.frame.filter(shown), shapes=shapes.filter(shown))
    chart = selected.plot().configure_legend(orient="bottom", symbolOpacity=1)
    rising_and_falling = {
        index: rows.filter(verdict=CurveVerdict.YES.value).height for (index,), rows in shapes.group_by("index")
    }
    other_indexes = ", ".join(f"{name} for {rising_and_falling[name]}" for name in curves.indexes if name != MATCHING)
    mean = curves.mean().filter(index=MATCHING).sort("layer")["mean"].to_list()
    best = mean.index(max(mean))
    languages = curves.frame["target"].n_unique()
    peaks = curves.frame.filter(index=MATCHING).sort("value", descending=True).unique("target", maintain_order=True)
    most_similar, least_similar = peaks.row(0, named=True), peaks.row(-1, named=True)
    return Section(
        "1. Similarity by layer",
        (
            f"Matching accuracy with {language_label(SOURCE)} rises to an inner layer and falls after it, more "
            f"than in untrained networks, for {rising_and_falling[MATCHING]} of {languages} languages "
            f"({other_indexes}); the mean is {mean[0]:.2f} at "
            f"layer 0, {mean[best]:.2f} at layer {best} and {mean[-1]:.2f} at layer {len(mean) - 1}.",
            f"At its best layer, the most similar language is {_at_peak(most_similar)}; the least similar is "
            f"{_at_peak(least_similar)}. The encoder was pretrained on raw text of seven languages, without "
            "translations.",
        ),
        curve_table(selected),
        image=render_chart(chart, f"Similarity with {SOURCE} by layer, a line for each language"),
    )


def reinit_section(inputs: ReportInputs, statistics: ReportStatistics) -> Section:
    """RANDOM-INIT: the effect of re-initialising pairs of layers in the source and in other languages."""
    results = replace(inputs.results, curves=Curves(inputs.results.curves.frame.clear()))
    deltas, means = (rows.filter(pl.col("change").is_in(PAIRS)) for rows in (statistics.deltas, statistics.means))
    of_pairs = replace(statistics, deltas=deltas, means=means, correlations=statistics.correlations.clear())
    sorted_means = means.sort("delta", descending=False)
    source_deltas = dict(deltas.filter(target=SOURCE).select("change", "delta").iter_rows())
    descriptions = [
        f"layers {row['change']}: {signed_points(row['delta'])} points of {row['metric']} on average in other "
        f"languages, {signed_points(source_deltas[row['change']])} in {SOURCE} itself"
        for row in (sorted_means.row(0, named=True), sorted_means.row(-1, named=True))
    ]
    sentences = findings(replace(inputs, results=results), of_pairs).values()
    return Section(
        "2. Layers that matter for transfer",
        (
            f"Of the layer pairs re-initialised before fine-tuning, the largest loss is for {descriptions[0]}; the "
            f"smallest is for {descriptions[1]}.",
            *(sentence for topic in sentences for sentence in topic),
            stars_note(REFERENCE),
        ),
        delta_table(pl.concat([deltas, means]), reference=REFERENCE),
    )


def gap_section(inputs: ReportInputs, statistics: ReportStatistics) -> Section:
    """Correlation of cross-lingual gap and similarity."""
    rows = statistics.correlations.filter(pl.col("layer").is_null(), changes=REFERENCE)
    defined = rows.filter(pl.col("value").is_not_null())
    correlations = ", ".join(
        f"{row['index']} {_number(row['value'])} (p = {row['p']:.2g})" for row in defined.to_dicts()
    )
    undefined = "; ".join(f"{row['index']}: {row['note']}" for row in rows.to_dicts() if row["value"] is None)
    gap_rows = other_languages(statistics.scores.filter(changes=REFERENCE)).sort("gap")
    low, high = gap_rows.row(0, named=True), gap_rows.row(-1, named=True)
    gap_figures = {name: spec for name, spec in figures(inputs, statistics) if name.startswith("gap")}
    figure = next((spec for name, spec in gap_figures.items() if REFERENCE in name and MATCHING in name), None)
    return Section(
        "3. Similarity and cross-lingual gap",
        (
            f"Spearman's ρ of gap and similarity over {gap_rows.height} languages: {correlations or undefined}. "
            f"{_correlation_summary(rows)}",
            f"The gap to the {low['gap_to']} set of {language_label(SOURCE)} ranges from {points(low['gap'])} points "
            f"in {language_label(low['target'])} to {points(high['gap'])} in {language_label(high['target'])}. "
            "Similarity "
            "is the mean over all layers before fine-tuning.",
        ),
        image=render_chart(figure, f"The gap of each language against its {MATCHING}") if figure else None,
    )


def unseen_section(verdict: Verdict) -> Section:
    """A language not seen in pretraining, before and after a remedy."""
    scores = dict(verdict.systems.select("system", "test").iter_rows())
    system_list = ", ".join(f"{system} {points(score)}" for system, score in scores.items())
    significance = "" if verdict.sure else " (not significant)"
    gains = "".join(
        f" {row['system'].capitalize()} compared with {row['against']}: {signed_points(row['delta'])} points"
        f"{'' if row['significant'] else ', not significant'}."
        for row in verdict.remedies.filter(pl.col("delta").is_not_null()).iter_rows(named=True)
    )
    below = "no longer below a baseline" if verdict.repaired else "still below a baseline"
    return Section(
        f"4. A language not seen in pretraining: {language_label(verdict.lang)}",
        (
            f"{language_label(verdict.lang)}, unseen and in the script {verdict.tokenizer.script}, is "
            f"{verdict.level}{significance}: {system_list} ({verdict.metric}).{gains} "
            f"With the remedy, the model's best system is {below}.",
            *summary(verdict),
        ),
        system_table(verdict),
    )


def adjustment_section(inputs: ReportInputs, statistics: ReportStatistics, pairs: int) -> Section:
    """Word distances, matching and task scores before and after adjustment on a bitext."""
    distances = inputs.distances.summary.filter(metric=METRIC)
    rows = {row["model"]: row for row in distances.to_dicts()}
    before, after = rows[REFERENCE], rows[ADJUSTED]
    matching = {name: _pair_curve(inputs, name) for name in (REFERENCE, ADJUSTED)}
    cells = statistics.deltas.filter(change=ADJUSTED, target=BITEXT)
    cell = cells.row(0, named=True)
    significance = "" if cell["significant"] else " (not significant)"
    body = [
        (Cell(name), *(Cell(f"{rows[name][column]:.3f}", True) for column in ("related", "unrelated", "overlap",
         "separation")), Cell(_peak(matching[name]), True), Cell(f"{matching[name][-1]:.2f}", True))
        for name in (REFERENCE, ADJUSTED)
    ]  # fmt: skip
    head = ("model", "related", "unrelated", "overlap", "separation", "matching, best layer", "last layer")
    return Section(
        f"5. Adjustment on {pairs} sentence pairs of {language_label(SOURCE)} and {language_label(BITEXT)}",
        (
            f"After adjustment on {pairs} sentence pairs, the distances of related and unrelated words overlap by "
            f"{after['overlap']:.2f} instead of {before['overlap']:.2f} (a related pair is closer than an "
            f"unrelated one in {after['separation']:.1%} instead of {before['separation']:.1%}); matching of {SOURCE} "
            f"and {BITEXT} is "
            f"{matching[ADJUSTED][-1]:.2f} instead of {matching[REFERENCE][-1]:.2f} at the last layer and "
            f"{_peak(matching[ADJUSTED])} instead of {_peak(matching[REFERENCE])} at its best; pos in {BITEXT}: "
            f"{signed_points(cell['delta'])} points{significance}.",
            f"Distances are measured at the last layer, on {before['n']:,} related word pairs of held-out sentences; "
            "the best layer is given in parentheses.",
        ),
        Table(head, tuple(body)),
        image=render_chart(
            inputs.distances.plot(METRIC), "Distances of related and unrelated words before and after adjustment"
        ),
    )


def _curves(inputs: ReportInputs, condition: str) -> Curves:
    return Curves(inputs.results.curves.frame.filter(changes=condition))


def _pair_curve(inputs: ReportInputs, condition: str) -> list[float]:
    """Matching accuracy of the languages of the bitext, by layer."""
    rows = _curves(inputs, condition).frame.filter(index=MATCHING, target=BITEXT)
    return rows.sort("layer")["value"].to_list()


def _at_peak(row: dict[str, Any]) -> str:
    """A language with its similarity at its best layer."""
    return f"{language_label(row['target'])}, {row['value']:.2f} at layer {row['layer']}"


def _peak(values: list[float]) -> str:
    """
    >>> _peak([0.1, 0.5, 0.2])
    '0.50 (1)'
    """
    return f"{max(values):.2f} ({values.index(max(values))})"


def _correlation_summary(correlations: pl.DataFrame) -> str:
    """A summary of the correlations over indexes."""
    significant_rows = correlations.filter(pl.col("p") < SIGNIFICANCE_LEVEL)
    if significant_rows.height < max(1, correlations.height):
        return f"Significant for {significant_rows.height} of {correlations.height} indexes."
    if (significant_rows["value"] < 0).all():
        return "Negative and significant for every index: here, more similar languages have smaller gaps."
    return (
        "Significant for every index, but not negative for all: here, more similar languages do not have smaller gaps."
    )


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
