"""What a change costs: each cell's difference to the reference run, paired by seed.

The interval is Student's over the seeds' differences: how far would other seeds move the mean? The test asks
another question. Where several seeds have answered the same examples it is whether the difference would hold with
other seeds and on other examples (`metrics.crossed`); of one seed, on other examples (`example_tests`); without
predictions, with other seeds. Each p is that of one cell: `metrics.significance.holm` corrects for many.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.metrics.significance import Comparison, paired_t_test
from isogloss.results.comparisons.example_tests import ExampleCounts, example_counts, example_test, seeds_and_examples

REFERENCE = "REF"
UNCHANGED = ""  # what `transfer` calls a model without changes
CROSSED, PUBLISHED = TESTS = ("crossed", "published")
CELL = ["study", "model", "task", "source", "target", "metric"]
PAIRED = ["home", "value", "home_run", "run", "home_n", "n"]  # by seed, of the reference and of the change
DELTA_COLUMNS = {
    **dict.fromkeys([*CELL, "change"], pl.String),
    "reference": pl.Float64,
    "mean": pl.Float64,
    "delta": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p": pl.Float64,
    "test": pl.String,
    "stars": pl.String,
    "seeds": pl.Int64,
    "n": pl.Int64,
}


def deltas(
    rows: pl.DataFrame,
    predictions: pl.LazyFrame | None = None,
    *,
    reference: str = REFERENCE,
    confidence: float = 0.95,
    test: str = CROSSED,
) -> pl.DataFrame:
    """One row per cell and change: means over the seeds that both have, their difference, interval and test.

    `rows` are result rows, of which the test sets count; scores stay what they are (0 to 1). With one seed there
    is no interval; without a reference for a cell (in an unfinished study) there is no difference either.
    `test`: "published" is that of the authors of cross-lingual adjustment, for which seeds are no sample: it averages
    over them, or takes each seed's answer for another example, so that its p is too small where seeds differ.
    """
    check_name(test, TESTS, "test")
    scores = score_rows(rows)
    name = reference_change(scores["changes"], reference)
    home = scores.filter(pl.col("changes") == name).select(*CELL, "seed", home="value", home_run="run", home_n="n")
    changed = scores.filter(pl.col("changes") != name)
    paired = changed.join(home, on=[*CELL, "seed"], how="left", maintain_order="left")
    counts = _counts(predictions, paired)
    both = pl.col("home").is_not_null().sort_by("seed")
    by_seed = [pl.col(name).sort_by("seed").filter(both) for name in PAIRED]
    cells = paired.group_by([*CELL, "changes"], maintain_order=True).agg(*by_seed).rename({"changes": "change"})
    return pl.DataFrame([_compared(cell, counts, confidence, test) for cell in cells.to_dicts()], schema=DELTA_COLUMNS)


def score_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of the test sets by seed, each once; two scores of one cell and seed are an error."""
    scores = rows.filter(pl.col("split") == "test").unique(maintain_order=True)
    twice = scores.filter(scores.select(*CELL, "changes", "seed").is_duplicated())
    if not twice.is_empty():
        first = twice.row(0, named=True)
        raise UsageError(
            f"two scores of {first['metric']} on {first['target']} by one experiment, seed {first['seed']}"
            f" (change '{first['changes']}'): keep the runs of one setting, or name them as studies of their own"
        )
    return scores


def reference_change(changes: Iterable[str], reference: str) -> str:
    """The reference as the rows name it: the model without changes has no name outside of studies.

    >>> reference_change(["REF", "1-2"], "REF"), reference_change(["", "reinit('1-2')"], "REF")
    ('REF', '')
    """
    known = list(dict.fromkeys(changes))
    if reference == REFERENCE and reference not in known and UNCHANGED in known:
        return UNCHANGED
    return check_name(reference, known, "change")


def stars(p: float | None) -> str:
    """Three stars for p < .001, two for p < .01, one for p < .05.

    >>> stars(0.0005), stars(0.03), stars(0.2), stars(None)
    ('***', '*', '', '')
    """
    return "" if p is None else "*" * sum(p < level for level in (0.05, 0.01, 0.001))


def _counts(predictions: pl.LazyFrame | None, paired: pl.DataFrame) -> dict[str, ExampleCounts]:
    """The counts per example of every metric, for the runs that are compared."""
    if predictions is None or not predictions.collect_schema():
        return {}
    runs = pl.concat([paired["run"], paired["home_run"]]).drop_nulls().unique().to_list()
    return {metric: example_counts(predictions, metric, runs) for metric in paired["metric"].unique()}


def _compared(cell: dict[str, Any], counts: dict[str, ExampleCounts], confidence: float, test: str) -> dict[str, Any]:
    """One cell and change: the lists of its seeds, `PAIRED`, made into means, difference, interval and test."""
    home, value, home_runs, runs, home_n, n = (cell.pop(name) for name in PAIRED)
    if not value:
        return {**cell, "seeds": 0, "stars": ""}
    if n != home_n:
        scored = f"the reference was scored on {_listed(home_n)} items, '{cell['change']}' on {_listed(n)}"
        raise UsageError(f"{cell['target']}: {scored}; expected one test set")
    over_seeds = paired_t_test(home, value, confidence) if len(value) > 1 else None
    by_example = counts.get(cell["metric"], {})
    sides = [[by_example.get((run, cell["target"])) for run in side] for side in (home_runs, runs)]
    p, name = _test_over_examples(cell["metric"], sides, test) or _test_over_seeds(over_seeds)
    before, after = sum(home) / len(home), sum(value) / len(value)
    return {
        **cell,
        "reference": before,
        "mean": after,
        "delta": after - before,
        "low": over_seeds.low if over_seeds else None,
        "high": over_seeds.high if over_seeds else None,
        "p": p,
        "test": name,
        "stars": stars(p),
        "seeds": len(value),
        "n": n[0],
    }


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, sorted(set(numbers))))


def _test_over_examples(metric: str, sides: list[list[pl.DataFrame | None]], test: str) -> tuple[float, str] | None:
    """p and the name of the test, as `example_test` gives them; None where predictions lack."""
    if test == CROSSED and len(sides[0]) > 1:
        with contextlib.suppress(UsageError):  # without one of the examples there may be no score
            found = seeds_and_examples(metric, *sides)
            return (found.p, "t over seeds and examples") if found else None
    return example_test(metric, *sides)


def _test_over_seeds(compared: Comparison | None) -> tuple[float | None, str | None]:
    """p of the t-test; none for one seed, nor where all seeds differ by the same amount: its t would be infinite."""
    if compared is None or (compared.difference and compared.high - compared.low < 1e-9 * abs(compared.difference)):
        return None, None
    return compared.p, "t over seeds"
