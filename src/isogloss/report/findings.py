"""Findings as computed sentences. `results.comparisons.marks` defines which differences are called significant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from isogloss.indexes.curve_verdict import Verdict
from isogloss.report.inputs import ReportInputs
from isogloss.report.readability import UNREADABLE_TITLE, unreadable_sentences, unreadable_texts
from isogloss.report.statistics import PERFECT_CORRELATION, ReportStatistics
from isogloss.results.comparisons.target_languages import other_languages
from isogloss.results.rows.curves import FINAL_NORM
from isogloss.results.rows.results import NO_INTERVENTION
from isogloss.results.tables.points import points, signed_points

MAX_SENTENCES = 14  # per topic
MIN_LANGUAGES = 8  # for a correlation without a warning
MAX_NAMED_TARGETS = 3
GROUP = ["study", "model", "task", "source", "metric"]


def findings(inputs: ReportInputs, statistics: ReportStatistics) -> dict[str, list[str]]:
    """The first `MAX_SENTENCES` sentences of each topic."""
    topics = {
        UNREADABLE_TITLE: [*unreadable_sentences(inputs)],
        "Transfer": [*_gaps(inputs, statistics)],
        "Effect of interventions": [*_effects(statistics), *_published(statistics)],
        "Similarity of languages": [*_peaks(inputs), *_verdicts(inputs), *_correlations(inputs, statistics)],
    }
    return {title: _limited(sentences) for title, sentences in topics.items() if sentences}


def _limited(sentences: list[str]) -> list[str]:
    omitted = len(sentences) - MAX_SENTENCES
    return sentences if omitted <= 0 else [*sentences[:MAX_SENTENCES], f"{omitted:,} more are in the tables."]


def _gaps(inputs: ReportInputs, statistics: ReportStatistics) -> Iterator[str]:
    """The scores of the reference in other languages and in the source language."""
    scores = _main_metric(statistics.scores, statistics).filter(pl.col("readable").fill_null(True))
    if inputs.reference is not None:
        scores = scores.filter(pl.col("changes") == inputs.reference)
    for key, group in scores.group_by([*GROUP, "changes"], maintain_order=True):
        others = other_languages(group)
        on_source = group.filter(pl.col("target") == pl.col("source"))["mean"].to_list()
        if others.is_empty():
            continue
        languages = others["language"].n_unique()
        where = "one other language" if languages == 1 else f"{languages} other languages (mean)"
        lowest = others.sort("mean").row(0, named=True)
        text = f"{_experiment(key, scores)}: {key[4]} {points(_mean_over_languages(others, 'mean'))} on {where}"
        text += f", {points(on_source[0])} on {key[3]}" if on_source else ""
        yield text + (f"; lowest on {lowest['target']} ({points(lowest['mean'])})." if others.height > 1 else ".")


def _effects(statistics: ReportStatistics) -> Iterator[str]:
    """The effect of each condition on other languages, and on the source."""
    cells = _main_metric(statistics.deltas, statistics).filter(pl.col("delta").is_not_null())
    for key, group in cells.group_by([*GROUP, "change"], maintain_order=True):
        others, on_source = other_languages(group), group.filter(pl.col("target") == pl.col("source"))
        if others.is_empty():
            continue
        text = f"{_experiment(key[:-1], cells)}, {key[-1] or NO_INTERVENTION}: {_mean_effect(others, str(key[4]))}"
        yield text + (f"; on {key[3]} {_single_effect(on_source)}." if len(on_source) else ".")


def _mean_effect(others: pl.DataFrame, metric: str) -> str:
    """The mean difference over other languages, and in how many of them it is significant."""
    tested = others.filter(pl.col("holm").is_not_null())
    changed = tested.filter("significant")
    worse, better = changed.filter(pl.col("delta") < 0), changed.filter(pl.col("delta") > 0)
    text = f"{signed_points(_mean_over_languages(others, 'delta'))} points of {metric} on other languages (mean)"
    if tested.is_empty():
        return text + ", too few seeds for a test"
    directions = (("worse", worse), ("better", better))
    parts = [f"significantly {word} on {_targets(rows, others)}" for word, rows in directions if len(rows)]
    return f"{text}, {' and '.join(parts) or 'significant on none of them'}"


def _targets(rows: pl.DataFrame, others: pl.DataFrame) -> str:
    """How many of the targets, and the names of those with the largest differences."""
    largest = rows.sort(pl.col("delta").abs(), descending=True).head(MAX_NAMED_TARGETS)
    names = ", ".join(f"{row['target']} {signed_points(row['delta'])}" for row in largest.iter_rows(named=True))
    return f"{len(rows)} of {len(others)} ({names}{', …' if len(rows) > MAX_NAMED_TARGETS else ''})"


def _single_effect(rows: pl.DataFrame) -> str:
    row = rows.row(0, named=True)
    remark = " (not tested)" if row["holm"] is None else "" if row["significant"] else " (not significant)"
    return signed_points(row["delta"]) + remark


def _published(statistics: ReportStatistics) -> Iterator[str]:
    if "published" not in statistics.deltas.columns:
        return
    cells = pl.concat([statistics.deltas, statistics.means]).filter(
        pl.col("published").is_not_null() & pl.col("delta").is_not_null()
    )
    other = cells.filter(pl.col("mismatch") != "")
    cells = cells.filter(pl.col("mismatch") == "")
    if len(other):
        yield (
            f"{len(other)} published differences to the reference are not comparable: {other['mismatch'][0]}"
            f"{' (and other reasons)' if other['mismatch'].n_unique() > 1 else ''}."
        )
    if len(cells):
        error = cells.select((pl.col("delta") - pl.col("published")).abs().mean()).item()
        same = cells.filter(pl.col("delta").sign() == pl.col("published").sign()).height
        yield (
            f"{same} of {len(cells)} published differences to the reference have the same sign here; "
            f"the mean absolute deviation from the published value is {points(error)} points."
        )


def _peaks(inputs: ReportInputs) -> Iterator[str]:
    """The layer with the highest similarity, averaged over languages."""
    curves = inputs.results.curves.frame.filter((pl.col("stage") != FINAL_NORM) & pl.col("value").is_finite())
    if inputs.reference is not None:
        curves = curves.filter(pl.col("changes").is_null() | (pl.col("changes") == inputs.reference))
    curves = curves.with_columns(pl.col("when").fill_null("before"))
    unreadable = unreadable_texts(inputs).select("model", target="language")
    curves = curves.join(unreadable, on=["model", "target"], how="anti", maintain_order="left")
    before = curves.filter(pl.col("when") == "before")
    for key, group in (before if len(before) else curves).group_by("model", "source", "index", maintain_order=True):
        counted = other_languages(group)
        if counted.is_empty():  # names that no language has
            counted = group.with_columns(language="target")
        by_language = counted.group_by("layer", "language", maintain_order=True).agg(pl.col("value").mean())
        layers = by_language.group_by("layer").agg(pl.col("value").mean())
        layers = layers.sort("value", "layer", descending=[True, False])
        best, last = layers.row(0), layers.sort("layer").row(-1)
        languages = counted["language"].n_unique()
        over = f"mean over {languages} languages" if languages > 1 else counted["target"][0]
        yield (
            f"{key[0]}, {key[2]} with {key[1]}, {group['when'][0]} fine-tuning: highest at layer {best[0]} "
            f"({best[1]:.2f}, {over}); {last[1]:.2f} at the last layer ({last[0]})."
        )


def _verdicts(inputs: ReportInputs) -> Iterator[str]:
    """First align, then predict: for how many languages, and the other verdicts."""
    shapes = inputs.results.curves.shapes
    if shapes.is_empty():
        return
    if inputs.reference is not None and "changes" in shapes.columns:
        shapes = shapes.filter(pl.col("changes").is_null() | (pl.col("changes") == inputs.reference))
    if "when" in shapes.columns:
        shapes = shapes.with_columns(pl.col("when").fill_null("before")).filter(pl.col("when") == "before")
    for (model, source, index), rows in shapes.group_by("model", "source", "index", maintain_order=True):
        by_verdict = {str(verdict): group for (verdict,), group in rows.group_by("verdict", maintain_order=True)}
        positive = by_verdict.pop(Verdict.YES.value, rows.clear())
        others = "".join(f"; {verdict} for {_languages(group)}" for verdict, group in by_verdict.items())
        yield (
            f"{model}, {index} with {source}, before fine-tuning: rises to an inner layer and falls after it, more "
            f"than untrained networks, for {positive['target'].n_unique()} of {rows['target'].n_unique()} "
            f"languages{others}."
        )


def _languages(rows: pl.DataFrame) -> str:
    """The first few targets, and how many more."""
    targets = rows["target"].unique(maintain_order=True).to_list()
    more = len(targets) - MAX_NAMED_TARGETS
    return ", ".join(targets[:MAX_NAMED_TARGETS]) + (f" and {more} more" if more > 0 else "")


def _correlations(inputs: ReportInputs, statistics: ReportStatistics) -> Iterator[str]:
    """Whether the gap of the reference shrinks as similarity grows; all indexes in one sentence."""
    rows = _main_metric(statistics.correlations, statistics)
    rows = rows.filter(pl.col("layer").is_null() & pl.col("value").is_not_null())
    if inputs.reference is not None:
        rows = rows.filter(pl.col("changes") == inputs.reference)
    for key, group in rows.group_by([*GROUP, "changes", "when", "n"], maintain_order=True):
        coefficients = ", ".join(f"{row['index']} {_rho(row)}" for row in group.iter_rows(named=True))
        languages = int(str(key[-1]))
        few = f"; {languages} languages are too few for a conclusion" if languages < MIN_LANGUAGES else ""
        yield (
            f"{_experiment(key, rows)}, similarity {key[-2]} fine-tuning: Spearman’s ρ of gap and similarity over "
            f"{languages} languages: {coefficients}. Negative: more similar languages have smaller gaps{few}."
        )


def _rho(row: Mapping[str, float]) -> str:
    """The coefficient with its p, which is meaningless for a perfect correlation."""
    text = f"{row['value']:.2f}".replace("-", "−")
    return text if abs(row["value"]) > PERFECT_CORRELATION else f"{text} (p = {row['p']:.2g})"


def _main_metric(frame: pl.DataFrame, statistics: ReportStatistics) -> pl.DataFrame:
    """The rows of each task's main metric."""
    main = [(pl.col("task") == task) & (pl.col("metric") == name) for task, name in statistics.main_metrics.items()]
    return frame.filter(pl.any_horizontal(main)) if main else frame


def _experiment(key: Sequence[object], frame: pl.DataFrame) -> str:
    """Task and source, with the study and the model if there are several."""
    study, model, task, source = key[:4]
    names = [str(name) for column, name in (("study", study), ("model", model)) if frame[column].n_unique() > 1]
    return ", ".join([*names, f"{task} from {source}"])


def _mean_over_languages(rows: pl.DataFrame, column: str) -> float:
    """Every language counts once, whatever the number of its test sets."""
    return float(rows.group_by("language", maintain_order=True).agg(pl.col(column).mean())[column].mean())  # type: ignore[arg-type]
