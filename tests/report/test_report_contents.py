"""Findings, tables, series, examples and markup: what stands on the page, before there is one."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_inputs import LONG, SCORES, SCRIPT, hostile, prediction, small
from result_rows import curve_rows, result_rows

from isogloss.report.assets import vega_script
from isogloss.report.chart_data import chart_data
from isogloss.report.examples import MAX_ITEMS, MAX_WORD_CHARACTERS, MAX_WORDS, examples
from isogloss.report.findings import MAX_SENTENCES, findings
from isogloss.report.inputs import ReportInputs, inputs_from_results
from isogloss.report.page import page
from isogloss.report.statistics import compute_statistics
from isogloss.report.tables import NamedTable, tables
from isogloss.report.templating import environment, script_json, shorten
from isogloss.results.comparisons.example_tests import with_item_scores
from isogloss.results.comparisons.marks import with_marks
from isogloss.results.rows.curves import SHAPE_COLUMNS, Curves
from isogloss.results.rows.results import Results
from isogloss.results.rows.study_results import StudyResults
from isogloss.results.tables.tables import Cell, Table


def table_html(table: Table, max_cells: int = 1200) -> str:
    macros = environment().get_template("macros.html").module
    return str(macros.noted_table(NamedTable("t", "t", "", table), max_cells))  # type: ignore[attr-defined]


def finding_text(inputs: ReportInputs) -> str:
    return "\n".join(sentence for part in findings(inputs, compute_statistics(inputs)).values() for sentence in part)


def without_predictions(rows: pl.DataFrame) -> ReportInputs:
    return inputs_from_results(Results(rows), title="t")


def test_findings_say_what_the_rows_say() -> None:
    text = finding_text(without_predictions(result_rows(SCORES)))
    assert "pos from en: accuracy 60.8 on 4 other languages (mean), 95.0 on en; lowest on ug (41.0)" in text
    # t over three seeds, corrected for five: only fr and ar and de are that steady
    assert "pos from en, 1-2: −14.8 points of accuracy on other languages (mean)" in text
    assert "; on en −0.7 (not significant)." in text


def test_significance_in_words_is_corrected() -> None:
    rows = result_rows({**SCORES, ("1-2", "fr"): [0.7801, 0.7899, 0.7702]})  # −2.0 in each seed
    inputs = without_predictions(rows)
    deltas = compute_statistics(inputs).deltas
    sure = set(deltas.filter(pl.col("holm") < 0.05, pl.col("high") < 0)["target"])
    assert sure
    named = re.search(r"significantly worse on (\d) of 4 \((.*?)\)", finding_text(inputs))
    assert named
    assert int(named[1]) == len(sure)
    assert {part.split()[0] for part in named[2].split(", ") if part != "…"} <= sure


def test_a_few_lucky_seeds_are_no_finding() -> None:
    frame = pl.DataFrame({"p": [0.001, 0.001, 0.001, 0.2, None], "low": [-0.1, 0.1, None, 0.1, 0.1], "high": 0.2})
    assert with_marks(frame, family=())["significant"].to_list() == [False, True, True, False, False]


def test_one_seed_is_not_tested() -> None:
    rows = result_rows({key: values[:1] for key, values in SCORES.items()})
    assert ", too few seeds for a test" in finding_text(without_predictions(rows))
    assert "significant" not in finding_text(without_predictions(rows)).replace("not significant", "")


def test_similarity_and_gap_are_told_with_their_layer() -> None:
    text = finding_text(small())
    assert "bert, cka with en, before fine-tuning: highest at layer 1 (0.62, mean over 4 languages)" in text
    assert "0.45 at the last layer (2)" in text
    assert "over 4 languages: cka −1.00" in text
    assert "4 languages are too few for a conclusion" in text
    assert "p = 0" not in text


def test_published_values_are_compared() -> None:
    assert "1 of 1 published differences to the reference have the same sign here" in finding_text(small())
    table = next(one for one in tables(small(), compute_statistics(small())) if one.name == "differences-pos-accuracy")
    row = next(row for row in table.table.body if row[0].text == "en-fr")
    assert (row[1].text, row[1].published, row[1].mismatch) == ("80.00", "80.50", "")
    assert (row[2].published, row[2].mismatch) == ("-19.00", "")
    assert row[2].shade == "farthest-below"


def test_many_findings_are_counted() -> None:
    rows = pl.concat([result_rows(SCORES, model=f"model {i}") for i in range(30)])
    found = findings(without_predictions(rows), compute_statistics(without_predictions(rows)))
    assert all(len(part) == MAX_SENTENCES + 1 for part in found.values())
    assert found["Transfer"][-1] == f"{30 - MAX_SENTENCES} more are in the tables."


def test_an_unfinished_study_is_told_as_far_as_it_goes() -> None:
    some = {key: values for key, values in SCORES.items() if key != ("1-2", "fr")}
    inputs = without_predictions(result_rows(some))
    assert "mean over languages is missing" in compute_statistics(inputs).notes[0]
    assert "The mean over languages is missing" in page(inputs)
    assert "no run has finished" in page(without_predictions(result_rows({})))


def test_curves_alone_make_a_report() -> None:
    rows = result_rows({})
    inputs = inputs_from_results(Results(rows), Curves(curve_rows({"fr": [0.1, 0.9]})), title="t")
    assert "highest at layer 1 (0.90, fr)" in page(inputs)
    assert 'id="errors"' not in page(inputs)


def test_verdicts_on_curves_are_in_findings_and_tables() -> None:
    verdicts = {"fr": ("yes", ""), "th": ("withheld", "72 % unknown tokens"), "ru": ("no", "flat")}
    shapes = [
        {"model": "bert", "source": "en", "target": target, "index": "cka", "peak": 1, "rise": 0.2, "fall": 0.1,
         "p": 0.01, "control_bound": 0.005, "verdict": verdict, "reason": reason}
        for target, (verdict, reason) in verdicts.items()
    ]  # fmt: skip
    curves = Curves(
        curve_rows({lang: [0.1, 0.3, 0.2] for lang in verdicts}), shapes=pl.DataFrame(shapes, SHAPE_COLUMNS)
    )
    inputs = inputs_from_results(Results(result_rows({})), curves, title="t")
    text = finding_text(inputs)
    assert "falls after it, more than untrained networks, for 1 of 3 languages; withheld for th; no for ru." in text
    by_name = {table.name: table.table for table in tables(inputs, compute_statistics(inputs))}
    assert [row[-1].text for row in by_name["similarity"].body] == ["yes", "withheld", "no"]
    assert [cell.text for cell in by_name["first-align-then-predict"].body[1]][-2:] == [
        "withheld",
        "72 % unknown tokens",
    ]
    assert "72 % unknown tokens" in page(inputs)


def test_holm_leaves_untested_cells_alone() -> None:
    rows = pl.DataFrame({name: ["a"] * 3 for name in ("study", "model", "task", "source", "metric")})
    found = with_marks(rows.with_columns(p=pl.Series([0.03, None, 0.01]), low=pl.lit(0.1), high=pl.lit(0.2)))
    assert found["holm"].to_list() == [0.03, None, 0.02]


def test_series_are_means_over_seeds_in_whole_numbers() -> None:
    data = chart_data(small(), compute_statistics(small()).scores)
    first = data["scores"][0]
    assert (first["changes"], [data["targets"][i] for i in first["target"]]) == ("REF", ["en", "fr", "ug", "de", "ar"])
    assert first["mean"] == [9500, 8000, 4100, 7100, 5100]
    assert first["gap"] == [0, 1500, 5400, 2400, 4400]
    (curve,) = data["curves"]
    assert curve["value"][0] == [500, 900, 700]
    assert "low" not in curve
    json.dumps(data, allow_nan=False)


def test_a_curve_without_some_layers_keeps_its_places() -> None:
    frame = curve_rows({"fr": [0.1, 0.2, 0.3], "de": [0.4, float("nan"), 0.6]})
    frame = frame.filter((pl.col("target") != "fr") | (pl.col("layer") != 1))
    inputs = inputs_from_results(Results(result_rows({})), Curves(frame), title="t")
    (curve,) = chart_data(inputs, compute_statistics(inputs).scores)["curves"]
    assert curve["layer"] == [0, 1, 2]
    assert curve["value"] == [[100, None, 300], [400, None, 600]]


def test_examples_are_the_worst_and_few() -> None:
    (found,) = examples(small(), compute_statistics(small()))
    assert found["conditions"] == ["REF", "1-2"], "the condition with the largest loss is shown with the reference"
    ug = next(one for one in found["targets"] if one["target"] == "ug")
    assert (ug["of"], ug["wrong"]) == (3, 2)
    assert [item["item"] for item in ug["items"]] == [2, 1]
    assert ug["items"][1]["scores"] == [0.75, 0.75]
    assert ug["items"][1]["words"][1] == "كىتاب"


def test_examples_are_bounded_whatever_a_corpus_holds() -> None:
    inputs = small()
    run = inputs.results.frame["run"][0]
    words, tags = [LONG] * 100, ["X"] * 100
    rows = [prediction(run, "fr", item, words, tags, ["Y"] * 100) for item in range(12)]
    long = replace(inputs, results=replace(inputs.results, predictions=pl.DataFrame(rows).lazy()))
    items = examples(long, compute_statistics(without_predictions(inputs.results.frame)))[0]["targets"][0]["items"]
    assert len(items) == MAX_ITEMS
    assert len(items[0]["words"]) == MAX_WORDS
    assert items[0]["more"] == 100 - MAX_WORDS
    assert max(map(len, items[0]["words"])) == MAX_WORD_CHARACTERS + 1


@pytest.mark.parametrize(
    ("gold", "found", "text", "expected"),
    [
        ("neutral", "entailment", {"premise": "p", "hypothesis": "h"}, ("neutral", ["entailment"])),
        ([4, 7, "The dog barks.", ["dog", "dog"], "en"], [0, 3], {"question": "Who?"}, ("dog", ["The"])),
        ([[2, "nsubj"], [0, "root"]], [[0, "root"], [1, "obj"]], ["a", "b"], ([[2, "nsubj"], [0, "root"]], None)),
    ],
)
def test_examples_of_every_task(gold: object, found: object, text: object, expected: tuple[object, object]) -> None:
    rows = result_rows({("REF", "fr"): [0.5]})
    facts = {"run": rows["run"][0], "target": "fr", "item": 0, "text": json.dumps(text)}
    item = {**facts, "gold": json.dumps(gold), "prediction": json.dumps(found)}
    inputs = ReportInputs("t", StudyResults(rows, pl.DataFrame([item]).lazy()))
    shown = examples(inputs, compute_statistics(inputs))[0]["targets"][0]["items"][0]
    assert shown["gold"] == expected[0]
    assert expected[1] is None or shown["predicted"] == expected[1]
    assert shown.get("text", {}).keys() >= set(text if isinstance(text, dict) else ())


def test_item_scores_follow_the_metric() -> None:
    rows = pl.DataFrame({"f1.gold": [2, 0], "f1.predicted": [2, 1], "f1.correct": [1, 0], "x.y": [1, 1]})
    assert with_item_scores(rows, "f1")["score"].to_list() == [0.5, 0.0]
    assert with_item_scores(rows, "x")["score"].to_list() == [None, None]


def test_long_tables_are_cut_and_say_so() -> None:
    table = Table(("a", "b"), tuple((Cell("x"), Cell(str(i), number=True)) for i in range(2000)))
    shown = table_html(table, 300)
    assert shown.count("<tr>") == 150 + 1
    assert "First 150 of 2,000 rows" in shown


def test_a_cell_shows_its_interval_and_the_published_value_below() -> None:
    cell = Cell("-1.20** [-1.50, -0.90]", number=True, shade="below", published="-1.33")
    shown = table_html(Table(("Δ",), ((cell,),), {"below": "< REF"}))
    assert '<td class="number below" data-value="-1.20">−1.20**<small>[−1.50, −0.90]</small><small>(−1.33)' in shown
    assert "&lt; REF" in shown


def test_a_layer_stands_beside_its_value() -> None:
    cell = Cell("0.69 (5)", number=True)
    shown = table_html(Table(("name", "best"), ((Cell("x"), cell),)))
    assert '<td class="number" data-value="0.69">0.69 (5)</td>' in shown
    assert shown.count('<th scope="col" aria-sort="none" class="number">') == 1


@settings(max_examples=200)
@given(st.text())
def test_no_text_is_read_as_markup(value: str) -> None:
    escaped = environment().from_string("{{ value|shorten(10**6) }}").render(value=value)
    assert not re.search(r"[<>\"']", escaped)
    assert html.unescape(escaped) == html.unescape(html.escape(value))
    assert shorten(value, 10**6) == value
    content = script_json({value: value})
    assert "<" not in content
    assert json.loads(content) == {value: value}


def test_hostile_names_stay_text() -> None:
    html_page = page(hostile()).replace(vega_script(), "")  # which has images of its own
    assert SCRIPT not in html_page
    assert "<img" not in html_page
    assert html_page.count("<script>") == 2, "the charts' script and the page's own"


def test_half_a_surrogate_pair_is_no_obstacle(tmp_path_factory: pytest.TempPathFactory) -> None:
    from isogloss.report.write_report import write_report

    rows = result_rows({("REF", "fr"): [0.5]})
    item = prediction(rows["run"][0], "fr", 0, ["\ud800"], ["X"], ["Y"])
    place = tmp_path_factory.mktemp("report") / "r.html"
    write_report(Results(rows, pl.DataFrame([item]).lazy()), place)
    place.read_text(encoding="utf-8")
