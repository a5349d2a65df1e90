"""The sentences behind a score: gold and predicted labels, of one run or of two side by side."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from isogloss.core.registry import check_name
from isogloss.report.examples import ExampleItem, example_items
from isogloss.results.comparisons.example_tests import with_item_scores
from isogloss.results.rows.study_results import StudyResults

SENTENCES_PER_PAGE, LISTED_MISTAKES = 10, 12
ARROW = "→"
FILTERS = {
    "wrong": "with errors",
    "right": "all correct",
    "all": "all",
    "differ": "with different predictions",
    "worse": "second run worse",
    "better": "second run better",
}
TWO_RUN_FILTERS = {"differ", "worse", "better"}
ORDERS = {"score": "worst first", "length": "longest first", "corpus": "as in the corpus"}


@dataclass(frozen=True)
class SentenceQuery:
    """Which sentences, in which order. `mistake` is a pair of labels such as "NOUN→VERB"; `find` a part of the text."""

    target: str
    metric: str
    show: str = "wrong"
    order: str = "score"
    find: str = ""
    mistake: str = ""
    page: int = 1


@dataclass(frozen=True)
class SentencePage:
    """A page of items for the report's script; `mistakes` are the most frequent ones of the first run."""

    items: list[ExampleItem]
    matching: int
    total: int
    mistakes: list[tuple[str, int]]


def filters_for(runs: Sequence[str]) -> dict[str, str]:
    return {name: label for name, label in FILTERS.items() if len(runs) > 1 or name not in TWO_RUN_FILTERS}


def targets(results: StudyResults) -> list[str]:
    return results.tests["target"].unique(maintain_order=True).to_list()


def find_sentences(results: StudyResults, runs: Sequence[str], query: SentenceQuery) -> SentencePage:
    check_name(query.show, filters_for(runs), "filter of sentences")
    check_name(query.order, ORDERS, "order")
    predictions = results.predictions.filter(pl.col("target") == query.target)
    frames = [with_item_scores(predictions.filter(pl.col("run") == run).collect(), query.metric) for run in runs]
    first = frames[0]
    matching = first.filter(_filter(frames, query.show))
    if query.find:
        texts = [query.find.casefold() in _plain_text(text).casefold() for text in matching["text"]]
        matching = matching.filter(pl.Series(texts, dtype=pl.Boolean))
    mistakes = [list(_mistakes(*labels)) for labels in first.select("gold", "prediction").iter_rows()]
    if query.mistake:
        items = [item for item, pairs in zip(first["item"], mistakes, strict=True) if query.mistake in pairs]
        matching = matching.filter(pl.col("item").is_in(items))
    start = SENTENCES_PER_PAGE * (query.page - 1)
    shown = _ordered(matching, query.order)[start : start + SENTENCES_PER_PAGE]["item"].to_list()
    counts = Counter(pair for pairs in mistakes for pair in pairs)
    return SentencePage(example_items(frames, shown), len(matching), len(first), counts.most_common(LISTED_MISTAKES))


def _filter(frames: Sequence[pl.DataFrame], show: str) -> pl.Series:
    """Which rows of the first run to show; a null score (an item without counts) counts as wrong."""
    first = frames[0]
    score = first["score"].fill_null(0)
    if show not in TWO_RUN_FILTERS:
        return {"wrong": score < 1, "right": score >= 1, "all": score.is_not_null()}[show]
    second = frames[1].select("item", "score", "prediction")
    joined = first.select("item", "prediction").join(second, on="item", how="left", maintain_order="left")
    second_score = joined["score"].fill_null(0)
    differ = (joined["prediction"] != joined["prediction_right"]).fill_null(True)
    return {"differ": differ, "worse": second_score < score, "better": second_score > score}[show]


def _ordered(frame: pl.DataFrame, order: str) -> pl.DataFrame:
    length = -pl.col("gold").str.len_chars().cast(pl.Int64)
    keys = {"score": [pl.col("score").fill_null(0), length], "length": [length], "corpus": [pl.col("item")]}
    return frame.sort(keys[order], maintain_order=True)


def _plain_text(text: str | None) -> str:
    """The input of an item as one string: its words, or its named texts."""
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
    right, wrong = json.loads(gold), json.loads(predicted)
    if isinstance(right, str):
        yield f"{right}{ARROW}{wrong}"
    elif isinstance(right, list) and not (right and isinstance(right[0], int)):  # answers have no labels
        for gold_label, predicted_label in zip(right, wrong):
            if gold_label != predicted_label:
                yield f"{_label(gold_label)}{ARROW}{_label(predicted_label)}"


def _label(value: str | list[str]) -> str:
    """A tag, or the relation of an arc; the same relation twice means a wrong head."""
    return str(value[1] if isinstance(value, list) else value)
