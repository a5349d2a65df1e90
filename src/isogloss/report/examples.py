"""Prediction errors: the worst items of each target with gold labels, and the predictions of two conditions.

The number of experiments, targets, items, words and characters is limited, so that any corpus gives a usable page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypedDict, TypeVar

import polars as pl

from isogloss.report.inputs import ReportInputs
from isogloss.report.statistics import ReportStatistics
from isogloss.results.comparisons.example_tests import with_item_scores
from isogloss.results.comparisons.target_languages import other_languages

MAX_EXPERIMENTS, MAX_TARGETS, MAX_ITEMS, MAX_WORDS = 6, 40, 8, 60
MAX_WORD_CHARACTERS, MAX_TEXT_CHARACTERS = 40, 300
GROUP = ["study", "model", "task", "source"]

T = TypeVar("T")
Arc = tuple[int, str]
Labels = list[str] | list[Arc] | str  # a tag or an arc for each word, or one label
ScoredRow = Mapping[str, object]


class ExampleItem(TypedDict, total=False):
    """An item for the script of the page: `words` with labels, or `text` by name with one label or answer."""

    item: int
    scores: list[float | None]
    words: list[str]
    text: dict[str, str]
    gold: Labels
    predicted: list[Labels | None]
    more: int  # words that are not shown


class TargetExamples(TypedDict):
    target: str
    of: int
    wrong: int
    items: list[ExampleItem]


class ExperimentExamples(TypedDict):
    study: str
    model: str
    task: str
    source: str
    metric: str
    conditions: list[str]
    targets: list[TargetExamples]


def examples(inputs: ReportInputs, statistics: ReportStatistics) -> list[ExperimentExamples]:
    """The errors of each experiment, for the reference and the condition with the largest loss."""
    predictions = inputs.results.predictions
    if not predictions.collect_schema() or inputs.results.frame.is_empty():
        return []
    experiments: list[ExperimentExamples] = []
    for key, rows in inputs.results.tests.group_by(GROUP, maintain_order=True):
        if len(experiments) == MAX_EXPERIMENTS:
            break
        study, model, task, source = map(str, key)
        metric = statistics.main_metrics[task]
        conditions = _conditions(inputs, statistics, dict(zip(GROUP, (study, model, task, source))), rows)
        by_seed = rows.sort("seed", maintain_order=True)
        runs = {name: str(by_seed.filter(pl.col("changes") == name)["run"][0]) for name in conditions}
        frame = predictions.filter(pl.col("run").is_in(list(runs.values()))).collect()
        if targets := _targets(with_item_scores(frame, metric), runs):
            names = [name or "prediction" for name in runs]
            experiments.append(
                {"study": study, "model": model, "task": task, "source": source, "metric": metric,
                 "conditions": names, "targets": targets}
            )  # fmt: skip
    return experiments


def _conditions(
    inputs: ReportInputs, statistics: ReportStatistics, experiment: Mapping[str, str], rows: pl.DataFrame
) -> list[str]:
    """The reference, and the condition with the lowest mean difference on other languages."""
    if inputs.reference is None:
        return [str(rows["changes"][0])]
    same = [pl.col(name) == value for name, value in experiment.items()]
    metric = pl.col("metric") == statistics.main_metrics[experiment["task"]]
    deltas = other_languages(statistics.deltas.filter(*same, metric))
    means = deltas.group_by("change", maintain_order=True).agg(pl.col("delta").mean()).drop_nulls().sort("delta")
    present = set(rows["changes"])
    return [name for name in [inputs.reference, *means["change"].head(1)] if name in present]


def _targets(predictions: pl.DataFrame, runs: Mapping[str, str]) -> list[TargetExamples]:
    """The items of each target with the lowest scores in the first condition; of equal scores the longer items."""
    by_run = [predictions.filter(pl.col("run") == run) for run in runs.values()]
    targets: list[TargetExamples] = []
    for (target,), rows in by_run[0].group_by("target", maintain_order=True):
        if len(targets) == MAX_TARGETS:
            break
        wrong = rows.filter(pl.col("score").fill_null(0) < 1)
        length = pl.col("gold").str.len_chars().cast(pl.Int64)
        worst = wrong.sort(pl.col("score").fill_null(0), -length, maintain_order=True).head(MAX_ITEMS)["item"]
        items = example_items([frame.filter(pl.col("target") == target) for frame in by_run], worst.to_list())
        targets.append({"target": str(target), "of": len(rows), "wrong": len(wrong), "items": items})
    return targets


def example_items(frames: Sequence[pl.DataFrame], items: Sequence[int]) -> list[ExampleItem]:
    """These items of one target from the scored predictions of each condition."""
    shown = [frame.filter(pl.col("item").is_in(items)) for frame in frames]
    by_item = [{row["item"]: row for row in frame.iter_rows(named=True)} for frame in shown]
    return [_example_item([rows.get(item) for rows in by_item]) for item in items]


def _example_item(rows: Sequence[ScoredRow | None]) -> ExampleItem:
    """Its text, the gold labels, and the predictions and scores of each condition."""
    first = rows[0]
    assert first is not None
    gold, text = json.loads(str(first["gold"])), json.loads(str(first.get("text") or "null"))
    predicted = [None if row is None else json.loads(str(row["prediction"])) for row in rows]
    item: ExampleItem = {"item": int(str(first["item"])), "scores": [_score(row) for row in rows]}
    if isinstance(gold, list) and not (gold and isinstance(gold[0], int)):  # a tag or an arc for each word
        words = text if isinstance(text, list) else [str(number) for number in range(1, len(gold) + 1)]
        item["words"], item["more"] = _cut(words, MAX_WORD_CHARACTERS), max(0, len(words) - MAX_WORDS)
        item["gold"], item["predicted"] = _cut(gold, MAX_WORD_CHARACTERS), _cut(predicted, MAX_WORD_CHARACTERS)
        return item
    if isinstance(gold, list):  # start and end of an answer, the paragraph, all answers
        start, _, context, answers, *_ = gold
        predicted = [None if span is None else context[span[0] : span[1]] for span in predicted]
        text = {**(text or {}), "paragraph": _around(context, start)}
        gold = " / ".join(dict.fromkeys(answers))
    item["text"], item["gold"], item["predicted"] = _cut(text or {}), _cut(gold), _cut(predicted)
    return item


def _score(row: ScoredRow | None) -> float | None:
    score = None if row is None else row["score"]
    return round(score, 4) if isinstance(score, float) else None


def _around(context: str, start: int) -> str:
    """The part of a paragraph that contains the answer."""
    begin = max(0, start - MAX_TEXT_CHARACTERS // 2)
    return ("… " if begin else "") + context[begin : begin + MAX_TEXT_CHARACTERS]


def _cut(value: T, limit: int = MAX_TEXT_CHARACTERS) -> T:
    """The same value with long texts and lists cut.

    >>> _cut(["word", "a" * 9], 5)
    ['word', 'aaaaa…']
    """
    cut: object = value
    if isinstance(value, str):
        cut = value if len(value) <= limit else value[:limit] + "…"
    elif isinstance(value, list):
        cut = [_cut(part, limit) for part in value[:MAX_WORDS]]
    elif isinstance(value, dict):
        cut = {key: _cut(part, limit) for key, part in value.items()}
    return cut  # type: ignore[return-value]  # of the same type as the value
