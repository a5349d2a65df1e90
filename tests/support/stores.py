"""Stores as written by studies, from the inputs of reports, without waiting for the disk."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import polars as pl
from report_inputs import UYGHUR, large, prediction
from result_rows import result_rows

from isogloss.report.inputs import ReportInputs
from isogloss.results.rows.curves import CURVE_COLUMNS, SHAPE_COLUMNS
from isogloss.results.rows.study_reader import DISTANCE_FILES
from isogloss.results.rows.study_results import StudyResults
from isogloss.store.entries import Store
from isogloss.store.study_records import Record, Run, write_record

WITH = {"with": {"torch": "2.0", "system": "Linux"}}


def write_store(folder: Path, *studies: ReportInputs, planned: int = 0) -> Store:
    """One study for each of `studies`, whose runs are done, and `planned` more runs that are not."""
    store = Store(folder)
    with mock.patch("isogloss.store.entries.fsync_path"):
        for inputs in studies:
            runs = runs_of(inputs)
            _write_evaluations(store, inputs, runs)
            _write_similarities(store, inputs, runs)
            _write_distances(store, inputs, runs)
            _write_record(store, inputs, [*runs, *(_open(runs[0], number) for number in range(planned))])
    return store


def runs_of(inputs: ReportInputs) -> list[Run]:
    """The runs with numbered stages named after the study; curves without a run belong to the first run."""
    rows = inputs.results.frame.unique("run", keep="first", maintain_order=True)
    measured = inputs.results.curves.frame.select("run", "when").unique(maintain_order=True).rows()
    similarities: dict[str, dict[str, str]] = {}
    for number, (run, when) in enumerate(measured):
        similarities.setdefault(run or rows["run"][0], {})[when or "before"] = f"similarity-{_id(inputs)}{number}"
    return [
        Run(row["run"], row["model"], row["changes"], "", row["task"], row["source"], row["seed"],
            f"finetuned-{_id(inputs)}{number}", f"evaluation-{_id(inputs)}{number}", similarities.get(row["run"], {}),
            distances={} if number or inputs.distances.frame.is_empty() else {"before": f"distances-{_id(inputs)}"})
        for number, row in enumerate(rows.iter_rows(named=True))
    ]  # fmt: skip


def _open(run: Run, number: int) -> Run:
    stages = {"finetuned": f"finetuned-open{number}", "evaluation": f"evaluation-open{number}", "similarity": {}}
    return Run(**{**vars(run), **stages, "name": f"open {number}", "seed": 100 + number})


def _id(inputs: ReportInputs) -> str:
    return "".join(char for char in inputs.title if char.isascii() and char.isalnum())[:8]


def _write_evaluations(store: Store, inputs: ReportInputs, runs: Iterable[Run]) -> None:
    rows = inputs.results.frame.partition_by("run", as_dict=True)
    predictions = inputs.results.predictions.collect()
    empty, by_run = predictions.clear(), predictions.partition_by("run", as_dict=True)
    for run in runs:
        with store.making(run.evaluation, WITH) as entry:
            rows[run.name,].write_parquet(entry / "rows.parquet")
            by_run.get((run.name,), empty).write_parquet(entry / "predictions.parquet")


def _write_similarities(store: Store, inputs: ReportInputs, runs: list[Run]) -> None:
    frame = inputs.results.curves.frame.with_columns(
        pl.col("when").fill_null("before"), pl.col("run").fill_null(runs[0].name)
    )
    parts = frame.partition_by("run", "when", as_dict=True)
    for run in runs:
        for when, id in run.similarity.items():
            with store.making(id, WITH) as entry:
                part = parts[run.name, when]  # as older versions wrote it, without some columns
                columns = [pl.col(name).cast(kind) for name, kind in CURVE_COLUMNS.items() if name in part.columns]
                curves = part.select(columns)
                curves.write_parquet(entry / "curves.parquet")
                pl.DataFrame(schema=SHAPE_COLUMNS).write_parquet(entry / "shapes.parquet")


def _write_distances(store: Store, inputs: ReportInputs, runs: list[Run]) -> None:
    """The distances belong to the first run."""
    frames = (inputs.distances.frame, inputs.distances.summary, inputs.distances.shares)
    for id in runs[0].distances.values():
        with store.making(id, WITH) as entry:
            for name, frame in zip(DISTANCE_FILES, frames, strict=True):
                frame.write_parquet(entry / name)


def _write_record(store: Store, inputs: ReportInputs, runs: list[Run]) -> None:
    """In a file with a safe name: the name of a record may be any text."""
    failed, study = dict(inputs.results.failed), dict(inputs.study)
    record = Record("plain", inputs.description, runs, failed=failed, study=study, command=inputs.command)
    write_record(store, record)
    written = store.folder / "studies" / "plain.json"
    content = json.loads(written.read_bytes()) | {"name": inputs.title}
    written.rename(written.with_name(f"{_id(inputs)}.json")).write_text(json.dumps(content))


def parsed() -> ReportInputs:
    """A parsing study: Uyghur and French sentences, with the trees predicted in two conditions."""
    rows = result_rows({("REF", "ug"): [0.5], ("REF", "fr"): [0.75], ("1-2", "ug"): [0.25], ("1-2", "fr"): [0.75]},
                       task="parse", metric="las", study="trees")  # fmt: skip
    gold = [[2, "nsubj"], [3, "obj"], [0, "root"], [3, "punct"]]
    predicted = {"REF": [[3, "nsubj"], [3, "obj"], [0, "root"], [1, "punct"]], "1-2": [[0, "root"]] + [[1, "dep"]] * 3}
    answers = []
    for run, change, target in rows.select("run", "changes", "target").unique(maintain_order=True).iter_rows():
        words = UYGHUR if target == "ug" else ["Je", "lis", "beaucoup", "."]
        arcs = predicted[change] if target == "ug" else gold
        right = sum(one == other for one, other in zip(gold, arcs, strict=True))
        counts = {"las.words": 4, "las.heads": right, "las.labelled": right}
        facts = {"run": run, "target": target, "item": 0, "text": json.dumps(words), **counts}
        answers += [facts | {"gold": json.dumps(gold), "prediction": json.dumps(arcs)}]
        answers += [facts | {"item": 1, "gold": json.dumps(gold), "prediction": json.dumps(gold), "las.labelled": 4}]
    return ReportInputs("trees", StudyResults(rows, pl.DataFrame(answers).lazy()))


def write_large(folder: Path, sentences: int = 1000) -> Store:
    """5,000 runs and a million rows; two runs have `sentences` sentences for each of the fifty targets."""
    inputs = large()
    generator, tags = np.random.default_rng(0), ["NOUN", "VERB", "ADJ", "DET", "ADP", "PUNCT"]
    frame = inputs.results.frame.with_columns(metric=pl.col("metric").replace("one", "accuracy"))
    runs = frame["run"].unique(maintain_order=True)[[0, 25]]  # the reference, and the same model with a change
    answers = []
    for run in runs:
        for target in frame["target"].unique(maintain_order=True):
            gold = generator.integers(0, 6, (sentences, 12))
            predicted = np.where(generator.random(gold.shape) < 0.3, generator.integers(0, 6, gold.shape), gold)
            for item in range(sentences):
                labels = ([tags[i] for i in side[item]] for side in (gold, predicted))
                answers.append(prediction(run, target, item, [f"word{i}" for i in range(12)], *labels))
    results = replace(inputs.results, frame=frame, predictions=pl.DataFrame(answers).lazy())
    return write_store(folder, replace(inputs, results=results))
