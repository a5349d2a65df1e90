"""Inputs of reports for tests: small, large and hostile ones."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from result_rows import curve_rows, result_rows

from isogloss.languages.pretrained import PRETRAINING_LISTS
from isogloss.report.inputs import NO_DISTANCES, ReportInputs, with_run_columns
from isogloss.results.rows.curves import CURVE_COLUMNS, Curves
from isogloss.results.rows.results import RESULT_COLUMNS
from isogloss.results.rows.stored_rows import with_schema
from isogloss.results.rows.study_results import RUN_COLUMNS, StudyResults

SCRIPT = "</script><script>window.attacked = true</script>"
IMAGE = "<img src=x onerror='window.attacked = true'>"
UYGHUR = ["مەن", "كىتاب", "ئوقۇيمەن", "."]
LONG = "a" * 10_000
HOSTILE = [SCRIPT, IMAGE, "\u202eRTL\u202c\u200f", "👩‍👩‍👧‍👦", "\u2028{{7*7}}${1}", LONG]
TAGS = ["PRON", "NOUN", "VERB", "PUNCT"]
SCORES = {
    ("REF", "en"): [0.95, 0.96, 0.94],
    ("REF", "fr"): [0.80, 0.81, 0.79],
    ("REF", "ug"): [0.40, 0.42, 0.41],
    ("REF", "de"): [0.70, 0.72, 0.71],
    ("REF", "ar"): [0.50, 0.52, 0.51],
    ("1-2", "en"): [0.94, 0.96, 0.93],
    ("1-2", "fr"): [0.60, 0.62, 0.59],
    ("1-2", "ug"): [0.40, 0.43, 0.40],
    ("1-2", "de"): [0.50, 0.53, 0.51],
    ("1-2", "ar"): [0.30, 0.31, 0.32],
}
LAYERS = {"fr": [0.5, 0.9, 0.7], "ug": [0.2, 0.3, 0.1], "de": [0.4, 0.8, 0.6], "ar": [0.3, 0.5, 0.4]}


def prediction(
    run: str, target: str, item: int, words: list[str], gold: list[Any], predicted: list[Any]
) -> dict[str, Any]:
    correct = sum(a == b for a, b in zip(gold, predicted, strict=True))
    counts = {"accuracy.correct": correct, "accuracy.total": len(gold)}
    labels = {"run": run, "target": target, "item": item, "text": json.dumps(words), **counts}
    return labels | {"gold": json.dumps(gold), "prediction": json.dumps(predicted)}


def predictions(rows: pl.DataFrame) -> pl.DataFrame:
    """Three sentences for every run and target: one correct, one with one wrong word, one with all words wrong."""
    answers = []
    for run, target in rows.select("run", "target").unique(maintain_order=True).iter_rows():
        words = UYGHUR if target == "ug" else ["I", "read", "books", "."]
        answers += [
            prediction(run, target, 0, words, TAGS, TAGS),
            prediction(run, target, 1, words, TAGS, ["PRON", "ADJ", "VERB", "PUNCT"]),
            prediction(run, target, 2, words, TAGS, ["X"] * 4),
        ]
    return pl.DataFrame(answers)


def small(**changes: Any) -> ReportInputs:
    """Two conditions, five targets, three seeds; curves, predictions, published values, neurons and histograms."""
    rows = result_rows(SCORES)
    neutral = {"model": ["bert"], "layer": [1], "stage": ["block"], "neuron": [7], "mean": [0.9], "lowest": [0.8]}
    published = {"task": ["pos"] * 2, "source": ["en"] * 2, "target": ["fr"] * 2, "change": ["REF", "1-2"]}
    results = StudyResults(
        rows,
        predictions(rows).lazy(),
        curves=Curves(with_run_columns(curve_rows(LAYERS))),
        failed={"bert 1-2 pos en seed 9": "out of memory"},
        published=pl.DataFrame({**published, "metric": ["accuracy"] * 2, "value": [80.5, -19.0], "mismatch": ""}),
        neutral=pl.DataFrame({**neutral, "rank": [1], "of": [8]}).with_columns(
            changes=pl.lit("REF"), when=pl.lit("before")
        ),
    )
    bins = [{"model": "bert", "pair": "en-fr", "layer": "12", "metric": "l2", "words": words, "low": i / 4,
             "high": (i + 1) / 4, "count": 5, "share": 0.25}
            for words in ("related", "unrelated") for i in range(4)]  # fmt: skip
    facts = {"description": "a small study", "command": "isogloss run s.yaml", "study": {"name": "s"}, "planned": 7}
    return ReportInputs(
        "s",
        results,
        **{
            "distances": replace(NO_DISTANCES, frame=pl.DataFrame(bins)),
            "versions": [({"torch": "2"}, 6)],
            **facts,
            **changes,
        },
    )


def large() -> ReportInputs:
    """5,000 runs and a million rows: ten models, twenty conditions, five tasks, five seeds, fifty targets."""
    generator = np.random.default_rng(0)
    names = {
        "model": [f"model-{i}" for i in range(10)],
        "changes": ["REF", *(f"{i}-{i + 1}" for i in range(1, 20))],
        "task": ["pos", "parse", "ner", "nli", "qa"],
        "seed": range(5),
    }
    runs = pl.DataFrame(list(product(*names.values())), schema=list(names), orient="row").with_row_index("run")
    runs = runs.with_columns(pl.col("run").cast(pl.String), study=pl.lit("large"), source=pl.lit("en"))
    codes = [code for code in PRETRAINING_LISTS["mBERT"].split() if code != "en" and "-" not in code]
    targets = pl.DataFrame({"target": ["en", *codes[:49]]})
    metrics = pl.DataFrame({"metric": ["one", "two"], "split": "test", "n": 100})
    rows = runs.join(targets, how="cross").join(metrics, how="cross")
    rows = rows.with_columns(value=generator.random(len(rows)))
    places = list(product(range(13), ["cka", "anc"], ["before", "after"]))
    layers = pl.DataFrame(places, schema=["layer", "index", "when"], orient="row")
    measured = runs.filter(pl.col("task") == "pos", pl.col("seed") == 0).join(targets[1:], how="cross")
    curves = measured.join(layers, how="cross").with_columns(stage=pl.lit("block"), n=pl.lit(10), note=pl.lit(""))
    value = generator.random(len(curves))
    curves = curves.with_columns(value=value, low=value - 0.1, high=value + 0.1)
    columns = {**CURVE_COLUMNS, **RUN_COLUMNS}
    return ReportInputs(
        "large", StudyResults(with_schema(rows, RESULT_COLUMNS), curves=Curves(with_schema(curves, columns)))
    )


def hostile() -> ReportInputs:
    """Names and words with markup that tries to run scripts in the page."""
    name = "\n".join(HOSTILE[:5])
    scores = {(change, target): [0.5, 0.6] for change in ("REF", SCRIPT) for target in ("en", *HOSTILE)}
    rows = result_rows(scores, model=name, task=IMAGE, metric=SCRIPT, study=SCRIPT)
    curves = curve_rows({target: [0.1, 0.9] for target in HOSTILE}, model=name, index=IMAGE)
    run = rows.filter(pl.col("changes") == "REF")["run"][0]
    words = [*HOSTILE, *UYGHUR]
    labels = [SCRIPT] * len(words)
    items = [prediction(run, target, 0, words, labels, [IMAGE] * len(words)) for target in ("en", *HOSTILE)]
    arcs = [[0, SCRIPT]] + [[1, IMAGE]] * (len(words) - 1)
    items.append(prediction(run, "en", 1, words, arcs, [[2, LONG]] * len(words)))
    results = StudyResults(rows, pl.DataFrame(items).lazy(), Curves(with_run_columns(curves)), failed={SCRIPT: IMAGE})
    facts: dict[str, Any] = {
        "description": name,
        "command": SCRIPT,
        "study": {SCRIPT: IMAGE},
        "versions": [({SCRIPT: IMAGE}, 1)],
    }
    return ReportInputs(SCRIPT, results, **facts)
