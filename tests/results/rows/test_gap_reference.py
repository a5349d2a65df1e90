"""A gap says what it is the difference to: the test set of the source language, or its dev set."""

from __future__ import annotations

import polars as pl
import pytest
from result_rows import curve_rows, result_rows

from isogloss.report.export import figures
from isogloss.report.inputs import ReportInputs, with_run_columns
from isogloss.report.statistics import compute_statistics
from isogloss.report.tables import tables
from isogloss.results.rows.curves import Curves
from isogloss.results.rows.results import Results
from isogloss.results.rows.study_results import StudyResults

OTHERS = {("REF", "fr"): [0.7], ("REF", "ru"): [0.6], ("REF", "tr"): [0.5], ("REF", "zh"): [0.4]}


def rows_with(split: str, model: str = "bert") -> pl.DataFrame:
    """The source was scored at 0.9 on its test set, or at 0.95 on its dev set only."""
    value = {"test": 0.9, "dev": 0.95}[split]
    tests = result_rows({**OTHERS, ("REF", "en"): [value]}, model=model)
    source = pl.col("target") == "en"
    return tests.with_columns(split=pl.when(source).then(pl.lit(split)).otherwise("split"))


def report_of(rows: pl.DataFrame) -> ReportInputs:
    curves = curve_rows({target: [0.1 * i] for i, (_, target) in enumerate(OTHERS, 1)})
    return ReportInputs("t", StudyResults(rows, curves=Curves(with_run_columns(curves))))


@pytest.mark.parametrize(("split", "gap"), [("test", 0.2), ("dev", 0.25)])
def test_everything_names_the_set(split: str, gap: float) -> None:
    rows = rows_with(split)
    french = Results(rows).gap().filter(target="fr").row(0, named=True)
    assert (french["gap"], french["gap_to"]) == (pytest.approx(gap), split)
    heading = f"gap to source {split}"
    assert heading in StudyResults(rows).paper_table().head
    about = report_of(rows)
    statistics = compute_statistics(about)
    scores = next(named.table for named in tables(about, statistics) if named.name == "scores-pos-accuracy")
    assert heading in scores.head
    figure = next(spec for name, spec in figures(about, statistics) if name.startswith("gap"))
    assert figure["encoding"]["y"]["title"] == f"{heading} (points)"


def test_different_sets_are_named_in_each_row() -> None:
    rows = pl.concat([rows_with("test"), rows_with("dev", model="other")])
    table = StudyResults(rows).paper_table()
    column = table.head.index("gap to source")
    assert "gap" in table.head
    assert {(row[0].text, row[column].text) for row in table.body} == {("bert", "test"), ("other", "dev")}
