"""Extractive question answering in SQuAD's JSON (v1.1), as XQuAD, MLQA and TyDi-GoldP use it.

Every answer must stand in its paragraph where the file says. One that does not is an error that names the
question; with repair allowed its place is corrected if the text occurs exactly once in the paragraph,
otherwise the answer is left out, and the question too if it had no other. Each is noted. Files whose answers are
withheld (XTREME's TyDi-GoldP: one empty answer at 0) give questions without answers, and are counted as such.

Questions carry what else the file says, so that writing gives equal JSON, unknown keys and their order
included. The layout is that of `json.dumps`: MLQA's and TyDi's own files come back byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from isogloss.core.errors import InputError, shown
from isogloss.core.files import Repairs, read_text
from isogloss.corpora.corpus import Format
from isogloss.corpora.formats.strict_json import JsonError, is_text, parse_json
from isogloss.corpora.kinds.qa import Answer, Question, Source

Object = dict[str, Any]
WITHHELD = {"text": "", "answer_start": 0}


def stream(path: Path, repairs: Repairs) -> Iterator[Question]:
    """Questions of a file in its order. With repair allowed, what is faulty is left out and noted."""
    try:
        document = parse_json(read_text(path, repairs))
    except JsonError as error:
        raise InputError(path, "a JSON document", str(error), line=error.line) from None
    reader = Reader(path, repairs)
    for a, article in reader.members(document, "data", ""):
        for p, paragraph in reader.members(article, "paragraphs", f"data[{a}]"):
            where = f"data[{a}].paragraphs[{p}]"
            title, context = article.get("title", ""), paragraph.get("context")
            if not is_text(title) or not is_text(context):
                reader.fault(f"texts as title and context of {where}", f"{shown(str(title))}, {shown(str(context))}")
                continue
            frame = _without(document, "data"), _without(article, "paragraphs"), _without(paragraph, "context", "qas")
            source = Source((a, p), *frame, question={}, answers=())
            for q, record in reader.members(paragraph, "qas", where):
                question = reader.question(record, f"{where}.qas[{q}]", str(context), source)
                if question:
                    yield replace(question, title=title)


@dataclass(frozen=True)
class Reader:
    """Reads the parts of a document and notes what is wrong with them."""

    path: Path
    repairs: Repairs

    def fault(self, expected: str, got: str, advice: str = "repair=True (--repair) leaves it out") -> None:
        self.repairs.note(InputError(self.path, expected, got, advice=advice))

    def members(self, value: Any, key: str, where: str) -> Iterator[tuple[int, Object]]:
        """The objects in the list `value[key]`, numbered. An empty list has no item to be written back with."""
        where = f"{where}.{key}".lstrip(".")
        found = value.get(key) if isinstance(value, dict) else None
        if not isinstance(found, list) or not found:
            return self.fault(f"a list with members in {where}", shown(str(found)))
        for i, member in enumerate(found):
            if isinstance(member, dict):
                yield i, member
            else:
                self.fault(f"an object in {where}[{i}]", shown(str(member)))

    def question(self, record: Object, where: str, context: str, source: Source) -> Question | None:
        id, text, answers = record.get("id"), record.get("question"), record.get("answers")
        if not is_text(id) or not is_text(text) or not text or not isinstance(answers, list):
            self.fault(f"id, question and a list of answers in {where}", shown(str(record)))
            return None
        if answers == [WITHHELD]:
            rest = _without(record, "id", "question")
            return Question(str(id), str(text), context, (), source=replace(source, question=rest))
        read = [(self.answer(answer, f"{where}, id {shown(str(id))}", context), answer) for answer in answers]
        found = tuple(answer for answer, _ in read if answer)
        if answers and not found:
            return None  # each of its answers has been noted
        others = tuple(_without(other, "text", "answer_start") for answer, other in read if answer)
        source = replace(source, question=_without(record, "id", "question", "answers"), answers=others)
        return Question(str(id), str(text), context, found, source=source)

    def answer(self, record: Any, where: str, context: str) -> Answer | None:
        text = record.get("text") if isinstance(record, dict) else None
        start = record.get("answer_start") if isinstance(record, dict) else None
        if not is_text(text) or not text or type(start) is not int:
            self.fault(f"an answer with text and answer_start in {where}", shown(str(record)))
            return None
        text = str(text)
        if start >= 0 and context.startswith(text, start):
            return Answer(text, start)
        place = context.find(text)
        once = place >= 0 and context.find(text, place + 1) < 0
        there = shown(context[start : start + len(text)]) if 0 <= start < len(context) else "the end of the context"
        advice = f"repair=True (--repair) {f'moves it to {place}' if once else 'leaves it out'}"
        self.fault(f"the answer {shown(text)} at character {start} of the context ({where})", there, advice)
        return Answer(text, place) if once else None


def unparse(questions: Iterable[Question]) -> Iterator[str]:
    """One document; questions that stood together, and next to each other still, share article and paragraph."""
    items = [(item, item.source or _made(item)) for item in questions]
    data = []
    for _, article in groupby(items, key=lambda pair: (pair[1].place[0], pair[1].article, pair[0].title)):
        members, paragraphs = list(article), []
        for _, paragraph in groupby(members, key=lambda pair: (pair[1].place, pair[1].paragraph, pair[0].context)):
            asked = list(paragraph)
            item, source = asked[0]
            qas = [_record(*pair) for pair in asked]
            paragraphs.append(dict(source.paragraph) | {"context": item.context, "qas": qas})
        item, source = members[0]
        data.append(dict(source.article) | ({"title": item.title} if item.title else {}) | {"paragraphs": paragraphs})
    yield json.dumps(dict(items[0][1].document if items else {}) | {"data": data})


def recognise(suffix: str, head: Sequence[str]) -> bool:
    return suffix == ".json" and any('"paragraphs"' in line for line in head)


def _record(item: Question, source: Source) -> Object:
    others = source.answers if len(source.answers) == len(item.answers) else [{}] * len(item.answers)
    pairs = zip(item.answers, others, strict=True)
    answers = [dict(other) | {"text": answer.text, "answer_start": answer.start} for answer, other in pairs]
    withheld = source.question.get("answers") or []
    return dict(source.question) | {"id": item.id, "question": item.question, "answers": answers or withheld}


def _made(item: Question) -> Source:
    """For a question that was read from no file."""
    return Source((-1, -1), {"version": "1.1"}, {"title": item.title}, {}, {}, ())


def _without(record: Object, *keys: str) -> Object:
    """The record without the values of `keys`, whose places it keeps so that writing restores the order."""
    return {key: None if key in keys else value for key, value in record.items()}


FORMAT: Format[Question] = Format(
    name="squad",
    kind="qa",
    summary="extractive question answering: SQuAD's JSON, as XQuAD, MLQA and TyDi-GoldP",
    stream=stream,
    unparse=unparse,
    recognise=recognise,
    suffix=".json",
)
