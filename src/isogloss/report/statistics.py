"""The statistics of a report, computed once: differences to the reference, means over targets, correlations.

What cannot be computed (for example the mean over targets of an unfinished study) is omitted and explained in `notes`.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from isogloss.analysis.gap_similarity import CORRELATION_COLUMNS, gap_similarity
from isogloss.core.errors import UsageError
from isogloss.report.inputs import ReportInputs
from isogloss.results.comparisons.differences import DIFFERENCE_COLUMNS, noted_differences
from isogloss.results.comparisons.published_values import with_published
from isogloss.results.comparisons.transfer_means import OTHER_TARGETS

MAX_EXAMPLE_TESTS = 5000  # pairs of run and target; with more, tests over examples would take hours
PERFECT_CORRELATION = 1 - 1e-9  # |ρ|, up to rounding


@dataclass(frozen=True)
class ReportStatistics:
    """`scores`: mean, standard deviation and gap of every experiment and target. `deltas` and `means`: differences of
    single targets and of the mean over languages, with published values. `correlations`: of gap and similarity."""

    scores: pl.DataFrame
    deltas: pl.DataFrame
    means: pl.DataFrame
    correlations: pl.DataFrame
    notes: tuple[str, ...]

    @property
    def main_metrics(self) -> dict[str, str]:
        """The main metric of each task: its first."""
        return dict(self.scores.select("task", "metric").unique("task", keep="first", maintain_order=True).iter_rows())

    @property
    def deltas_and_means(self) -> pl.DataFrame:
        """The differences on the source, then on the mean over targets, then on single targets."""
        target = pl.col("target")
        rank = pl.when(target == pl.col("source")).then(0).when(target == OTHER_TARGETS).then(1).otherwise(2)
        joined = pl.concat([self.deltas, self.means], how="diagonal")
        return joined.with_columns(rank=rank).sort("rank", maintain_order=True).drop("rank")


def compute_statistics(inputs: ReportInputs) -> ReportStatistics:
    notes: list[str] = []
    results, reference = inputs.results, inputs.reference
    compared = pl.DataFrame(schema=DIFFERENCE_COLUMNS)
    if reference is not None:
        test_examples = results.tests.select("run", "target").n_unique() <= MAX_EXAMPLE_TESTS
        if not test_examples and results.predictions.collect_schema():
            notes.append("There are too many runs for tests over examples: all tests are over seeds.")
        predictions = results.predictions if test_examples else None
        compared, missing = noted_differences(results.frame, predictions, reference=reference)
        notes += missing
    compared = _with_published(compared, inputs)
    is_mean = pl.col("target") == OTHER_TARGETS
    single, means = compared.filter(~is_mean), compared.filter(is_mean)
    return ReportStatistics(results.table(), single, means, _correlations(inputs, notes), tuple(notes))


def _with_published(frame: pl.DataFrame, inputs: ReportInputs) -> pl.DataFrame:
    published = inputs.results.published
    return frame if published is None else with_published(frame, published, reference=inputs.results.reference)


def _correlations(inputs: ReportInputs, notes: list[str]) -> pl.DataFrame:
    """Gap and similarity over the languages of each experiment that has both."""
    curves, rows = inputs.results.curves.frame, inputs.results.frame
    empty = pl.DataFrame(schema=CORRELATION_COLUMNS)
    if curves.is_empty() or rows.is_empty():
        return empty
    try:
        return gap_similarity(
            rows.filter(pl.col("readable").fill_null(True)), curves.with_columns(pl.col("when").fill_null("before"))
        )
    except UsageError as error:
        notes.append(f"The correlation of gap and similarity is missing: {error}.")
        return empty
