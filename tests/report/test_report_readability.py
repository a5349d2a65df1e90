"""Text that a model cannot read, in a report: named, and left out of what is concluded."""

from __future__ import annotations

import polars as pl
from result_rows import curve_rows, result_rows

from isogloss.report.findings import findings
from isogloss.report.inputs import inputs_from_results
from isogloss.report.readability import UNREADABLE_TITLE
from isogloss.report.statistics import compute_statistics
from isogloss.report.tables import tables
from isogloss.results.rows.curves import TEXT_COLUMNS, Curves
from isogloss.results.rows.results import Results

READABLE = {"unknown": 0.01, "byte_pieces": 0.0, "characters_per_token": 3.0, "bytes_per_token": 3.5, "readable": True}
UNREADABLE = {**READABLE, "unknown": 0.72, "readable": False}
SIMILARITIES = {"fr": [0.5, 0.9], "de": [0.5, 0.8], "ru": [0.5, 0.7], "th": [0.5, 0.1]}


def scores() -> pl.DataFrame:
    readable = {("REF", "en"): [0.9], ("REF", "fr"): [0.8], ("REF", "de"): [0.7], ("REF", "ru"): [0.6]}
    return pl.concat([result_rows(readable, **READABLE), result_rows({("REF", "th"): [0.2]}, **UNREADABLE)])


def test_unreadable_text_is_named_and_left_out_of_the_findings() -> None:
    texts = [{"model": "bert", "language": lang, **(UNREADABLE if lang == "th" else READABLE)} for lang in SIMILARITIES]
    rows = scores().with_columns(run=pl.lit("one run"))
    curves = Curves(curve_rows(SIMILARITIES), texts=pl.DataFrame(texts, schema=TEXT_COLUMNS))
    inputs = inputs_from_results(Results(rows), curves, title="t")
    statistics = compute_statistics(inputs)
    topics = findings(inputs, statistics)
    (sentence,) = topics[UNREADABLE_TITLE]
    assert sentence.startswith("th for bert: 72 % of the tokens are unknown.")
    assert "transliterate it" in sentence
    (transfer,) = topics["Transfer"]
    assert "accuracy 70.0 on 3 other languages (mean)" in transfer
    assert "lowest on ru (60.0)" in transfer
    assert "highest at layer 1 (0.80, mean over 3 languages)" in topics["Similarity of languages"][0]
    assert set(statistics.correlations["n"]) <= {3}
    (table,) = [named for named in tables(inputs, statistics) if named.name == "texts"]
    assert table.main
    assert [cell.text for cell in table.table.body[0]] == ["th", "72.0 %", "0.0 %", "3.00", "3.50", "no"]


def test_readable_text_is_a_folded_table() -> None:
    inputs = inputs_from_results(Results(scores().filter(pl.col("readable"))), title="t")
    statistics = compute_statistics(inputs)
    assert UNREADABLE_TITLE not in findings(inputs, statistics)
    (table,) = [named for named in tables(inputs, statistics) if named.name == "texts"]
    assert not table.main


def test_rows_of_older_versions_have_no_such_table() -> None:
    rows = result_rows({("REF", "en"): [0.9], ("REF", "fr"): [0.8]})
    inputs = inputs_from_results(Results(rows), title="t")
    assert not [named for named in tables(inputs, compute_statistics(inputs)) if named.name == "texts"]
