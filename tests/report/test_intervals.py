"""A value without an interval shows none: neither bounds that equal the value, nor a band."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from report_inputs import small
from result_rows import curve_rows, result_rows

from isogloss.report.chart_data import chart_data
from isogloss.report.export import figures
from isogloss.report.inputs import ReportInputs, with_run_columns
from isogloss.report.statistics import compute_statistics
from isogloss.results.figures.curves import curve_chart
from isogloss.results.rows.curves import Curves
from isogloss.results.rows.study_results import StudyResults
from isogloss.studies.schema.study_file import study_of

LAYERS = {"fr": [0.5, 0.9, 0.7], "ru": [0.2, 0.3, 0.1]}


def inputs(intervals: bool) -> ReportInputs:
    frame = curve_rows(LAYERS)
    bound = pl.col("value") if intervals else pl.lit(None, pl.Float64)
    frame = frame.with_columns(low=bound - 0.05, high=bound + 0.05)
    rows = result_rows({("REF", "en"): [0.9], ("REF", "fr"): [0.7], ("REF", "ru"): [0.6]})
    return ReportInputs("t", StudyResults(rows, curves=Curves(with_run_columns(frame))))


def curve_figure(about: ReportInputs) -> dict[str, Any]:
    return next(spec for name, spec in figures(about, compute_statistics(about)) if name.startswith("similarity"))


@pytest.mark.parametrize("intervals", [True, False])
def test_bounds_are_there_where_they_were_measured(intervals: bool) -> None:
    about = inputs(intervals)
    (series,) = chart_data(about, compute_statistics(about).scores)["curves"]
    assert ("low" in series) == intervals
    figure = curve_figure(about)
    assert all(("low" in row) == ("high" in row) == intervals for row in figure["datasets"]["rows"])
    assert ("interval" in [layer.get("name") for layer in figure["layer"]]) == intervals
    chart = curve_chart(about.results.curves.frame, ["cka"], ["model"], True).to_dict()
    shown = [field["field"] for layer in chart["concat"][0]["layer"] for field in layer["encoding"]["tooltip"]]
    assert ("low" in shown) == intervals
    assert ("area" in [layer["mark"]["type"] for layer in chart["concat"][0]["layer"]]) == intervals


def test_one_seed_has_no_standard_deviation() -> None:
    about = inputs(False)
    scores = next(spec for name, spec in figures(about, compute_statistics(about)) if name.startswith("scores"))
    assert all("low" not in row for row in scores["datasets"]["rows"])
    several = next(spec for name, spec in figures(small(), compute_statistics(small())) if name.startswith("scores"))
    assert all(row["low"] < row["score"] < row["high"] for row in several["datasets"]["rows"])


def test_studies_measure_intervals_by_default() -> None:
    data = {
        "name": "s",
        "models": "laboratory",
        "measure": {"parallel": "lab:qla,qlb/test/9", "source": "qla", "when": ["before"]},
    }
    study = study_of(data)
    assert study.measure is not None
    assert study.measure.bootstrap == 100
