"""Differences to the reference condition, paired by seed, with intervals and significance tests.

The interval is Student's over the differences of the seeds: how far would other seeds move the mean? The test answers
another question. With several seeds and predictions for the same examples: would the difference hold with other seeds
and on other examples (`metrics.crossed`)? With one seed: on other examples (`example_tests`)? Without predictions: with
other seeds? Each p is for one cell; `marks` corrects for multiple comparisons and says what is significant.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.metrics.significance import Comparison, paired_t_test
from isogloss.results.comparisons.example_tests import ExampleCounts, example_counts, example_test, seeds_and_examples
from isogloss.results.rows.results import Schema, with_scorer_names

REFERENCE = "REF"
CROSSED = "crossed"
UNCHANGED = ""  # `changes` of a model without interventions in the results of `transfer`
TESTS = (CROSSED, "published")
CELL = ["study", "model", "task", "source", "target", "metric", "scorer"]
DELTA_COLUMNS: Schema = {
    **dict.fromkeys([*CELL, "change"], pl.String),
    **dict.fromkeys(["reference", "mean", "delta", "low", "high", "p"], pl.Float64),
    "test": pl.String,
    **dict.fromkeys(["seeds", "n"], pl.Int64),
}


class _PairedSeeds(NamedTuple):
    """Values, runs and test set sizes of one cell and condition, and those of the reference, by seed."""

    reference_values: list[float]
    values: list[float]
    reference_runs: list[str]
    runs: list[str]
    reference_n: list[int]
    n: list[int]


def deltas(
    rows: pl.DataFrame,
    predictions: pl.LazyFrame | None = None,
    *,
    reference: str = REFERENCE,
    confidence: float = 0.95,
    test: str = CROSSED,
) -> pl.DataFrame:
    """One row per cell and condition: means over the common seeds, their difference, interval and test.

    `rows` are result rows, of which the test sets count; scores stay between 0 and 1. With one seed there is no
    interval; without a reference for a cell (in an unfinished study) there is no difference.
    `test`: "published" is the test of the authors of cross-lingual adjustment, which does not treat seeds as a sample:
    it averages over them, or treats each seed's answer as another example, so that its p is too small if seeds differ.
    """
    check_name(test, TESTS, "test")
    scores = score_rows(rows)
    name = reference_change(scores["changes"], reference)
    baseline = scores.filter(pl.col("changes") == name).select(
        *CELL, "seed", reference_values="value", reference_runs="run", reference_n="n"
    )
    changed = scores.filter(pl.col("changes") != name).rename({"value": "values", "run": "runs"})
    paired = changed.join(baseline, on=[*CELL, "seed"], how="left", maintain_order="left")
    counts = _counts(predictions, paired)
    common = pl.col("reference_values").is_not_null().sort_by("seed")
    by_seed = [pl.col(column).sort_by("seed").filter(common) for column in _PairedSeeds._fields]
    cells = paired.group_by([*CELL, "changes"], maintain_order=True).agg(*by_seed).rename({"changes": "change"})
    compared = [
        {**cell, **_compare(cell, _PairedSeeds(*seeds), counts, confidence, test)}
        for cell, seeds in zip(cells[:, : len(CELL) + 1].to_dicts(), cells[:, len(CELL) + 1 :].iter_rows(), strict=True)
    ]
    return pl.DataFrame(compared, schema=DELTA_COLUMNS)


def score_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """The distinct rows of the test sets; two scores of one cell and seed are an error."""
    scores = with_scorer_names(rows).filter(pl.col("split") == "test").unique(maintain_order=True)
    duplicates = scores.filter(scores.select(*CELL, "changes", "seed").is_duplicated())
    if not duplicates.is_empty():
        first = duplicates.row(0, named=True)
        raise UsageError(
            f"two scores of {first['metric']} on {first['target']} by one experiment, seed {first['seed']}"
            f" (changes '{first['changes']}'): select the runs of one setting, or give each setting its own study name"
        )
    return scores


def reference_change(changes: Iterable[str], reference: str) -> str:
    """The name of the reference in the rows: outside of studies, the unchanged model has the name "".

    >>> reference_change(["REF", "1-2"], "REF"), reference_change(["", "reinit('1-2')"], "REF")
    ('REF', '')
    """
    names = list(dict.fromkeys(changes))
    if reference == REFERENCE and reference not in names and UNCHANGED in names:
        return UNCHANGED
    return check_name(reference, names, "condition")


def _counts(predictions: pl.LazyFrame | None, paired: pl.DataFrame) -> dict[str, ExampleCounts]:
    """The counts per example of every metric, for the compared runs."""
    if predictions is None or not predictions.collect_schema():
        return {}
    runs = pl.concat([paired["runs"], paired["reference_runs"]]).drop_nulls().unique().to_list()
    return {metric: example_counts(predictions, metric, runs) for metric in paired["metric"].unique()}


def _compare(
    cell: Mapping[str, str], seeds: _PairedSeeds, counts: Mapping[str, ExampleCounts], confidence: float, test: str
) -> dict[str, float | int | str | None]:
    """Means, difference, interval and test of one cell and condition."""
    baseline, values = seeds.reference_values, seeds.values
    if not values:
        return {"seeds": 0}
    if seeds.n != seeds.reference_n:
        sizes = f"the reference was scored on {_listed(seeds.reference_n)} items, '{cell['change']}' on"
        raise UsageError(f"{cell['target']}: {sizes} {_listed(seeds.n)}; expected the same test set")
    over_seeds = paired_t_test(baseline, values, confidence) if len(values) > 1 else None
    by_example = counts.get(cell["metric"], {})
    sides = [[by_example.get((run, cell["target"])) for run in runs] for runs in (seeds.reference_runs, seeds.runs)]
    p, name = _test_over_examples(cell["metric"], sides, test) or _test_over_seeds(over_seeds)
    before, after = sum(baseline) / len(baseline), sum(values) / len(values)
    return {
        "reference": before,
        "mean": after,
        "delta": after - before,
        "low": over_seeds.low if over_seeds else None,
        "high": over_seeds.high if over_seeds else None,
        "p": p,
        "test": name,
        "seeds": len(values),
        "n": seeds.n[0],
    }


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, sorted(set(numbers))))


def _test_over_examples(metric: str, sides: list[list[pl.DataFrame | None]], test: str) -> tuple[float, str] | None:
    """p and the name of the test, as returned by `example_test`; None without predictions."""
    if test == CROSSED and len(sides[0]) > 1:
        with contextlib.suppress(UsageError):  # without one of the examples the score may be undefined
            compared = seeds_and_examples(metric, *sides)
            return (compared.p, "t over seeds and examples") if compared else None
    return example_test(metric, *sides, refined=test == CROSSED)


def _test_over_seeds(compared: Comparison | None) -> tuple[float | None, str | None]:
    """p of the t-test; None for one seed, and if all seeds differ by the same amount: t would be infinite."""
    if compared is None or (compared.difference and compared.high - compared.low < 1e-9 * abs(compared.difference)):
        return None, None
    return compared.p, "t over seeds"
