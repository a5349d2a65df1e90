from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import shared

import isogloss as ig
from isogloss.core.errors import InputError
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats.squad import FORMAT
from isogloss.corpora.kinds.qa import Answer, Question

GOOD: dict[str, Any] = {
    "version": 1.1,
    "data": [
        {
            "title": "Dogs",
            "paragraphs": [
                {
                    "context": "The dog 🐕 barks at the cat.",
                    "qas": [
                        {
                            "answers": [
                                {"answer_start": 4, "text": "dog", "by": "x"},
                                {"answer_start": 0, "text": "The dog"},
                            ],
                            "id": "q1",
                            "question": "Who barks?",
                            "is_impossible": False,
                        },
                        {"question": "At whom?", "id": "q2", "answers": [{"text": "the cat", "answer_start": 19}]},
                    ],
                    "source_url": None,
                },
                {"context": "Nothing.", "qas": [{"id": "q3", "question": "Why?", "answers": []}]},
            ],
        },
        {
            "paragraphs": [
                {
                    "qas": [{"id": "q4", "question": "Who?", "answers": [{"text": "Ada", "answer_start": 3}]}],
                    "context": "By Ada.",
                }
            ]
        },
    ],
    "note": {"b": [1], "a": 2},
}


def write(tmp_path: Path, document: Any, name: str = "xquad.en.json") -> Path:
    path = tmp_path / name
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8", newline="")
    return path


def test_questions_answers_and_counts(tmp_path: Path) -> None:
    corpus = ig.read_qa(write(tmp_path, GOOD))
    assert [q.id for q in corpus] == ["q1", "q2", "q3", "q4"]
    assert corpus[0].answers == (Answer("dog", 4), Answer("The dog", 0))
    assert all(q.context[a.start : a.start + len(a.text)] == a.text for q in corpus for a in q.answers)
    assert (corpus[0].title, corpus[3].title, corpus[3].context_lang, corpus[3].question_lang) == (
        "Dogs",
        "",
        "en",
        "en",
    )
    assert corpus.counts == {"questions": 4, "paragraphs": 3, "questions without answer": 1}


def test_equal_json_is_written_back_key_order_included(tmp_path: Path) -> None:
    ig.read_qa(write(tmp_path, json.dumps(GOOD, indent=2, ensure_ascii=False))).write(tmp_path / "copy.json")
    assert (tmp_path / "copy.json").read_text() == json.dumps(GOOD)


def test_a_part_and_a_change_are_written_as_such(tmp_path: Path) -> None:
    corpus = ig.read_qa(write(tmp_path, GOOD))
    changed = [replace(corpus[1], question="Whom?"), corpus[3]]
    corpus.with_items(changed).write(tmp_path / "xquad.en.json.gz")
    assert list(ig.read_qa(tmp_path / "xquad.en.json.gz")) == changed
    assert pickle.loads(pickle.dumps(corpus)).items == corpus.items


def test_withheld_answers_are_no_answers(tmp_path: Path) -> None:
    document = copy.deepcopy(GOOD)
    document["data"][0]["paragraphs"][0]["qas"][0]["answers"] = [{"text": "", "answer_start": 0}]
    corpus = ig.read_qa(write(tmp_path, document))
    assert corpus[0].answers == ()
    assert corpus.counts["questions without answer"] == 2
    corpus.write(tmp_path / "copy.json")
    assert json.loads((tmp_path / "copy.json").read_text()) == document


def test_the_file_name_tells_both_languages_of_mlqa(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD, "dev-context-de-question-es.json")
    corpus = ig.read_qa(path)
    assert (corpus.lang, corpus[0].context_lang, corpus[0].question_lang) == ("de", "de", "es")
    corpus = ig.read_qa(path, lang="zho")
    assert (corpus.lang, corpus[0].context_lang, corpus[0].question_lang) == ("zh", "zh", "es")


def answer(**values: Any) -> Callable[[Any], None]:
    return lambda d: d["data"][0]["paragraphs"][0]["qas"][1]["answers"].__setitem__(0, {"text": "the cat", **values})


def at(*keys: Any, value: Any) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for key in keys[:-1]:
            document = document[key]
        document[keys[-1]] = value

    return change


PARAGRAPH = ("data", 0, "paragraphs", 0)
BROKEN = {
    "offset": (
        answer(answer_start=18),
        "'the cat' at character 18 of the context (data[0].paragraphs[0].qas[1], id 'q2')",
    ),
    "outside": (answer(answer_start=190), "got the end of the context"),
    "negative": (answer(answer_start=-8), "'the cat' at character -8"),
    "empty answer": (answer(text="", answer_start=2), "an answer with text and answer_start"),
    "a start that is no number": (answer(answer_start="19"), "an answer with text and answer_start"),
    "a start that is true": (answer(answer_start=True), "an answer with text and answer_start"),
    "no start": (answer(), "an answer with text and answer_start"),
    "answer is text": (at(*PARAGRAPH, "qas", 1, "answers", 0, value="the cat"), "an answer with text"),
    "answers is an object": (
        at(*PARAGRAPH, "qas", 1, "answers", value={}),
        "a list of answers in data[0].paragraphs[0].qas[1]",
    ),
    "id is a number": (at(*PARAGRAPH, "qas", 1, "id", value=3), "id, question and a list"),
    "no question": (at(*PARAGRAPH, "qas", 1, "question", value=""), "id, question and a list"),
    "context is null": (at(*PARAGRAPH, "context", value=None), "texts as title and context of data[0].paragraphs[0]"),
    "title is a list": (at("data", 0, "title", value=[]), "texts as title and context"),
    "no questions": (at(*PARAGRAPH, "qas", value=[]), "a list with members in data[0].paragraphs[0].qas, got '[]'"),
    "paragraph is null": (at(*PARAGRAPH, value=None), "an object in data[0].paragraphs[0], got 'None'"),
    "data is null": (at("data", value=None), "a list with members in data"),
    "half a surrogate": (at(*PARAGRAPH, "context", value="The dog \ud83d"), "texts as title and context"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, name: str) -> None:
    change, message = BROKEN[name]
    document = copy.deepcopy(GOOD)
    change(document)
    path = write(tmp_path, document)
    with pytest.raises(InputError) as caught:
        ig.read_qa(path)
    assert message in str(caught.value)
    assert caught.value.path == str(path)
    if name != "data is null":
        assert ig.read_qa(path, repair=True).repairs


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (json.dumps(GOOD, indent=1)[:-30], None, "a JSON document"),
        ('{\n"data": [\n}', 3, "a JSON document"),
        ("[]", None, "a list with members in data"),
        ('{"data": 1, "data": 2}', None, "the duplicate key 'data'"),
        ("[" * 100_000, None, "nested too deeply"),
    ],
)
def test_broken_json_is_an_error_with_its_line(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        ig.read_qa(write(tmp_path, text))
    assert line is None or caught.value.line == line


def test_repair_moves_an_answer_that_stands_once_and_leaves_others_out(tmp_path: Path) -> None:
    document = copy.deepcopy(GOOD)
    answer(answer_start=3)(document)  # stands once, elsewhere
    at(*PARAGRAPH, "qas", 0, "answers", 0, "text", value="at")(document)  # "at" and "cat": twice
    at("data", 1, "paragraphs", 0, "qas", 0, "answers", 0, "text", value="Eva")(document)  # nowhere
    corpus = ig.read_qa(write(tmp_path, document), repair=True)
    assert [(q.id, q.answers) for q in corpus] == [
        ("q1", (Answer("The dog", 0),)),
        ("q2", (Answer("the cat", 19),)),
        ("q3", ()),
    ]
    assert [error.advice.split(") ")[1] for error in corpus.repairs] == ["skips it", "moves it to 19", "skips it"]
    corpus.write(tmp_path / "xquad.en.json")
    assert list(ig.read_qa(tmp_path / "xquad.en.json")) == list(corpus)


def test_overlapping_places_are_two_places(tmp_path: Path) -> None:
    document = {
        "data": [
            {
                "paragraphs": [
                    {
                        "context": "xaaa",
                        "qas": [
                            {
                                "id": "1",
                                "question": "?",
                                "answers": [{"text": "aa", "answer_start": 0}, {"text": "x", "answer_start": 0}],
                            }
                        ],
                    }
                ]
            }
        ]
    }
    assert ig.read_qa(write(tmp_path, document), repair=True)[0].answers == (Answer("x", 0),)


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    context = draw(text.filter(bool))
    starts = draw(st.lists(st.integers(0, len(context) - 1), max_size=2))
    answers = tuple(Answer(context[s : s + draw(st.integers(1, 5))], s) for s in starts)
    return Question(draw(text), draw(text.filter(bool)), context, answers, title=draw(st.sampled_from(["", "T", "U"])))


@given(st.lists(questions(), min_size=1, max_size=5))
def test_questions_made_in_memory_are_read_back(tmp_path: Path, items: list[Question]) -> None:
    Corpus(tuple(items), "und", FORMAT).write(tmp_path / "x.json")
    assert list(ig.read_qa(tmp_path / "x.json")) == items


def some(lang: str, ids: str) -> Corpus[Question]:
    items = [Question(i, f"{lang}? {i}", f"{lang} {i}", (Answer(i, len(lang) + 1),), "", lang, lang) for i in ids]
    return Corpus(tuple(items), lang, FORMAT, origin=f"{lang}.json")


def test_pairing_takes_the_question_from_one_and_all_else_from_the_other() -> None:
    pairs = ig.pair_languages(some("es", "cab"), some("de", "abc"))
    assert pairs.lang == "de"
    assert pairs[0] == Question("a", "es? a", "de a", (Answer("a", 3),), "", "es", "de")
    assert [pair.id for pair in pairs] == ["a", "b", "c"]


def test_pairing_reports_what_has_no_partner() -> None:
    with pytest.raises(
        InputError, match=r"de\.json: expected the question 'x', which the other language has, got none; 2 are"
    ):
        ig.pair_languages(some("es", "abxy"), some("de", "abc"))
    pairs = ig.pair_languages(some("es", "abxy"), some("de", "abc"), repair=True)
    assert [pair.id for pair in pairs] == ["a", "b"]
    assert [error.path for error in pairs.repairs] == ["de.json", "de.json", "es.json"]
    with pytest.raises(InputError, match="one question per id, got 2 with the id 'a'"):
        ig.pair_languages(some("es", "aba"), some("de", "ab"), repair=True)


@pytest.mark.parametrize(("asked", "read"), [("de", "en"), ("en", "de"), ("hi", "en")])
def test_pairing_gives_the_published_cross_language_files(asked: str, read: str) -> None:
    """MLQA publishes each pairing; ours, made from the two monolingual files, must be the same questions."""
    name = "data/mlqa/dev/dev-context-{}-question-{}.json.xz"
    source, target = (ig.read_qa(shared(name.format(lang, lang))) for lang in (asked, read))
    published = ig.read_qa(shared(name.format(read, asked)))
    made = ig.pair_languages(source, target, repair=True)
    assert {q.id: q for q in made} == {q.id: q for q in published}
    assert len(made) == len(published)


@pytest.mark.parametrize(
    ("context", "text", "start", "expected"),
    [
        ("Born in  Cairo in 1911.", "Cairo in 1911", 9, "Cairo in 1911"),  # exact
        ("Born in  Cairo in 1911.", "in Cairo", 5, "in  Cairo"),
        ("Born in\nCairo.", "in Cairo", 5, "in\nCairo"),
        ("Born in\u00a0Cairo.", "in Cairo", 5, "in\u00a0Cairo"),
        ("About 10 % of it.", "10%", 6, "10 %"),
        ("About 10% of it.", " 10 % ", 5, "10%"),
        ("وُلد في  القاهرة عام", "في القاهرة", 5, "في  القاهرة"),
    ],
)
def test_white_space_of_answers_is_not_compared(
    tmp_path: Path, context: str, text: str, start: int, expected: str
) -> None:
    qas = [{"id": "q", "question": "?", "answers": [{"text": text, "answer_start": start}]}]
    document = {"data": [{"paragraphs": [{"context": context, "qas": qas}]}]}
    corpus = ig.read_qa(write(tmp_path, document))
    (answer,) = corpus[0].answers
    assert answer.text == expected == context[answer.start : answer.start + len(expected)]
    differs = "answers that differ from the paragraph in white space"
    assert corpus.counts.get(differs, 0) == (text != expected)
    corpus.write(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text())["data"][0]["paragraphs"][0]["qas"][0]["answers"] == [
        {"text": text, "answer_start": answer.start}
    ]
    assert ig.read_qa(tmp_path / "again.json")[0].answers == corpus[0].answers


def test_other_differences_of_answers_are_errors(tmp_path: Path) -> None:
    qas = [{"id": "q", "question": "?", "answers": [{"text": "Kairo", "answer_start": 8}]}]
    document = {"data": [{"paragraphs": [{"context": "Born in  Cairo.", "qas": qas}]}]}
    with pytest.raises(InputError, match="the answer 'Kairo' at character 8"):
        ig.read_qa(write(tmp_path, document))
