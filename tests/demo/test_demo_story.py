"""The demo's sentences say what the rows say, whatever that is; its study and diagnosis are what they should be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from result_rows import curve_rows, result_rows
from scipy.stats import spearmanr

from isogloss.corpora.lab.languages import LANGUAGES
from isogloss.demo import story as story
from isogloss.demo.study import ADJUSTED, PAIRS, REFERENCE, DemoSizes, demo_diagnosis, demo_study
from isogloss.diagnosis.difficulty import compare_systems
from isogloss.diagnosis.source_ranking import Ranking
from isogloss.diagnosis.tuning import tuning_frame
from isogloss.diagnosis.verdict import SYSTEM_COLUMNS, Verdict
from isogloss.indexes.curve_verdict import first_align_then_predict
from isogloss.models.tokenization.statistics import ScriptCoverage, TokenizerStatistics
from isogloss.report.inputs import ReportInputs
from isogloss.report.sections import Section
from isogloss.report.statistics import compute_statistics
from isogloss.results.rows.curves import CURVE_COLUMNS, SHAPE_COLUMNS, Curves
from isogloss.results.rows.distance_histograms import SHARE_COLUMNS, DistanceHistograms
from isogloss.results.rows.results import Results
from isogloss.results.rows.stored_rows import with_schema
from isogloss.results.rows.study_results import RUN_COLUMNS, StudyResults
from isogloss.studies.schema.study_file import study_of

TARGETS = ["qlb", "qlc", "qld", "qlf", "qlj"]
INDEXES = ("anc", "cka", "matching")
# rising and falling but for qlf, which only rises, and qlj, whose rise and fall are below the minimum
LAYERS = {"qlb": [0.6, 1.0, 0.7], "qlc": [0.1, 0.5, 0.2], "qld": [0.2, 0.6, 0.4], "qlf": [0.1, 0.2, 0.3],
          "qlj": [0.01, 0.03, 0.02]}  # fmt: skip
HOME, AWAY = 0.9, {"qlb": 0.85, "qlc": 0.7, "qld": 0.75, "qlf": 0.6, "qlj": 0.3}
COSTS = {REFERENCE: 0.0, "1-2": 0.05, "5-6": 0.02, "11-12": -0.01, ADJUSTED: 0.03}  # away; half of it at home


def curves_of(layers: dict[str, list[float]], column: str) -> pl.DataFrame:
    facts = {"study": "demo", "run": column, "changes": column, "task": "pos", "seed": 0, "when": "before"}
    parts = [curve_rows(layers, source="qla", index=index, **facts) for index in INDEXES]
    return with_schema(pl.concat(parts), {**CURVE_COLUMNS, **RUN_COLUMNS})


def shapes_of(curves: pl.DataFrame) -> pl.DataFrame:
    rows = []
    for (target, index, changes), group in curves.group_by("target", "index", "changes", maintain_order=True):
        curve = group.sort("layer")["value"].to_numpy()
        noise = 1e-4 * np.random.default_rng(0).normal(size=(len(curve), 50))
        outcome = first_align_then_predict(curve, curve[:, None] + noise, [np.zeros(len(curve))] * 2)
        labels = {
            "model": "bert",
            "source": "qla",
            "target": target,
            "index": index,
            "changes": changes,
            "when": "before",
        }
        rows.append({**labels, "peak": outcome.shape.peak, "verdict": outcome.verdict.value})
    return pl.DataFrame(rows, schema_overrides=SHAPE_COLUMNS)


def distances() -> DistanceHistograms:
    told = {REFERENCE: (8.0, 9.0, 0.45, 0.86), ADJUSTED: (1.0, 2.0, 0.38, 0.9)}
    where = {"pair": "qla>qlf", "layer": "last", "metric": "l2"}
    names = ("related", "unrelated", "overlap", "separation")
    summary = [{"model": model, **where, **dict(zip(names, values)), "d_prime": 1.0, "n": 1844}
               for model, values in told.items()]  # fmt: skip
    bins = [{"model": model, **where, "words": words, "low": float(i), "high": i + 1.0, "count": 5, "share": 0.25}
            for model in told for words in ("related", "unrelated") for i in range(4)]  # fmt: skip
    return DistanceHistograms(pl.DataFrame(bins), pl.DataFrame(summary), pl.DataFrame(schema=SHARE_COLUMNS))


def subject(costs: dict[str, float] = COSTS, away: dict[str, float] = AWAY) -> ReportInputs:
    scores = {(column, "qla"): [HOME - cost / 2] for column, cost in costs.items()}
    scores |= {(column, target): [score - cost] for column, cost in costs.items() for target, score in away.items()}
    after = {**LAYERS, "qlf": [0.1, 0.35, 0.33]}
    curves = pl.concat([curves_of(LAYERS, REFERENCE), curves_of(after, ADJUSTED)])
    results = StudyResults(
        result_rows(scores, study="demo", source="qla"), curves=Curves(curves, shapes=shapes_of(curves))
    )
    return ReportInputs("demo", results, distances=distances())


def text_of(part: Section) -> str:
    return " ".join(part.sentences)


def test_where_languages_meet() -> None:
    part = story.similarity_section(subject())
    mean = [sum(values[layer] for values in LAYERS.values()) / 5 for layer in range(3)]
    assert part.sentences[0] == (
        "Matching accuracy with Alvan (qla) rises to an inner layer and falls after it, more than in untrained "
        f"networks, for 3 of 5 languages (anc for 3, cka for 3); the mean is {mean[0]:.2f} at layer 0, "
        f"{mean[1]:.2f} at layer 1 and {mean[2]:.2f} at layer 2."
    )
    assert (
        "the most similar language is Belvo (qlb), 1.00 at layer 1; the least similar is Jagur (qlj), 0.03"
        in part.sentences[1]
    )
    assert part.table and len(part.table.body) == len(INDEXES) * len(TARGETS)
    assert part.image and "<svg" in part.image.svg and "qla–qlf" in part.image.svg


def reinit_section(about: ReportInputs) -> Section:
    return story.reinit_section(about, compute_statistics(about))


def test_which_layers_carry_transfer() -> None:
    first, transfer, *others, stars = reinit_section(subject()).sentences
    assert stars.startswith("Stars: significant difference to REF")
    assert (
        "the largest loss is for layers 1-2: −5.0 points of accuracy on average in other languages, −2.5 in qla"
        in first
    )
    assert (
        "the smallest is for layers 11-12: +1.0 points of accuracy on average in other languages, +0.5 in qla" in first
    )
    assert "accuracy 64.0 on 5 other languages (mean), 90.0 on qla" in transfer
    assert len(others) == len(PAIRS)  # nothing here of adjustment
    table = reinit_section(subject()).table
    assert table and table.head == ("source-target", REFERENCE, *(f"Δ {pair}" for pair in PAIRS))
    assert [row[0].text for row in table.body] == ["qla-qla", *(f"qla-{one}" for one in TARGETS), "qla-X"]


def test_other_results_are_told_as_they_are() -> None:
    first = reinit_section(subject({**COSTS, "1-2": -0.04, "11-12": 0.08})).sentences[0]
    assert "the largest loss is for layers 11-12: −8.0" in first
    assert "the smallest is for layers 1-2: +4.0" in first


def test_gap_and_similarity() -> None:
    about = subject()
    part = story.gap_section(about, compute_statistics(about))
    lost = [HOME - AWAY[target] for target in TARGETS]
    found = spearmanr(lost, [sum(LAYERS[target]) for target in TARGETS])
    rho = f"{found.statistic:.2f}".replace("-", "−")
    assert f"over 5 languages: anc {rho}" in part.sentences[0]
    assert f"matching {rho}" in part.sentences[0]
    assert "from 5.0 points in Belvo (qlb) to 60.0 in Jagur (qlj)" in part.sentences[1]
    assert part.image and "qlj" in part.image.svg


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([(-0.9, 0.001), (-0.8, 0.01)], "more similar languages have smaller gaps."),
        ([(0.9, 0.001), (-0.8, 0.01)], "do not have smaller gaps."),
        ([(-0.9, 0.001), (-0.3, 0.4)], "Significant for 1 of 2 indexes."),
        ([(-0.9, 0.001), (None, None)], "Significant for 1 of 2 indexes."),
        ([], "Significant for 0 of 0 indexes."),
    ],
)
def test_nothing_is_concluded_that_was_not_found(rows: list[tuple[float, float]], told: str) -> None:
    frame = pl.DataFrame(rows, schema={"value": pl.Float64, "p": pl.Float64}, orient="row")
    assert story._correlation_summary(frame).endswith(told)


def test_adjustment() -> None:
    about = subject()
    part = story.adjustment_section(about, compute_statistics(about), 500)
    assert (
        "overlap by 0.38 instead of 0.45 (a related pair is closer than an unrelated one in 90.0% instead of 86.0%)"
        in text_of(part)
    )
    assert "is 0.33 instead of 0.30 at the last layer and 0.35 (1) instead of 0.30 (2) at its best" in text_of(part)
    assert "pos in qlf: −3.0 points (not significant)." in text_of(part)  # one seed and no predictions: not tested
    assert part.image and part.image.svg.count(">overlap") == 2


def verdict(scores: dict[str, list[float]], **facts: Any) -> Verdict:
    rows = [
        result_rows({("REF", "qlj"): values}, model=system, source="qlj", study="d")
        for system, values in scores.items()
    ]
    results = Results(pl.concat(rows))
    systems = [{"system": name, "dev": 0.5, "test": sum(one) / len(one), "seeds": 3} for name, one in scores.items()]
    pairs = [(one, "BiLSTM") for one in ("fine-tuned", "adapted")]
    last = list(scores)[-1]
    remedy = compare_systems(results, [(last, "BiLSTM")], "accuracy").with_columns(against=pl.lit("BiLSTM"))
    statistics = TokenizerStatistics(9, 2.0, 0.5, 0.0, 1.0, 1.0, {"Arab": ScriptCoverage(1.0, 9)})
    given: dict[str, Any] = {"level": "Hard", "sure": True, "by_bilstm": "Hard", "repaired": True, "best": last}
    return Verdict(
        model="laboratory", lang="qlj", task="pos", metric="accuracy", **{**given, **facts},
        systems=pl.DataFrame(systems, schema=SYSTEM_COLUMNS), differences=compare_systems(results, pairs, "accuracy"),
        remedies=remedy, tuning=tuning_frame([]), selection="", cautions=(), tokenizer=statistics,
            sources=Ranking(pl.DataFrame(), ""), folder=Path(), results=results,
    )  # fmt: skip


SYSTEMS = {"fine-tuned": [0.51, 0.52, 0.5], "adapted": [0.5, 0.49, 0.48], "BiLSTM": [0.58, 0.6, 0.59]}
REPAIRED = {**SYSTEMS, "transliterated + adapted": [0.66, 0.67, 0.68]}


def test_the_unseen_language() -> None:
    told = story.unseen_section(verdict(REPAIRED)).sentences
    assert told[0].startswith("Jagur (qlj), unseen and in the script Arab, is Hard: fine-tuned 51.0, adapted 49.0, ")
    assert "BiLSTM 59.0, transliterated + adapted 67.0 (accuracy)." in told[0]
    assert "Transliterated + adapted compared with BiLSTM: +8.0 points" in told[0]
    assert told[0].endswith("is no longer below a baseline.")
    assert told[1].startswith("Hard: ")


def test_a_remedy_that_does_not_help_is_told() -> None:
    scores = {**SYSTEMS, "transliterated + adapted": [0.5, 0.6, 0.4]}
    told = story.unseen_section(verdict(scores, sure=False, repaired=False)).sentences[0]
    assert "is Hard (not significant):" in told
    assert "compared with BiLSTM: −9.0 points, not significant." in told
    assert told.endswith("is still below a baseline.")


def test_the_study_is_a_study() -> None:
    study = study_of(demo_study(DemoSizes()))
    assert list(study.targets) == list(LANGUAGES)
    assert study.reference == REFERENCE and study.measure and study.distances
    assert study.distances.changes == (REFERENCE, ADJUSTED)


def test_both_language_models_of_the_diagnosis_read_as_much() -> None:
    given = demo_diagnosis(replace(DemoSizes(), text=400))
    sizes = given["sizes"]
    assert given["text"] == "lab:qlj/train/400"
    assert sizes.pretrain["steps"] == 20 and sizes.adapt["epochs"] == 4
