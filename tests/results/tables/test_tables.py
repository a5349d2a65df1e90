from __future__ import annotations

import polars as pl
import pytest
from result_rows import result_rows

from isogloss.core.errors import UsageError
from isogloss.results.comparisons.differences import differences, source_to_x
from isogloss.results.comparisons.published_values import with_published
from isogloss.results.rows.results import Results
from isogloss.results.tables.tables import Table, delta_table, frame_table, score_table

SCORES = {
    ("REF", "en"): [0.90, 0.92],
    ("REF", "fr"): [0.60, 0.64],
    ("1-2", "en"): [0.89, 0.92],
    ("1-2", "fr"): [0.40, 0.46],
    ("11-12", "en"): [0.91, 0.93],
    ("11-12", "fr"): [0.60, 0.64],
}
SEVERAL = {**SCORES, **{(change, "ru"): values for (change, target), values in SCORES.items() if target == "fr"}}
PUBLISHED = pl.DataFrame(
    [
        ("pos", "en", "en", "REF", "accuracy", 96.51),
        ("pos", "en", "X", "REF", "accuracy", 79.37),
        ("pos", "en", "X", "1-2", "accuracy", -8.94),
    ],
    schema=["task", "source", "target", "change", "metric", "value"],
    orient="row",
).with_columns(mismatch=pl.lit(""))


def texts(table: Table) -> list[list[str]]:
    return [list(table.head), *([table.line(cell) for cell in row] for row in table.body)]


def test_deltas_are_laid_out_as_in_the_paper() -> None:
    table = delta_table(source_to_x(result_rows(SEVERAL)))
    assert texts(table) == [
        ["source-target", "REF", "Δ 1-2", "Δ 11-12"],
        ["EN-EN", "91.00", "-0.50", "1.00"],
        ["EN-X", "62.00", "-19.00", "0.00"],
    ]
    assert [[cell.shade for cell in row[2:]] for row in table.body] == [
        ["below", "at-least-reference"],
        ["farthest-below", "at-least-reference"],
    ]
    assert table.legend["far-below"] == "≤ −2 points"


def test_what_tells_rows_apart_is_shown_and_nothing_else() -> None:
    rows = pl.concat([result_rows(SCORES), result_rows(SCORES, task="ner", metric="f1")])
    table = delta_table(differences(rows))
    assert table.head == ("task", "metric", "source-target", "REF", "Δ 1-2", "Δ 11-12")
    assert [cell.text for cell in table.body[2][:3]] == ["ner", "f1", "en-en"]
    assert len(table.body) == 4


def test_intervals_stand_in_brackets() -> None:
    cell = delta_table(differences(result_rows(SCORES)), intervals=True).body[1][2]
    assert cell.text == "-19.00 [-31.71, -6.29]"  # ± 12.706 · 0.01414 / √2


def test_a_cell_without_runs_stays_empty() -> None:
    rows = result_rows({key: values for key, values in SCORES.items() if key != ("11-12", "fr")})
    assert texts(delta_table(differences(rows)))[2] == ["en-fr", "62.00", "-19.00", ""]


def test_published_values_stand_beside_the_measured() -> None:
    frame = with_published(source_to_x(result_rows(SEVERAL)), PUBLISHED)
    assert frame["published"].to_list() == [None, None, pytest.approx(-0.0894), None]
    assert texts(delta_table(frame))[1:] == [
        ["EN-EN", "91.00 (96.51)", "-0.50", "1.00"],
        ["EN-X", "62.00 (79.37)", "-19.00 (-8.94)", "0.00"],
    ]


def test_published_values_must_be_whole_and_single() -> None:
    frame = source_to_x(result_rows(SEVERAL))
    with pytest.raises(UsageError, match="no metric"):
        with_published(frame, PUBLISHED.drop("metric"))
    with pytest.raises(UsageError, match="one value for each"):
        with_published(frame, pl.concat([PUBLISHED, PUBLISHED]))


def test_published_values_of_several_models() -> None:
    rows = pl.concat([result_rows(SCORES, model="a"), result_rows(SCORES, model="b")])
    values = [("a", "en", "REF", 80.0), ("b", "en", "REF", 70.0), ("b", "en", "1-2", -3.0)]
    published = pl.DataFrame(
        [("pos", "en", target, change, "accuracy", value, model) for model, target, change, value in values],
        schema=["task", "source", "target", "change", "metric", "value", "model"],
        orient="row",
    ).with_columns(mismatch=pl.lit(""))
    shown = texts(delta_table(with_published(differences(rows), published)))
    assert [row[:4] for row in shown[1:]] == [
        ["a", "en-en", "91.00 (80.00)", "-0.50"],
        ["a", "en-fr", "62.00", "-19.00"],
        ["b", "en-en", "91.00 (70.00)", "-0.50 (-3.00)"],
        ["b", "en-fr", "62.00", "-19.00"],
    ]
    with pytest.raises(UsageError, match="metric and model"):
        with_published(differences(rows), pl.concat([published, published]))


def test_scores_of_one_column_stand_beside_published_ones() -> None:
    rows = result_rows({key: value for key, value in SCORES.items() if key[0] == "REF"})
    scores = with_published(Results(rows).table().with_columns(change="changes"), PUBLISHED)
    assert texts(score_table(scores)) == [
        ["source-target", "mean", "sd", "gap to source test", "seeds"],
        ["en-en", "91.00 (96.51)", "1.41", "0.00", "2"],
        ["en-fr", "62.00", "2.83", "29.00", "2"],
    ]
    models = pl.concat([rows, rows.with_columns(model=pl.lit("other"))])
    assert score_table(Results(models).table()).head[:2] == ("model", "source-target")


def test_any_frame_is_a_table() -> None:
    frame = pl.DataFrame({"target": ["fr", None], "layer": [None, 3], "rho": [-0.001, 0.789], "rises": [True, False]})
    table = frame_table(frame)
    assert texts(table) == [["target", "layer", "rho", "rises"], ["fr", "", "0.00", "True"], ["", "3", "0.79", "False"]]
    assert [cell.number for cell in table.body[1]] == [False, True, True, False]
