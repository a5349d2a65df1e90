"""Published values stand beside what was measured, each where it belongs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from report_inputs import SCORES, small
from result_rows import curve_rows, result_rows

from isogloss.report.inputs import ReportInputs, with_run_columns
from isogloss.report.published import published_similarity
from isogloss.report.statistics import compute_statistics
from isogloss.report.tables import tables
from isogloss.results.rows.curves import Curves
from isogloss.results.rows.study_reader import read_published
from isogloss.results.rows.study_results import StudyResults

STUDIES = Path(__file__).parents[2] / "studies"
PLACE = {"task": "pos", "source": "en", "change": "REF"}


def shown(inputs: ReportInputs, name: str) -> list[dict[str, str]]:
    table = next(one.table for one in tables(inputs, compute_statistics(inputs)) if one.name == name)
    return [dict(zip(table.head, (cell.text for cell in row), strict=True)) for row in table.body]


def test_scores_of_a_study_of_one_column() -> None:
    rows = result_rows({key: values for key, values in SCORES.items() if key[0] == "REF"})
    published = pl.DataFrame([{**PLACE, "target": "fr", "metric": "accuracy", "value": 80.5, "mismatch": ""}])
    found = shown(ReportInputs("t", StudyResults(rows, published=published)), "scores-pos-accuracy")
    assert {row["target"]: row["published"] for row in found} == {"en": "", "fr": "80.50", "ug": "", "de": "", "ar": ""}
    assert found[1]["mean"] == "80.00"
    assert "published" not in shown(ReportInputs("t", StudyResults(rows)), "scores-pos-accuracy")[0]


def test_each_model_has_its_own() -> None:
    rows = pl.concat([result_rows({("REF", "fr"): [0.7]}, model=model) for model in ("post", "pre")])
    facts = {**PLACE, "target": "fr", "metric": "accuracy"}
    published = pl.DataFrame([{**facts, "model": "post", "value": 72.0}, {**facts, "model": "pre", "value": 65.0}])
    found = shown(ReportInputs("t", StudyResults(rows, published=published)), "scores-pos-accuracy")
    assert [(row["model"], row["published"]) for row in found] == [("post", "72.00"), ("pre", "65.00")]


def with_values(*values: dict[str, object]) -> ReportInputs:
    inputs = small()
    published = pl.DataFrame([{**PLACE, **one} for one in values], infer_schema_length=None)
    return replace(inputs, results=replace(inputs.results, published=published))


def test_strength_of_correlations() -> None:
    value = {"target": "X", "metric": "spearman before", "value": 0.82}
    found = shown(with_values(value), "gap-and-similarity")
    told = {row["interventions"]: (row["index"], row["ρ"], row["published |ρ|"]) for row in found}
    assert told == {"REF": ("cka", "-1.000", "0.820"), "1-2": ("cka", "-0.800", "")}
    assert "published |ρ|" not in shown(with_values({**value, "metric": "spearman after"}), "gap-and-similarity")[0]


def test_similarity_of_single_layers() -> None:
    curves = with_run_columns(curve_rows({"fr": [0.5, 0.9], "ug": [0.1, 0.2]}))
    named = curves.with_columns(task=pl.lit("pos"), changes=pl.lit("REF"), when=pl.lit("after"))
    value = {"target": "fr", "metric": "cka layer 1 after", "value": 78.1}
    inputs = with_values(value)
    inputs = replace(inputs, results=replace(inputs.results, curves=Curves(named)))
    (row,) = published_similarity(inputs).to_dicts()
    assert (row["target"], row["layer"], row["value"], row["published"]) == ("fr", 1, 0.9, pytest.approx(0.781))
    (told,) = shown(inputs, "similarity-published")
    assert (told["value"], told["published"]) == ("0.900", "0.781")


def test_a_small_p_is_not_nothing() -> None:
    names = ["ar", "bg", "de", "es", "fi", "fr", "hi", "it", "ja", "ru", "tr", "zh"]
    rows = result_rows({("REF", name): [0.9 - i / 40] for i, name in enumerate(["en", *names])})
    curves = curve_rows({name: [0.95 - i / 20 - (0.06 if name == "de" else 0)] for i, name in enumerate(names)})
    (row,) = shown(ReportInputs("t", StudyResults(rows, curves=Curves(with_run_columns(curves)))), "gap-and-similarity")
    assert 0 < float(row["p"]) < 1e-4


@pytest.mark.parametrize("name", ["anc/table-1", "first-align/figures-1-3-4-5"])
def test_what_the_study_files_publish_is_found(name: str) -> None:
    """Every line of the files has a form that is looked for: a score, a correlation or a layer's similarity."""
    published = read_published(STUDIES / f"{name}.published.csv")
    known = r"^(accuracy|las|uas|f1|spearman (before|after)|\S+ layer \d+ (before|after))$"
    assert published["metric"].str.contains(known).all()
