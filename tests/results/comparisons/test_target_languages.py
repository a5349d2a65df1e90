"""The mean over languages: every language once, and nothing that is no language."""

from __future__ import annotations

import random
import re
from pathlib import Path

import polars as pl
import pytest
from result_rows import result_rows

from isogloss.report.findings import findings
from isogloss.report.inputs import ReportInputs
from isogloss.report.statistics import compute_statistics
from isogloss.results.comparisons.differences import differences, source_to_x
from isogloss.results.comparisons.target_languages import other_languages, uncounted_targets
from isogloss.results.rows.study_results import StudyResults

STUDIES = Path(__file__).parents[3] / "studies"


def rows_of(targets: dict[str, float], source: str = "en") -> pl.DataFrame:
    """Three seeds; the condition 1-2 loses a tenth of every score, with some noise."""
    generator = random.Random(0)
    scores = {
        (change, target): [value * factor + generator.uniform(0, 0.01) for _ in range(3)]
        for target, value in targets.items()
        for change, factor in (("REF", 1.0), ("1-2", 0.9))
    }
    return result_rows(scores, source=source)


def mean_by_hand(rows: pl.DataFrame, groups: list[list[str]]) -> float:
    """The mean over groups of the means over their test sets and seeds, of the reference."""
    reference = rows.filter(changes="REF")
    return sum(
        sum(reference.filter(target=name)["value"].mean() for name in names) / len(names)  # type: ignore[misc]
        for names in groups
    ) / len(groups)


def x_reference(rows: pl.DataFrame) -> float:
    return float(source_to_x(rows).filter(target="X")["reference"].item())


SCORES = {"en": 0.95, "es": 0.8, "es-mixed": 0.2, "ru": 0.6, "hi": 0.5}


def test_a_variant_of_a_language_is_no_other_language() -> None:
    rows = rows_of(SCORES)
    assert x_reference(rows) == pytest.approx(mean_by_hand(rows, [["es"], ["ru"], ["hi"]]))
    x = differences(rows).filter(target="X")
    assert x["languages"].to_list() == [["es", "hi", "ru"]]


@pytest.mark.parametrize(
    ("targets", "groups"),
    [
        (["fr-partut", "fr-gsd", "de"], [["fr-partut", "fr-gsd"], ["de"]]),  # domains of one language, averaged
        (["ug", "ug-latin", "ug-permuted", "tr"], [["ug"], ["tr"]]),
        (["pt-BR", "es_MX"], [["pt-BR"], ["es_MX"]]),
        (["spa", "es", "de"], [["spa", "es"], ["de"]]),  # two codes of one language
        (["French", "German"], [["French"], ["German"]]),
        (["qlb", "qlc", "qlc-talk"], [["qlb"], ["qlc"]]),
        (["en-lines", "en_ewt", "eng", "de", "fr"], [["de"], ["fr"]]),  # other test sets of the source language
        (["tweets", "mixed", "de", "fr"], [["de"], ["fr"]]),
    ],
)
def test_every_language_counts_once(targets: list[str], groups: list[list[str]]) -> None:
    generator = random.Random(1)
    rows = rows_of({"en": 0.9, **{name: generator.uniform(0.2, 0.8) for name in targets}})
    assert x_reference(rows) == pytest.approx(mean_by_hand(rows, groups))
    assert set(other_languages(rows)["target"]) == {name for group in groups for name in group}


def test_one_language_has_no_mean() -> None:
    assert "X" not in differences(rows_of({"en": 0.9, "hi": 0.6, "hi-mixed": 0.5}))["target"]


def test_names_of_no_language_are_reported() -> None:
    rows = rows_of({"en": 0.9, "en-lines": 0.8, "tweets": 0.5, "fr": 0.6, "de": 0.5, "de-mixed": 0.1})
    assert uncounted_targets(rows) == ["de-mixed", "tweets"]
    inputs = ReportInputs("t", StudyResults(rows))
    statistics = compute_statistics(inputs)
    assert "Not counted as languages in means: de-mixed, tweets." in statistics.notes
    text = " ".join(sentence for topic in findings(inputs, statistics).values() for sentence in topic)
    assert "on 2 other languages (mean)" in text
    x = float(statistics.means["delta"].item())
    assert f"1-2: {100 * x:+.1f} points".replace("-", "−").replace("1−2", "1-2") in text


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*/*.yaml")), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_targets_of_a_study_file_are_counted_by_language(path: Path) -> None:
    """Read as text: the names below `targets:`, with the variable of the target language."""
    text = path.read_text(encoding="utf-8")
    language = re.search(r"TARGET: (\w+)", text)
    block = re.search(r"^targets:.*\n((?:  \S.*\n)+)", text.replace("${TARGET}", language[1] if language else ""), re.M)
    names = re.findall(r"^  ([\w-]+):", block[1], re.M) if block else []
    source = "qla" if path.parent.name == "lab" else "en"
    rows = [{"study": "s", "task": "t", "source": source, "target": name} for name in names if name != "targets"]
    if not rows:
        return
    counted = other_languages(pl.DataFrame(rows))
    prefixes = {name.split("-")[0] for name in names} - {source}
    assert set(counted["language"]) == prefixes
    plain = {name for name in names if "-" not in name} - {source}
    assert plain <= set(counted["target"])
    assert all(name.split("-")[0] not in plain for name in set(counted["target"]) - plain)
