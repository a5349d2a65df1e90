"""The sentences behind a score: gold against predicted, wrong ones first, of one run or of two beside each other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from isogloss.core.registry import check_name
from isogloss.report.examples import example_item
from isogloss.results.rows.item_scores import with_item_scores
from isogloss.results.rows.study_results import StudyResults

PAGE, MISTAKES = 10, 12
ARROW = "→"
SHOW = {
    "wrong": "wrong ones",
    "right": "right ones",
    "all": "all",
    "differ": "predicted differently",
    "worse": "worse than the first",
    "better": "better than the first",
}  # the last three need a second run
ORDER = {"score": "worst first", "length": "longest first", "corpus": "as in the corpus"}


@dataclass(frozen=True)
class Wanted:
    """Which sentences, and in which order. `mistake` is such as "NOUN→VERB"; `find` a part of the text."""

    target: str
    metric: str
    show: str = "wrong"
    order: str = "score"
    find: str = ""
    mistake: str = ""
    page: int = 1


@dataclass(frozen=True)
class Sentences:
    """A page of items as the report's script draws them; `mistakes` are the most frequent of the first run."""

    items: list[dict[str, Any]]
    found: int
    of: int
    mistakes: list[tuple[str, int]]


def targets(results: StudyResults) -> list[str]:
    return results.tests["target"].unique(maintain_order=True).to_list()


def sentences(results: StudyResults, runs: Sequence[str], wanted: Wanted) -> Sentences:
    check_name(wanted.show, list(SHOW)[: None if len(runs) > 1 else 3], "choice of sentences")
    check_name(wanted.order, ORDER, "order")
    frames = [_scored(results, run, wanted) for run in runs]
    first = frames[0]
    kept = first.filter(_chosen(frames, wanted.show))
    if wanted.find:
        kept = kept.filter(
            pl.Series([wanted.find.casefold() in _words(one).casefold() for one in kept["text"]], dtype=pl.Boolean)
        )
    mistakes = [list(_mistakes(*both)) for both in first.select("gold", "prediction").iter_rows()]
    if wanted.mistake:
        made = [item for item, own in zip(first["item"], mistakes, strict=True) if wanted.mistake in own]
        kept = kept.filter(pl.col("item").is_in(made))
    start = PAGE * (wanted.page - 1)
    shown = _ordered(kept, wanted.order)[start : start + PAGE]["item"].to_list()
    by_item = [
        {row["item"]: row for row in frame.filter(pl.col("item").is_in(shown)).iter_rows(named=True)}
        for frame in frames
    ]
    items = [example_item([one.get(item) for one in by_item]) for item in shown]
    counted = Counter(mistake for own in mistakes for mistake in own)
    return Sentences(items, len(kept), len(first), counted.most_common(MISTAKES))


def _scored(results: StudyResults, run: str, wanted: Wanted) -> pl.DataFrame:
    of_run = (pl.col("run") == run) & (pl.col("target") == wanted.target)
    return with_item_scores(results.predictions.filter(of_run).collect(), wanted.metric)


def _chosen(frames: Sequence[pl.DataFrame], show: str) -> pl.Series:
    """Which rows of the first run; null scores (an item without counts) are taken for wrong."""
    first = frames[0]
    score = first["score"].fill_null(0)
    if show in ("wrong", "right"):
        return (score < 1) if show == "wrong" else (score >= 1)
    if show == "all":
        return pl.Series([True] * len(first), dtype=pl.Boolean)
    second = frames[1].select("item", "score", "prediction")
    beside = first.select("item", "prediction").join(second, on="item", how="left", maintain_order="left")
    other = beside["score"].fill_null(0)
    if show == "differ":
        return (beside["prediction"] != beside["prediction_right"]).fill_null(True)
    return (other < score) if show == "worse" else (other > score)


def _ordered(frame: pl.DataFrame, order: str) -> pl.DataFrame:
    size = -pl.col("gold").str.len_chars().cast(pl.Int64)
    by = {"score": [pl.col("score").fill_null(0), size], "length": [size], "corpus": [pl.col("item")]}
    return frame.sort(by[order], maintain_order=True)


def _words(text: str | None) -> str:
    """What was read, as one text: words, or texts by name."""
    value = json.loads(text or "null")
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return " ".join(map(str, parts))


def _mistakes(gold: str, predicted: str) -> Iterator[str]:
    """
    >>> list(_mistakes('["NOUN", "VERB"]', '["NOUN", "NOUN"]'))
    ['VERB→NOUN']
    >>> list(_mistakes('[[2, "obj"], [0, "root"]]', '[[1, "obj"], [0, "root"]]'))
    ['obj→obj']
    """
    if gold == predicted:
        return
    right, found = json.loads(gold), json.loads(predicted)
    if isinstance(right, str):
        yield f"{right}{ARROW}{found}"
    elif isinstance(right, list) and not (right and isinstance(right[0], int)):  # answers have no labels
        for one, other in zip(right, found):
            if one != other:
                yield f"{_label(one)}{ARROW}{_label(other)}"


def _label(value: Any) -> str:
    """A tag, or the relation of an arc; the same relation on both sides is one to another head."""
    return str(value[1] if isinstance(value, list) else value)
