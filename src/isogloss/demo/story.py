"""The story that `isogloss demo` tells, in five parts: every sentence is made from what was just measured.

The first sentence of each part is its summary; the others, the table and the picture are for the page.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from isogloss.demo.study import ADJUSTED, BITEXT, PAIRS, REFERENCE, SOURCE
from isogloss.diagnosis.report import summary, system_table
from isogloss.diagnosis.source_ranking import script_and_name
from isogloss.diagnosis.verdict import Verdict
from isogloss.report.chart_images import render_chart
from isogloss.report.export import figures
from isogloss.report.findings import SIGNIFICANCE_LEVEL, findings, points, signed, significant
from isogloss.report.inputs import ReportInputs
from isogloss.report.sections import Section
from isogloss.report.statistics import ReportStatistics, compute_statistics
from isogloss.results.comparisons.transfer_means import OTHER_TARGETS, other_language
from isogloss.results.rows.curves import Curves
from isogloss.results.tables.curve_summary import curve_table
from isogloss.results.tables.tables import Cell, Table, delta_table

SHOWN = ("qlb", "qlc", "qld", "qlf", "qlj")  # of the curves: relatives of the source, strangers, an unseen one
MATCHING, METRIC = "matching", "l2"


def named(code: str) -> str:
    """
    >>> named("qlj")
    'Jagur (qlj)'
    """
    return f"{script_and_name(code)[1]} ({code})"


def meeting(subject: ReportInputs) -> Section:
    """How alike languages are, layer by layer."""
    curves = _curves(subject, REFERENCE)
    few = Curves(curves.frame.filter(pl.col("target").is_in(SHOWN)))
    chart = few.plot().configure_legend(orient="bottom", symbolOpacity=1)
    shapes = subject.results.curves.shapes.filter(changes=REFERENCE)
    inner = {index: rows.filter("rises", "falls").height for (index,), rows in shapes.group_by("index")}
    others = ", ".join(f"{name} for {inner[name]}" for name in curves.indexes if name != MATCHING)
    mean = curves.mean().filter(index=MATCHING).sort("layer")["mean"].to_list()
    best = mean.index(max(mean))
    languages = curves.frame["target"].n_unique()
    peaks = curves.frame.filter(index=MATCHING).sort("value", descending=True).unique("target", maintain_order=True)
    most, least = peaks.row(0, named=True), peaks.row(-1, named=True)
    return Section(
        "1. Where languages meet",
        (
            f"Matching with {named(SOURCE)} rises to an inner layer and falls after it for {inner[MATCHING]} of "
            f"{languages} languages ({others}); on average it is {mean[0]:.2f} at layer 0, {mean[best]:.2f} at layer "
            f"{best} and {mean[-1]:.2f} at layer {len(mean) - 1}.",
            f"Each at its best layer, the most alike is {named(most['target'])}, {most['value']:.2f} at layer "
            f"{most['layer']}; the least alike is {named(least['target'])}, {least['value']:.2f} at layer "
            f"{least['layer']}. The encoder has read raw text of seven languages, and never a translation.",
        ),
        curve_table(few),
        image=render_chart(chart, f"Similarity with {SOURCE} by layer, a line for each language"),
    )


def layers(subject: ReportInputs) -> Section:
    """RANDOM-INIT: what pairs of layers are worth at home and abroad."""
    results = subject.results
    drawn = results.frame.filter(pl.col("changes").is_in([REFERENCE, *PAIRS]))
    only = replace(subject, results=replace(results, frame=drawn, curves=Curves(results.curves.frame.clear())))
    analysis = compute_statistics(only)
    away = analysis.means.sort("delta", descending=False)
    home = {row["change"]: row["delta"] for row in analysis.deltas.filter(target=SOURCE).iter_rows(named=True)}
    told = [
        f"layers {row['change']}: {signed(row['delta'])} points of {row['metric']} on average in other languages, "
        f"{signed(home[row['change']])} in {SOURCE} itself"
        for row in (away.row(0, named=True), away.row(-1, named=True))
    ]
    rows = pl.concat([analysis.deltas, analysis.means], how="diagonal")
    return Section(
        "2. Which layers carry transfer",
        (
            f"Drawn anew before fine-tuning, the pair that costs most is {told[0]}; the one that costs least is "
            f"{told[1]}.",
            *(one for sentences in findings(only, analysis).values() for one in sentences),
        ),
        delta_table(rows.sort(pl.col("target") == OTHER_TARGETS, maintain_order=True), reference=REFERENCE),
    )


def gaps(subject: ReportInputs, analysis: ReportStatistics) -> Section:
    """Whether languages that are more alike lose less."""
    rows = analysis.correlations.filter(pl.col("layer").is_null(), changes=REFERENCE)
    found = rows.filter(pl.col("value").is_not_null())
    told = ", ".join(f"{row['index']} {_number(row['value'])} (p = {row['p']:.2g})" for row in found.to_dicts())
    unknown = "; ".join(f"{row['index']}: {row['note']}" for row in rows.to_dicts() if row["value"] is None)
    lost = analysis.scores.filter(other_language(), changes=REFERENCE).sort("gap")
    low, high = lost.row(0, named=True), lost.row(-1, named=True)
    drawn = {name: spec for name, spec in figures(subject, analysis) if name.startswith("gap")}
    chosen = next((spec for name, spec in drawn.items() if REFERENCE in name and MATCHING in name), None)
    return Section(
        "3. Do languages that are more alike lose less?",
        (
            f"ρ of gap and similarity over {lost.height} languages: {told or unknown}. {_verdict_on(rows)}",
            f"The gap to {named(SOURCE)} goes from {points(low['gap'])} points in {named(low['target'])} to "
            f"{points(high['gap'])} in {named(high['target'])}. Similarity is the mean over all layers, before "
            "fine-tuning.",
        ),
        image=render_chart(chosen, f"The gap of each language against its {MATCHING}") if chosen else None,
    )


def unseen(verdict: Verdict) -> Section:
    """The language that the model never saw, before and after its remedy."""
    scores = dict(verdict.systems.select("system", "test").iter_rows())
    told = ", ".join(f"{system} {points(score)}" for system, score in scores.items())
    sure = "" if verdict.sure else ", though not significantly"
    gains = "".join(
        f" {row['system'].capitalize()} against {row['against']}: {signed(row['delta'])} points"
        f"{'' if row['significant'] else ', not significant'}."
        for row in verdict.remedies.filter(pl.col("delta").is_not_null()).iter_rows(named=True)
    )
    below = "no longer below a baseline" if verdict.repaired else "still below a baseline"
    return Section(
        f"4. A language that the model never saw: {named(verdict.lang)}",
        (
            f"{named(verdict.lang)}, unseen and in the script {verdict.tokenizer.script}, is {verdict.level}{sure}: "
            f"{told} ({verdict.metric}).{gains} After this the model's best system is {below}.",
            *summary(verdict),
        ),
        system_table(verdict),
    )


def adjustment(subject: ReportInputs, analysis: ReportStatistics, pairs: int) -> Section:
    """Words and sentences before and after adjustment on a bitext, and what it does to the task."""
    distances = subject.distances.summary.filter(metric=METRIC)
    rows = {row["model"]: row for row in distances.to_dicts()}
    before, after = rows[REFERENCE], rows[ADJUSTED]
    matching = {name: _pair_curve(subject, name) for name in (REFERENCE, ADJUSTED)}
    cells = analysis.deltas.filter(change=ADJUSTED, target=BITEXT).with_columns(sure=significant())
    cell = cells.row(0, named=True)
    doubt = "" if cell["sure"] else " (not significant)"
    body = [
        (Cell(name), *(Cell(f"{rows[name][column]:.3f}", True) for column in ("related", "unrelated", "overlap",
         "separation")), Cell(_peak(matching[name]), True), Cell(f"{matching[name][-1]:.2f}", True))
        for name in (REFERENCE, ADJUSTED)
    ]  # fmt: skip
    head = ("model", "related", "unrelated", "overlap", "separation", "matching, best layer", "last layer")
    return Section(
        f"5. Adjustment on {pairs} sentence pairs of {named(SOURCE)} and {named(BITEXT)}",
        (
            f"Adjusted on {pairs} sentence pairs, the distances of related and unrelated words overlap by "
            f"{after['overlap']:.2f} instead of {before['overlap']:.2f} (a related pair is the closer one in "
            f"{after['separation']:.1%} instead of {before['separation']:.1%}); matching of {SOURCE} and {BITEXT} is "
            f"{matching[ADJUSTED][-1]:.2f} instead of {matching[REFERENCE][-1]:.2f} at the last layer and "
            f"{_peak(matching[ADJUSTED])} instead of {_peak(matching[REFERENCE])} at its best; pos in {BITEXT}: "
            f"{signed(cell['delta'])} points{doubt}.",
            f"The distances are those of words at the last layer, {before['n']:,} related pairs of other sentences "
            "than those that were trained on; the best layer stands in parentheses.",
        ),
        Table(head, tuple(body)),
        image=render_chart(
            subject.distances.plot(METRIC), "Distances of related and unrelated words before and after adjustment"
        ),
    )


def _curves(subject: ReportInputs, column: str) -> Curves:
    return Curves(subject.results.curves.frame.filter(changes=column))


def _pair_curve(subject: ReportInputs, column: str) -> list[float]:
    """Matching of the languages of the bitext, layer by layer."""
    rows = _curves(subject, column).frame.filter(index=MATCHING, target=BITEXT)
    return rows.sort("layer")["value"].to_list()


def _peak(values: list[float]) -> str:
    """
    >>> _peak([0.1, 0.5, 0.2])
    '0.50 (1)'
    """
    return f"{max(values):.2f} ({values.index(max(values))})"


def _verdict_on(correlations: pl.DataFrame) -> str:
    """What correlations of gap and similarity say together."""
    clear = correlations.filter(pl.col("p") < SIGNIFICANCE_LEVEL)
    if clear.height < max(1, correlations.height):
        return f"Significant for {clear.height} of {correlations.height} indexes."
    if (clear["value"] < 0).all():
        return "Below 0 and significant for every index: here, languages that are more alike lose less."
    return "Significant for every index, but not below 0 for all: here, languages that are more alike do not lose less."


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
