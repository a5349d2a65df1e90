"""Which sentences are shown, and in which order."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_inputs import prediction
from result_rows import result_rows
from stores import parsed, runs_of

from isogloss.core.errors import UnknownName
from isogloss.explorer.sentences import SENTENCES_PER_PAGE, SentencePage, SentenceQuery, find_sentences
from isogloss.results.rows.study_results import StudyResults

ROWS = result_rows({("REF", "fr"): [0.5], ("1-2", "fr"): [0.5]})
FIRST, SECOND = ROWS["run"]
GOLD = ["DET", "NOUN", "VERB"]
ANSWERS = {
    FIRST: [GOLD, ["DET", "VERB", "VERB"], ["X", "X", "X"], GOLD],
    SECOND: [GOLD, GOLD, ["X", "X", "X"], ["DET", "X", "VERB"]],
}
WORDS = [["le", "chat", "dort"], ["ئالما", "chat", "dort"], ["le", "Straße", "dort"], ["le", "chien", "dort"]]


def of(answers: dict[str, list[list[str]]], words: list[list[str]] = WORDS) -> StudyResults:
    made = [
        prediction(run, "fr", item, words[item], GOLD, found)
        for run, every in answers.items()
        for item, found in enumerate(every)
    ]
    return StudyResults(ROWS, pl.DataFrame(made).lazy())


def shown(runs: list[str] = [FIRST], **wanted: Any) -> SentencePage:  # noqa: B006
    return find_sentences(of(ANSWERS), runs, SentenceQuery("fr", "accuracy", **wanted))


def items(found: SentencePage) -> list[int]:
    return [item["item"] for item in found.items]


def test_wrong_ones_come_first_and_alone() -> None:
    found = shown()
    assert items(found) == [2, 1]
    assert (found.matching, found.total) == (2, 4)
    assert found.items[1]["scores"] == [pytest.approx(2 / 3, abs=1e-4)]
    assert items(shown(show="right")) == [0, 3]
    assert items(shown(show="all", order="corpus")) == [0, 1, 2, 3]


def test_two_runs_beside_each_other() -> None:
    both = [FIRST, SECOND]
    assert items(shown(both, show="differ", order="corpus")) == [1, 3]
    assert items(shown(both, show="better")) == [1]
    assert items(shown(both, show="worse")) == [3]
    item = shown(both, show="worse").items[0]
    assert item["predicted"] == [GOLD, ["DET", "X", "VERB"]]
    with pytest.raises(UnknownName):
        shown(show="worse")


def test_mistakes_are_counted_and_found() -> None:
    found = shown()
    assert dict(found.mistakes) == {"NOUN→VERB": 1, "DET→X": 1, "NOUN→X": 1, "VERB→X": 1}
    assert items(shown(mistake="NOUN→VERB")) == [1]
    assert items(shown(mistake="NOUN→DET")) == []


@pytest.mark.parametrize(("text", "expected"), [("ئالما", [1]), ("STRASSE", [2]), ("le ch", [0, 3]), ('"', [])])
def test_text_is_found_as_it_is_read(text: str, expected: list[int]) -> None:
    assert items(shown(show="all", order="corpus", find=text)) == expected


def test_trees_have_relations_for_labels() -> None:
    inputs = parsed()
    run = runs_of(inputs)[0].name
    found = find_sentences(inputs.results, [run], SentenceQuery("ug", "las"))
    assert dict(found.mistakes) == {"nsubj→nsubj": 1, "punct→punct": 1}
    assert found.items[0]["gold"][0] == [2, "nsubj"]


@given(st.lists(st.lists(st.sampled_from(GOLD), min_size=3, max_size=3), max_size=25))
@settings(max_examples=25)
def test_pages_hold_every_sentence_once(answers: list[list[str]]) -> None:
    words = [["a", "b", "c"]] * len(answers)
    results = of({FIRST: answers or [GOLD]}, words or [["a", "b", "c"]])
    seen = []
    for page in range(1, 5):
        found = find_sentences(results, [FIRST], SentenceQuery("fr", "accuracy", show="all", page=page))
        assert len(found.items) <= SENTENCES_PER_PAGE
        seen += items(found)
    assert sorted(seen) == list(range(found.total))
    scores = [sum(a == b for a, b in zip(GOLD, (answers or [GOLD])[item], strict=True)) for item in seen]
    assert scores == sorted(scores)


def test_answers_and_labels_of_whole_texts() -> None:
    made = []
    for run, target, gold, found, text in (
        (FIRST, "fr", "neutral", "entailment", {"premise": "p", "hypothesis": "h"}),
        (SECOND, "fr", [4, 7, "The dog barks.", ["dog"], "en"], [0, 3], {"question": "Who?"}),
    ):
        facts = {"run": run, "target": target, "item": 0, "gold": json.dumps(gold), "prediction": json.dumps(found)}
        made.append({**facts, "text": json.dumps(text)})
    results = StudyResults(ROWS, pl.DataFrame(made).lazy())
    found = find_sentences(results, [FIRST], SentenceQuery("fr", "accuracy", find="H"))
    assert (found.mistakes, items(found)) == ([("neutral→entailment", 1)], [0])
    found = find_sentences(results, [SECOND], SentenceQuery("fr", "accuracy"))
    assert (found.mistakes, found.items[0]["predicted"]) == ([], ["The"])
