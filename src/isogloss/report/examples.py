"""Where predictions went wrong: the worst items of each target, beside the gold, with and without a change.

Bounded in every way: experiments, targets, items, words and characters, for a page must open whatever a corpus holds.
"""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from isogloss.report.inputs import ReportInputs
from isogloss.report.statistics import ReportStatistics
from isogloss.results.comparisons.transfer_means import other_language
from isogloss.results.rows.item_scores import with_item_scores

EXPERIMENTS, TARGETS, ITEMS, WORDS = 6, 40, 8, 60
LONGEST_WORD, LONGEST_TEXT = 40, 300  # characters
GROUP = ["study", "model", "task", "source"]


def examples(inputs: ReportInputs, statistics: ReportStatistics) -> list[dict[str, Any]]:
    """One entry per experiment: its columns (the reference and the change that costs most), and items by target."""
    predictions = inputs.results.predictions
    if not predictions.collect_schema() or inputs.results.frame.is_empty():
        return []
    found: list[dict[str, Any]] = []
    for key, rows in inputs.results.tests.group_by(GROUP, maintain_order=True):
        if len(found) == EXPERIMENTS:
            break
        experiment = dict(zip(GROUP, key, strict=True))
        runs = {change: _first_run(rows, change) for change in _columns(inputs, statistics, experiment, rows)}
        wanted = predictions.filter(pl.col("run").is_in(list(runs.values()))).collect()
        metric = statistics.main_metrics[experiment["task"]]
        targets = _targets(with_item_scores(wanted, metric), runs)
        if targets:
            found.append({**experiment, "metric": metric, "columns": [name or "prediction" for name in runs],
                          "targets": targets})  # fmt: skip
    return found


def _columns(
    inputs: ReportInputs, statistics: ReportStatistics, experiment: dict[str, Any], rows: pl.DataFrame
) -> list[str]:
    """The reference, and the change with the lowest mean difference in other languages."""
    if inputs.reference is None:
        return [str(rows["changes"][0])]
    same = [pl.col(name) == value for name, value in experiment.items()]
    cells = statistics.deltas.filter(
        *same, other_language(), pl.col("metric") == statistics.main_metrics[experiment["task"]]
    )
    costs = cells.group_by("change", maintain_order=True).agg(pl.col("delta").mean()).drop_nulls().sort("delta")
    present = set(rows["changes"])
    return [name for name in [inputs.reference, *costs["change"].head(1)] if name in present]


def _first_run(rows: pl.DataFrame, change: str) -> str:
    return str(rows.filter(pl.col("changes") == change).sort("seed", maintain_order=True)["run"][0])


def _targets(predictions: pl.DataFrame, runs: dict[str, str]) -> list[dict[str, Any]]:
    """The worst items of each target by the first column's score; the longer one of two that are as bad."""
    by_run = {change: predictions.filter(pl.col("run") == run) for change, run in runs.items()}
    first = next(iter(by_run.values()))
    found: list[dict[str, Any]] = []
    for (target,), rows in first.group_by("target", maintain_order=True):
        if len(found) == TARGETS:
            break
        wrong = rows.filter(pl.col("score").fill_null(0) < 1)
        size = pl.col("gold").str.len_chars().cast(pl.Int64)
        worst = wrong.sort(pl.col("score").fill_null(0), -size, maintain_order=True).head(ITEMS)
        chosen = [frame.filter(pl.col("target") == target, pl.col("item").is_in(worst["item"].to_list()))
                  for frame in by_run.values()]  # fmt: skip
        by_item = [{row["item"]: row for row in frame.iter_rows(named=True)} for frame in chosen]
        items = [example_item([one.get(item) for one in by_item]) for item in worst["item"]]
        found.append({"target": target, "of": len(rows), "wrong": len(wrong), "items": items})
    return found


def example_item(rows: list[dict[str, Any] | None]) -> dict[str, Any]:
    """An item as the page shows it: its text, the gold, and each column's prediction and score."""
    first = rows[0]
    assert first is not None
    gold, text = json.loads(first["gold"]), json.loads(first.get("text") or "null")
    predicted = [None if row is None else json.loads(row["prediction"]) for row in rows]
    scores = [None if row is None or row["score"] is None else round(row["score"], 4) for row in rows]
    shared = {"item": first["item"], "scores": scores}
    if isinstance(gold, list) and not (gold and isinstance(gold[0], int)):  # a tag or an arc for each word
        words = text if isinstance(text, list) else [str(number) for number in range(1, len(gold) + 1)]
        return {**shared, "words": _cut(words, LONGEST_WORD), "gold": _cut(gold, LONGEST_WORD),
                "predicted": _cut(predicted, LONGEST_WORD),
                "more": max(0, len(words) - WORDS)}  # fmt: skip
    if isinstance(gold, list):  # start and stop of an answer, the paragraph, all answers
        start, _, context, answers, *_ = gold
        predicted = [None if one is None else context[one[0] : one[1]] for one in predicted]
        text = {**(text or {}), "paragraph": _around(context, start)}
        gold = " / ".join(dict.fromkeys(answers))
    return {**shared, "text": _cut(text or {}), "gold": _cut(gold), "predicted": _cut(predicted)}


def _around(context: str, start: int) -> str:
    """The part of a paragraph that holds the answer."""
    begin = max(0, start - LONGEST_TEXT // 2)
    return ("… " if begin else "") + context[begin : begin + LONGEST_TEXT]


def _cut(value: Any, limit: int = LONGEST_TEXT) -> Any:
    """The same with long texts and lists cut.

    >>> _cut(["word", "a" * 9], 5)
    ['word', 'aaaaa…']
    """
    if isinstance(value, str):
        return value if len(value) <= limit else value[:limit] + "…"
    if isinstance(value, list):
        return [_cut(one, limit) for one in value[:WORDS]]
    if isinstance(value, dict):
        return {key: _cut(one, limit) for key, one in value.items()}
    return value
