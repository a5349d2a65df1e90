"""All that a report computes, once: differences to the reference, means over targets, correlations.

What cannot be computed (a mean over targets of an unfinished study, say) is left out, and said in `notes`.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from isogloss.analysis.gap_similarity import CORRELATION_COLUMNS, gap_similarity
from isogloss.core.errors import UsageError
from isogloss.report.inputs import ReportInputs
from isogloss.results.comparisons.deltas import DELTA_COLUMNS, deltas
from isogloss.results.comparisons.holm import with_holm_correction
from isogloss.results.comparisons.transfer_means import OTHER_TARGETS, source_to_x
from isogloss.results.tables.tables import with_published

MANY = 5000  # pairs of run and target, above which tests are over seeds: those over examples would take hours
CELLS = {**DELTA_COLUMNS, "holm": pl.Float64}


@dataclass(frozen=True)
class ReportStatistics:
    """`scores`: mean, deviation and gap of every experiment and target. `deltas` and `means`: of single targets and of
    their mean, with Holm's correction and published values. `correlations`: of gap and similarity."""

    scores: pl.DataFrame
    deltas: pl.DataFrame
    means: pl.DataFrame
    correlations: pl.DataFrame
    notes: tuple[str, ...]

    @property
    def main_metrics(self) -> dict[str, str]:
        """The metric that each task is mostly read by: the first."""
        return dict(self.scores.select("task", "metric").unique("task", keep="first", maintain_order=True).iter_rows())


def compute_statistics(inputs: ReportInputs) -> ReportStatistics:
    notes: list[str] = []
    results, reference = inputs.results, inputs.reference
    costs, means = (pl.DataFrame(schema=CELLS), pl.DataFrame(schema=CELLS))
    if reference is not None:
        few = results.tests.select("run", "target").n_unique() <= MANY
        if not few and results.predictions.collect_schema():
            notes.append("There are too many runs for tests over examples: tests are over seeds.")
        predictions = results.predictions if few else None
        costs = _published(with_holm_correction(deltas(results.frame, predictions, reference=reference)), inputs)
        try:
            means = source_to_x(results.frame, predictions, reference=reference)
            means = _published(
                with_holm_correction(means.filter(pl.col("target") == OTHER_TARGETS).drop("pair")), inputs
            )
        except UsageError as error:
            notes.append(f"There is no mean over targets: {error}.")
    return ReportStatistics(results.table(), costs, means, _correlations(inputs, notes), tuple(notes))


def both(statistics: ReportStatistics) -> pl.DataFrame:
    """Differences of single targets with those of their mean right after the source's own."""
    place = (
        pl.when(pl.col("target") == pl.col("source"))
        .then(0)
        .when(pl.col("target") == OTHER_TARGETS)
        .then(1)
        .otherwise(2)
    )
    joined = pl.concat([statistics.deltas, statistics.means], how="diagonal")
    return joined.with_columns(place=place).sort("place", maintain_order=True).drop("place")


def _published(frame: pl.DataFrame, inputs: ReportInputs) -> pl.DataFrame:
    published, reference = inputs.results.published, inputs.results.reference
    return frame if published is None else with_published(frame, published, reference=reference)


def _correlations(inputs: ReportInputs, notes: list[str]) -> pl.DataFrame:
    """Gap and similarity over the languages of each experiment, where both are known."""
    curves, rows = inputs.results.curves.frame, inputs.results.frame
    nothing = pl.DataFrame(schema=CORRELATION_COLUMNS)
    if curves.is_empty() or rows.is_empty():
        return nothing
    measured = curves.with_columns(pl.col("when").fill_null("before"))
    try:
        return gap_similarity(rows, measured)
    except UsageError as error:
        notes.append(f"There is no correlation of gap and similarity: {error}.")
        return nothing
