"""Stars with the meaning of the paper, against scipy."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from result_rows import result_rows
from scipy import stats

from isogloss.core.errors import UsageError
from isogloss.results.rows.study_results import StudyResults

CONDITIONS = ["Original", "Adjusted", "Adjusted Continual"]
RATES = {  # the share of correct examples, by target
    "es": (0.5, 0.75, 0.9),
    "ru": (0.5, 0.52, 0.85),
    "hi": (0.4, 0.7, 0.71),
}


def results() -> tuple[StudyResults, dict[tuple[str, str], np.ndarray]]:
    generator = np.random.default_rng(0)
    correct = {
        (condition, target): generator.random((3, 200)) < rate
        for target, rates in RATES.items()
        for condition, rate in zip(CONDITIONS, rates, strict=True)
    }
    scores = {key: values.mean(axis=1).tolist() for key, values in correct.items()}
    rows = result_rows(scores, task="nli", n=200)
    predictions = [
        {"run": run, "target": target, "item": item, "accuracy.correct": int(right), "accuracy.total": 1}
        for run, change, target, seed in rows.select("run", "changes", "target", "seed").iter_rows()
        for item, right in enumerate(correct[change, target][seed])
    ]
    published = pl.DataFrame(
        [
            {"task": "nli", "source": "en", "target": "es", "change": change, "metric": "accuracy", "value": 1.0,
             "mismatch": "", "star": star, "star_versus": versus}
            for change, star, versus in [("Adjusted", "*", "Original"), ("Adjusted Continual", "**", "Adjusted")]
        ]
    )  # fmt: skip
    return StudyResults(rows, pl.DataFrame(predictions).lazy(), reference="Original", published=published), correct


def test_stars_of_the_paper_name_what_a_condition_differs_from() -> None:
    study, correct = results()
    table = study.paper_table("paper")
    found = {row[0].text: [cell.text.lstrip("-0123456789.") for cell in row[2:]] for row in table.body}
    for target in RATES:
        means = {condition: correct[condition, target].mean(axis=0) for condition in CONDITIONS}  # over seeds
        adjusted = stats.ttest_rel(means["Adjusted"], means["Original"]).pvalue < 0.05
        continual = stats.ttest_rel(means["Adjusted Continual"], means["Adjusted"]).pvalue < 0.05
        assert found[f"en-{target}"] == ["*" if adjusted else "", "**" if continual else ""]
    assert found["en-ru"] == ["", "**"]
    assert found["en-hi"] == ["*", ""]
    (note,) = [note for note in table.footnotes if note.startswith("Stars")]
    assert "* differs from Original, ** differs from Adjusted" in note
    corrected = study.paper_table()
    assert any("Holm" in note for note in corrected.footnotes)


def test_without_a_declaration_there_is_no_such_meaning() -> None:
    study, _ = results()
    with pytest.raises(UsageError, match="declares no stars"):
        StudyResults(study.frame, study.predictions, reference="Original").paper_table("paper")
