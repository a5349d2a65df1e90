"""One definition of significance: the sentence, the cell and the columns of one number always agree."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from result_rows import result_rows
from scipy import stats

from isogloss.report.findings import findings
from isogloss.report.inputs import ReportInputs
from isogloss.report.statistics import compute_statistics
from isogloss.report.tables import tables
from isogloss.results.comparisons.differences import differences
from isogloss.results.comparisons.marks import FAMILY, with_marks
from isogloss.results.rows.results import Results
from isogloss.results.rows.study_results import StudyResults

TARGETS = ["en", "fr", "ru", "tr", "zh", "ar"]
CONDITIONS = ["REF", "1-2", "11-12"]


def random_rows(seed: int, seeds: int = 4) -> pl.DataFrame:
    """Effects between none and clear; a change of all seeds by the same amount would have no test."""
    generator = np.random.default_rng(seed)
    base = {target: generator.uniform(0.3, 0.9) for target in TARGETS}
    cells = [(change, target) for change in CONDITIONS for target in TARGETS]
    effect = {cell: generator.choice([0, 0.003, 0.03, 0.1]) * generator.choice([-1, 1]) for cell in cells}
    return result_rows(
        {
            (c, t): [base[t] + (effect[c, t] if c != "REF" else 0) + generator.normal(0, 0.004) for _ in range(seeds)]
            for c in CONDITIONS
            for t in TARGETS
        }
    )


def holm_by_definition(p: list[float]) -> list[float]:
    """Holm (1979): reject the smallest p at α / m, the next at α / (m − 1) …; the smallest α that rejects each."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    corrected, largest = [0.0] * len(p), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - rank) * p[i]))
        corrected[i] = largest
    return corrected


def expected_significance(rows: pl.DataFrame) -> dict[tuple[str, str], str]:
    """Stars by condition and target, by scipy and by hand, with one family for the targets and their mean X."""
    by_cell = {key: group.sort("seed")["value"].to_numpy() for key, group in rows.group_by("changes", "target")}
    for change in CONDITIONS:
        by_cell[change, "X"] = np.mean([by_cell[change, target] for target in TARGETS if target != "en"], axis=0)
    keys = [(change, target) for change in CONDITIONS[1:] for target in [*TARGETS, "X"]]
    tests = [stats.ttest_rel(by_cell[change, target], by_cell["REF", target]) for change, target in keys]
    corrected = holm_by_definition([test.pvalue for test in tests])
    intervals = [test.confidence_interval(0.95) for test in tests]
    sure = [p < 0.05 and (i.low > 0 or i.high < 0) for p, i in zip(corrected, intervals, strict=True)]
    return {
        key: "*" * sum(p < level for level in (0.05, 0.01, 0.001)) if yes else ""
        for key, p, yes in zip(keys, corrected, sure, strict=True)
    }


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000))
def test_sentences_and_cells_agree_with_one_family(seed: int) -> None:
    rows = random_rows(seed)
    expected = expected_significance(rows)
    inputs = ReportInputs("t", StudyResults(rows))
    statistics = compute_statistics(inputs)
    table = next(named.table for named in tables(inputs, statistics) if named.name == "differences-pos-accuracy")
    cells = {
        (head.removeprefix("Δ "), row[0].text.removeprefix("en-")): cell.text.partition(" ")[0]
        for row in table.body
        for head, cell in zip(table.head[2:], row[2:], strict=True)
    }
    assert {key: text.lstrip("-0123456789.") for key, text in cells.items()} == expected
    text = " ".join(findings(inputs, statistics)["Effect of interventions"])
    for change in CONDITIONS[1:]:
        sentence = re.search(rf"pos from en, {change}: (.*?)\.(?: |$)(?=pos|$)", text)
        assert sentence
        others = {target for target in TARGETS[1:] if expected[change, target]}
        counts = [int(number) for number in re.findall(r"significantly (?:worse|better) on (\d) of 5", sentence[1])]
        assert sum(counts) == len(others)
        assert ("(not significant)" in sentence[1]) == (not expected[change, "en"])
    by_python = {(row["change"], row["target"]): row["stars"] for row in Results(rows).deltas().iter_rows(named=True)}
    assert by_python.items() <= expected.items()
    paper = {(row["change"], row["target"]): row["stars"] for row in Results(rows).source_to_x().iter_rows(named=True)}
    assert paper.items() <= expected.items()


def test_a_family_is_an_experiment_and_a_metric() -> None:
    rows = random_rows(3)
    alone = differences(rows)
    other = rows.with_columns(metric=pl.lit("las"), value=pl.col("value") / 2)
    both = differences(pl.concat([rows, other]))
    assert both.filter(metric="accuracy")["holm"].to_list() == alone["holm"].to_list()
    assert alone.group_by(FAMILY).len()["len"].to_list() == [2 * 7]


@settings(max_examples=50)
@given(st.lists(st.one_of(st.none(), st.floats(1e-6, 1)), min_size=1, max_size=20))
def test_holm_is_that_of_the_definition(p: list[float | None]) -> None:
    found = with_marks(pl.DataFrame({"p": p, "low": 0.1, "high": 0.2}, schema_overrides={"p": pl.Float64}), family=())
    expected = iter(holm_by_definition([value for value in p if value is not None]))
    assert found["holm"].to_list() == [None if value is None else pytest.approx(next(expected)) for value in p]
    assert found["significant"].to_list() == [value is not None and value < 0.05 for value in found["holm"]]
