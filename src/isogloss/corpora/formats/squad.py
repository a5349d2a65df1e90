"""Extractive question answering in the JSON format of SQuAD v1.1, which XQuAD, MLQA and TyDi-GoldP use too.

Every answer must be at its stated position in the paragraph; otherwise it is an error that gives the question. White
space is not compared: an answer that differs from the paragraph only in white space (three in ARCD) is the text of the
paragraph, and is counted. With repair, the position is corrected if the text occurs exactly once in the paragraph;
otherwise the answer is skipped, and the question too if it has no other answer. Each repair is recorded. Files without
public answers (XTREME's TyDi-GoldP: one empty answer at 0) give questions without answers, which are counted.

Questions store all other keys of the file, so that writing gives equal JSON with the same order of keys. The layout is
that of `json.dumps`: the published files of MLQA and TyDi are restored byte for byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from isogloss.core.errors import InputError, shown
from isogloss.core.files import Repairs, read_text
from isogloss.corpora.corpus import Format
from isogloss.corpora.formats.strict_json import JsonError, is_text, parse_json
from isogloss.corpora.kinds.qa import Answer, Question, SquadContext

JsonObject = dict[str, Any]
WITHHELD = {"text": "", "answer_start": 0}


def stream(path: Path, repairs: Repairs) -> Iterator[Question]:
    """Questions in the order of the file. With repair, invalid parts are skipped and recorded."""
    try:
        document = parse_json(read_text(path, repairs))
    except JsonError as error:
        raise InputError(path, "a JSON document", str(error), line=error.line) from None
    reader = SquadReader(path, repairs)
    for a, article in reader.members(document, "data", ""):
        for p, paragraph in reader.members(article, "paragraphs", f"data[{a}]"):
            where = f"data[{a}].paragraphs[{p}]"
            title, context = article.get("title", ""), paragraph.get("context")
            if not is_text(title) or not is_text(context):
                got = f"{shown(str(title))}, {shown(str(context))}"
                reader.note(f"texts as title and context of {where}", got)
                continue
            outer = _without(document, "data"), _without(article, "paragraphs"), _without(paragraph, "context", "qas")
            source = SquadContext((a, p), *outer, question={}, answers=())
            for q, record in reader.members(paragraph, "qas", where):
                question = reader.question(record, f"{where}.qas[{q}]", str(context), source)
                if question:
                    yield replace(question, title=title)


@dataclass(frozen=True)
class SquadReader:
    """Reads the parts of a document and records what is invalid."""

    path: Path
    repairs: Repairs

    def note(self, expected: str, got: str, advice: str = "repair=True (--repair) skips it") -> None:
        self.repairs.note(InputError(self.path, expected, got, advice=advice))

    def members(self, value: Any, key: str, where: str) -> Iterator[tuple[int, JsonObject]]:
        """The numbered objects of the list `value[key]`. An empty list is invalid: no question could restore it."""
        where = f"{where}.{key}".lstrip(".")
        members = value.get(key) if isinstance(value, dict) else None
        if not isinstance(members, list) or not members:
            return self.note(f"a list with members in {where}", shown(str(members)))
        for i, member in enumerate(members):
            if isinstance(member, dict):
                yield i, member
            else:
                self.note(f"an object in {where}[{i}]", shown(str(member)))

    def question(self, record: JsonObject, where: str, context: str, source: SquadContext) -> Question | None:
        id, text, answers = record.get("id"), record.get("question"), record.get("answers")
        if not is_text(id) or not is_text(text) or not text or not isinstance(answers, list):
            self.note(f"id, question and a list of answers in {where}", shown(str(record)))
            return None
        if answers == [WITHHELD]:
            extras = _without(record, "id", "question")
            return Question(str(id), str(text), context, (), source=replace(source, question=extras))
        read = [(self.answer(answer, f"{where}, id {shown(str(id))}", context), answer) for answer in answers]
        valid_answers = tuple(answer for answer, _ in read if answer)
        if answers and not valid_answers:
            return None  # each of its answers has been recorded
        answer_extras = tuple(_answer_extras(raw_answer, answer) for answer, raw_answer in read if answer)
        source = replace(source, question=_without(record, "id", "question", "answers"), answers=answer_extras)
        return Question(str(id), str(text), context, valid_answers, source=source)

    def answer(self, record: Any, where: str, context: str) -> Answer | None:
        text, start = (record.get("text"), record.get("answer_start")) if isinstance(record, dict) else (None, None)
        if not is_text(text) or not text or type(start) is not int:
            self.note(f"an answer with text and answer_start in {where}", shown(str(record)))
            return None
        text = str(text)
        if start >= 0 and context.startswith(text, start):
            return Answer(text, start)
        pattern = _without_spaces(text)
        if 0 <= start < len(context) and (match := pattern.match(context, start)):
            return _matched(match)
        unique = pattern.search(context)
        if unique and pattern.search(context, unique.start("text") + 1):
            unique = None
        inside = 0 <= start < len(context)
        got = shown(context[start : start + len(text)]) if inside else "the end of the context"
        advice = f"repair=True (--repair) {'skips it' if unique is None else f'moves it to {unique.start(1)}'}"
        self.note(f"the answer {shown(text)} at character {start} of the context ({where})", got, advice)
        return _matched(unique) if unique else None


def unparse(questions: Iterable[Question]) -> Iterator[str]:
    """One document; adjacent questions of the same article and paragraph share them."""
    new = SquadContext((-1, -1), {"version": "1.1"}, {}, {}, {}, ())  # of questions that were not read from a file
    items = [(item, item.source or replace(new, article={"title": item.title})) for item in questions]
    data = []
    for _, article in groupby(items, key=lambda pair: (pair[1].place[0], pair[1].article, pair[0].title)):
        members, paragraphs = list(article), []
        for _, paragraph in groupby(members, key=lambda pair: (pair[1].place, pair[1].paragraph, pair[0].context)):
            questions_of_paragraph = list(paragraph)
            item, source = questions_of_paragraph[0]
            qas = [_record(*pair) for pair in questions_of_paragraph]
            paragraphs.append(dict(source.paragraph) | {"context": item.context, "qas": qas})
        item, source = members[0]
        data.append(dict(source.article) | ({"title": item.title} if item.title else {}) | {"paragraphs": paragraphs})
    yield json.dumps(dict(items[0][1].document if items else {}) | {"data": data})


def recognise(suffix: str, head: Sequence[str]) -> bool:
    return suffix == ".json" and any('"paragraphs"' in line for line in head)


def _without_spaces(text: str) -> re.Pattern[str]:
    """A pattern of the text with any white space between its characters, and before them if the text begins so."""
    characters = r"\s*".join(map(re.escape, "".join(text.split()) or text))
    return re.compile((r"\s*" if text[0].isspace() else "") + f"(?P<text>{characters})")


def _matched(match: re.Match[str]) -> Answer:
    return Answer(match["text"], match.start("text"))


def _answer_extras(record: JsonObject, answer: Answer) -> JsonObject:
    """The other keys of an answer; also its text, if that differs from the paragraph in white space."""
    extras = _without(record, "text", "answer_start")
    return extras if record["text"] == answer.text else extras | {"text": record["text"]}


def _answer_record(answer: Answer, extras: Mapping[str, object]) -> JsonObject:
    """The answer with its text as in the file, unless it was changed."""
    as_read = extras.get("text")
    unchanged = isinstance(as_read, str) and "".join(as_read.split()) == "".join(answer.text.split())
    return dict(extras) | {"text": as_read if unchanged else answer.text, "answer_start": answer.start}


def _record(item: Question, source: SquadContext) -> JsonObject:
    extras_by_answer = source.answers if len(source.answers) == len(item.answers) else [{}] * len(item.answers)
    answers = [_answer_record(*pair) for pair in zip(item.answers, extras_by_answer, strict=True)]
    withheld = source.question.get("answers") or []
    return dict(source.question) | {"id": item.id, "question": item.question, "answers": answers or withheld}


def _without(record: JsonObject, *keys: str) -> JsonObject:
    """The record with None as the values of `keys`, so that writing restores the order of keys."""
    return {key: None if key in keys else value for key, value in record.items()}


SUMMARY = "extractive question answering: JSON of SQuAD, XQuAD, MLQA and TyDi-GoldP"
FORMAT: Format[Question] = Format("squad", "qa", SUMMARY, stream, unparse, recognise, ".json")
