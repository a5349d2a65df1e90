"""The tables of a report, each with a file name, a title and a note on how to read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import polars as pl

from isogloss.indexes.labels import index_label
from isogloss.report.inputs import ReportInputs, with_run_columns
from isogloss.report.published import PUBLISHED_RHO, published_similarity, with_published_rho, with_published_scores
from isogloss.report.readability import READABILITY_NOTE, readability_table, unreadable_texts
from isogloss.report.statistics import PERFECT_CORRELATION, ReportStatistics
from isogloss.results.comparisons.marks import stars_note
from isogloss.results.comparisons.published_values import published_notes
from isogloss.results.rows.curves import Curves
from isogloss.results.rows.results import gap_heading
from isogloss.results.tables.curve_summary import curve_table
from isogloss.results.tables.points import POINTS_PER_UNIT
from isogloss.results.tables.tables import Cell, Table, delta_table, frame_table

PUBLISHED_NOTE = "In parentheses: published value; grey where it is not comparable, for the reason below the table."
SCORES_NOTE = (
    "In points: mean and standard deviation over seeds, and gap: difference to the score in the source language, on "
    "its test set, or on its dev set where it has no test set. n: items of the test set."
)
INTERVALS_NOTE = "In brackets: 95 % confidence interval over seeds."
MAX_OPEN_CORRELATIONS = 12  # rows; a longer table is folded


@dataclass(frozen=True)
class NamedTable:
    """`main`: shown at once; other tables are folded."""

    name: str
    title: str
    note: str
    table: Table
    main: bool = True

    @property
    def anchor(self) -> str:
        """The id of its HTML element."""
        return "table-" + "".join(char if char.isascii() and char.isalnum() else "-" for char in self.name)


def tables(inputs: ReportInputs, statistics: ReportStatistics) -> list[NamedTable]:
    listed = [
        *_deltas(inputs, statistics),
        *_scores(inputs, statistics),
        *_similarity(inputs),
        *_correlations(inputs, statistics),
        *_distances(inputs),
        *_neurons(inputs),
        *_texts(inputs),
    ]
    # the data column `changes` is shown as "interventions"
    heads = [tuple(name.replace("changes", "interventions") for name in named.table.head) for named in listed]
    return [replace(named, table=replace(named.table, head=head)) for named, head in zip(listed, heads, strict=True)]


def _deltas(inputs: ReportInputs, statistics: ReportStatistics) -> Iterator[NamedTable]:
    """The paper's table for each task and metric: the reference, and the difference of each condition."""
    reference = inputs.results.reference
    for (task, metric), rows in statistics.deltas_and_means.group_by("task", "metric", maintain_order=True):
        tests = [name for name in rows["test"].unique(maintain_order=True) if name]
        notes = [f"{reference}: score in points; Δ: difference to it.", stars_note(reference)]
        notes[1:1] = [INTERVALS_NOTE] if rows["low"].is_not_null().any() else []
        notes += [f"Tests: {' and '.join(tests)}."] if tests else []
        if "published" in rows.columns and rows["published"].count():
            notes += [PUBLISHED_NOTE, *published_notes(rows, inputs.results.published)]
        notes += inputs.results.failed_notes
        yield NamedTable(
            f"differences-{task}-{metric}",
            f"Differences to the reference: {task}, {metric}",
            " ".join(notes),
            delta_table(rows, reference=reference, intervals=True),
            main=statistics.main_metrics[str(task)] == metric,
        )


def _scores(inputs: ReportInputs, statistics: ReportStatistics) -> Iterator[NamedTable]:
    """Scores and gaps of every experiment; the main table if there is nothing to compare."""
    for (task, metric), rows in statistics.scores.group_by("task", "metric", maintain_order=True):
        distinct = [name for name in ("study", "model", "changes", "source") if rows[name].n_unique() > 1]
        scorer = ["scorer"] if rows["scorer"].str.len_chars().sum() else []
        scores = with_published_scores(rows, inputs)
        published = ["published"] if scores["published"].count() else []
        columns = ["mean", *published, "sd", "gap", "gap_sd"]
        in_points = scores.with_columns(pl.col(name) * POINTS_PER_UNIT for name in columns)
        heading = gap_heading(scores["gap_to"])
        gap_to = ["gap_to"] if heading == "gap" else []
        shown = in_points.select(*distinct, "target", *scorer, *columns, *gap_to, "seeds", "n")
        headings = {"gap": heading, "gap_sd": "gap sd", **({"gap_to": "gap to source"} if gap_to else {})}
        yield NamedTable(
            f"scores-{task}-{metric}",
            f"Scores: {task}, {metric}",
            " ".join([SCORES_NOTE, *inputs.results.failed_notes]),
            with_mismatches(frame_table(shown.rename(headings)), "published", scores["mismatch"]),
            main=inputs.reference is None and statistics.main_metrics[str(task)] == metric,
        )


def _similarity(inputs: ReportInputs) -> Iterator[NamedTable]:
    """A summary of similarity, and for each index a table by layer; means over seeds and tasks."""
    curves, shapes = inputs.results.curves.frame, inputs.results.curves.shapes
    if len(curves):
        before = pl.col("when").fill_null("before")
        yield NamedTable(
            "similarity",
            "Similarity at the first, the best and the last layer",
            f"{'' if 'after' in curves['when'] else 'Before fine-tuning. '}In parentheses: number of the best layer; "
            "layer 0 is the embedding output. Mean over seeds. Verdict: whether the curve rises to an inner layer and "
            "falls after it (first align, then predict), more than in untrained networks of the same architecture.",
            curve_table(Curves(curves.with_columns(before), shapes=with_run_columns(shapes).with_columns(before))),
        )
        yield from _verdicts(with_run_columns(shapes).with_columns(before))
    published = published_similarity(inputs)
    if len(published):
        note = "Mean over seeds, and published value."
        title = "Similarity, measured and published"
        table = frame_table(published.drop("mismatch"), decimals=3)
        yield NamedTable(
            "similarity-published", title, note, with_mismatches(table, "published", published["mismatch"])
        )
    labels = [name for name in ("model", "changes", "task", "when") if curves[name].drop_nulls().n_unique() > 1]
    key = [*dict.fromkeys(["model", *labels]), "source", "target"]
    name = pl.concat_str(pl.col(key[:-2]).fill_null(""), separator=" · ")
    for (index,), rows in curves.group_by("index", maintain_order=True):
        means = rows.group_by([*key, "index", "layer", "stage"], maintain_order=True).agg(pl.col("value").mean())
        labelled = means.with_columns(model=name).drop(set(labels) - {"model"})
        wide = Curves(labelled).table(str(index))
        shown = wide.drop([] if labels else ["model"]).rename({"model": " · ".join(key[:-2])} if labels else {})
        yield NamedTable(
            f"similarity-{index}",
            f"Similarity by layer: {index_label(str(index))}",
            "Layer 0 is the embedding output; +norm: output of the final norm. Mean over seeds.",
            frame_table(shown, decimals=3),
            main=False,
        )


def _texts(inputs: ReportInputs) -> Iterator[NamedTable]:
    table = readability_table(inputs)
    if table:
        unreadable = len(unreadable_texts(inputs)) > 0
        yield NamedTable("texts", "How the tokenizers split the text", READABILITY_NOTE, table, main=unreadable)


def _verdicts(shapes: pl.DataFrame) -> Iterator[NamedTable]:
    """First align, then predict: the verdict on every curve, and what it rests on."""
    if shapes.is_empty():
        return
    labels = [name for name in ("model", "changes", "task", "seed", "when") if shapes[name].drop_nulls().n_unique() > 1]
    columns = ["source", "target", "index", "peak", "rise", "fall", "p", "control_bound", "verdict", "reason"]
    yield NamedTable(
        "first-align-then-predict",
        "First align, then predict: verdicts",
        "Yes: the curve rises to its peak and falls after it by at least 0.02, beyond sentence noise (p) and beyond "
        "the upper bound of untrained networks of the same architecture (untrained).",
        frame_table(shapes.select(*labels, *columns).rename({"control_bound": "untrained"}), decimals=3),
        main=False,
    )


def _correlations(inputs: ReportInputs, statistics: ReportStatistics) -> Iterator[NamedTable]:
    over_layers = statistics.correlations.filter(pl.col("layer").is_null())
    rows = with_published_rho(over_layers, inputs, statistics.main_metrics)
    if rows.is_empty():
        return
    distinct = [name for name in ("study", "model", "changes", "task", "source", "metric") if rows[name].n_unique() > 1]
    perfect = pl.col("value").abs() > PERFECT_CORRELATION  # interval and p would claim too much
    uncertainty = [pl.when(perfect).then(None).otherwise(pl.col(name)).alias(name) for name in ("low", "high", "p")]
    published = [PUBLISHED_RHO] if rows[PUBLISHED_RHO].count() else []
    shown = rows.select(*distinct, "index", "when", pl.col("value").alias("ρ"), *published, *uncertainty, "n", "note")
    shown = shown.drop([] if shown["note"].str.len_chars().sum() else ["note"])
    yield NamedTable(
        "gap-and-similarity",
        "Correlation of cross-lingual gap and similarity",
        "Spearman's ρ of the gap and the similarity averaged over layers, with its 95 % confidence interval; "
        "negative: the gap shrinks as similarity grows. n: languages. No interval for a perfect correlation."
        + (" The sign of the published ρ is unknown." if published else ""),
        with_mismatches(_with_small_p(frame_table(shown, decimals=3), shown), PUBLISHED_RHO, rows["mismatch"]),
        main=len(shown) <= MAX_OPEN_CORRELATIONS,
    )


def with_mismatches(table: Table, name: str, mismatches: Iterable[str | None]) -> Table:
    """The table with the reasons why the values of a column are not comparable."""
    if name not in table.head:
        return table
    column = table.head.index(name)
    body = (
        (*row[:column], replace(row[column], mismatch=mismatch or ""), *row[column + 1 :])
        for row, mismatch in zip(table.body, mismatches, strict=True)
    )
    return replace(table, body=tuple(body))


def _with_small_p(table: Table, frame: pl.DataFrame) -> Table:
    """p with two significant digits: rounded to thousandths, small values would look like 0."""
    column = frame.columns.index("p")
    body = (
        (*row[:column], Cell("" if p is None else f"{p:.2g}", number=True), *row[column + 1 :])
        for row, p in zip(table.body, frame["p"], strict=True)
    )
    return replace(table, body=tuple(body))


def _distances(inputs: ReportInputs) -> Iterator[NamedTable]:
    if len(inputs.distances.summary):
        yield NamedTable(
            "distances",
            "Distances of related and unrelated words",
            "Mean distances; overlap of the two histograms (0 to 1); separation: probability that a related pair is "
            "closer than an unrelated one; d′: difference of the means in standard deviations; top N: share of the "
            "squared distance of related words in the N dimensions with the largest differences.",
            frame_table(inputs.distances.table().rename({"d_prime": "d′"}), decimals=3),
        )


def _neurons(inputs: ReportInputs) -> Iterator[NamedTable]:
    """The neurons of each layer with the most and the least similar values across languages."""
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
        "languages, mean and minimum over the pairs.",
        frame_table(shown, decimals=3),
        main=False,
    )
