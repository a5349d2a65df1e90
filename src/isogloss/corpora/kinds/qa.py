"""Extractive question answering: questions about a paragraph, also in two languages.

Files do not contain the languages of a question: `after_reading` sets them from the corpus and the file name, and the
data set, by which answers are scored, from the file's version and ids.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from isogloss.core.errors import InputError, shown
from isogloss.core.files import Repairs
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.kind import CorpusKind, HubConversion, Mixture
from isogloss.corpora.pieces import Piece, map_spans, new_text
from isogloss.languages.codes import UNKNOWN, canonical

if TYPE_CHECKING:
    from isogloss.corpora.hub import HubRows
    from isogloss.corpora.rewriting import Rewriting

MLQA_NAME = re.compile(r"context-[a-z]{2,3}-question-([a-z]{2,3})")
MLQA, SQUAD, TYDI, UNKNOWN_DATA_SET = "mlqa", "squad", "tydi", ""  # XQuAD is a translation of SQuAD, with its ids
TYDI_VERSION = "TyDiQA"
IDS = {  # of all questions of a data set
    MLQA: re.compile(r"[0-9a-f]{40}"),
    SQUAD: re.compile(r"[0-9a-f]{24}"),
    TYDI: re.compile(r"[a-z]+-?-[0-9]+-[0-9]+"),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A span of the paragraph: `context[start : start + len(text)] == text`."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class SquadContext:
    """Position of a question (article, paragraph) and its enclosing JSON objects, without the fields of `Question`."""

    place: tuple[int, int]
    document: Mapping[str, object]
    article: Mapping[str, object]
    paragraph: Mapping[str, object]
    question: Mapping[str, object]
    answers: tuple[Mapping[str, object], ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the paragraph to search, and the answers in it (possibly none).

    >>> question = Question("q1", "Who barks?", "The dog barks.", (Answer("dog", 4),))
    >>> [question.context[a.start : a.start + len(a.text)] for a in question.answers]
    ['dog']
    """

    id: str
    question: str
    context: str
    answers: tuple[Answer, ...]
    title: str = ""
    question_lang: str = UNKNOWN
    context_lang: str = UNKNOWN
    data_set: str = UNKNOWN_DATA_SET
    source: SquadContext | None = field(default=None, repr=False, compare=False)


Questions: TypeAlias = Corpus[Question]


def complete(corpus: Questions) -> Questions:
    """The questions with their data set and languages: that of the corpus, or those that an MLQA file name states."""
    match = MLQA_NAME.search(Path(corpus.origin).name)
    question_lang = canonical(match[1]) if match else corpus.lang
    data_set = detect_data_set(corpus)
    return corpus.with_items(
        replace(item, question_lang=question_lang, context_lang=corpus.lang, data_set=data_set) for item in corpus
    )


def detect_data_set(questions: Sequence[Question]) -> str:
    """MLQA, SQuAD (with XQuAD) or TyDi-GoldP, by the version of the file and the form of the ids; "" for others.

    >>> detect_data_set([Question("56beb4343aeaaa14008c925b", "Who?", "Ada.", ())])
    'squad'
    """
    first = questions[0].source
    if first and str(first.document.get("version")).startswith(TYDI_VERSION):
        return TYDI
    forms = (name for name, form in IDS.items() if all(form.fullmatch(question.id) for question in questions))
    return next(forms, UNKNOWN_DATA_SET)


def pair_languages(questions: Questions, paragraphs: Questions, *, repair: bool = False) -> Questions:
    """The questions of one language over the paragraphs and answers of another, joined by question id.

    An id in only one of the corpora is an error; with `repair=True` the question is skipped and recorded.
    """
    questions_by_id, paragraphs_by_id, repairs = _by_id(questions), _by_id(paragraphs), Repairs(repair)
    _note_missing(questions_by_id, paragraphs_by_id, paragraphs, repairs)
    _note_missing(paragraphs_by_id, questions_by_id, questions, repairs)
    shared = [(questions_by_id[id], item) for id, item in paragraphs_by_id.items() if id in questions_by_id]
    pairs = tuple(replace(item, question=q.question, question_lang=q.question_lang) for q, item in shared)
    return replace(paragraphs, items=pairs, repairs=(*paragraphs.repairs, *repairs.made))


def count(questions: Sequence[Question]) -> dict[str, int]:
    counts = {"questions": len(questions), "paragraphs": len({item.context for item in questions})}
    irregular = {
        "questions without answer": sum(not item.answers for item in questions),
        "questions with an id seen before": len(questions) - len({item.id for item in questions}),
        "answers that differ from the paragraph in white space": sum(map(_spacing_differences, questions)),
    }
    return counts | {unit: n for unit, n in irregular.items() if n}


def _spacing_differences(question: Question) -> int:
    """The answers whose text in the file, which the reader stores, has other white space than the paragraph."""
    answers = question.source.answers if question.source else ()
    return sum(answer.get("text") is not None for answer in answers)


def _by_id(corpus: Corpus[Question]) -> dict[str, Question]:
    result = {item.id: item for item in corpus}
    if len(result) < len(corpus):
        id, times = Counter(item.id for item in corpus).most_common(1)[0]
        raise InputError(corpus.origin or corpus.lang, "one question per id", f"{times} with the id {shown(id)}")
    return result


def _note_missing(ids: Iterable[str], present: Container[str], corpus: Questions, repairs: Repairs) -> None:
    missing = [id for id in ids if id not in present]
    for id in missing:
        expected = f"the question {shown(id)}, which the other language has"
        advice = f"{len(missing)} are missing; repair=True skips them"
        repairs.note(InputError(corpus.origin or corpus.lang, expected, "none", advice=advice))


def rewrite(corpus: Corpus[Question], change: Rewriting) -> list[Question]:
    """Rewrite questions and paragraphs; a paragraph of several questions is rewritten once."""
    contexts: dict[str, list[Piece]] = {}
    for question in corpus:
        if question.context not in contexts:
            contexts[question.context] = change.pieces(question.context, f"{len(contexts)} context")
    return [_rewrite_question(question, contexts[question.context], change, i) for i, question in enumerate(corpus)]


def _rewrite_question(question: Question, context: Sequence[Piece], change: Rewriting, number: int) -> Question:
    """A question in another language than its paragraph is not changed."""
    text, new_question = new_text(context), question.question
    if question.question_lang == question.context_lang:
        new_question = change.text(new_question, f"{number} question")
    spans = map_spans(context, [(answer.start, answer.start + len(answer.text)) for answer in question.answers])
    answers = tuple(Answer(text[start:stop], start) for start, stop in spans if start < stop)
    return replace(question, question=new_question, context=text, answers=answers)


def hub_lines(rows: HubRows) -> Iterator[str]:
    articles = []
    titles = rows.values("title", optional=True)
    parts = (rows.values(name) for name in ("id", "question", "context", "answers"))
    for title, id, question, context, answers in zip(titles, *parts, strict=True):
        texts_and_starts = zip(answers["text"], answers["answer_start"], strict=True)
        spans = [{"text": text, "answer_start": start} for text, start in texts_and_starts]
        paragraph = {"context": context, "qas": [{"id": id, "question": question, "answers": spans}]}
        articles.append({"title": title or "", "paragraphs": [paragraph]})
    yield json.dumps({"version": "1.1", "data": articles})


QA: CorpusKind[Question] = CorpusKind(
    name="qa",
    count=count,
    text=lambda item: f"{item.context} {item.question}",
    display=lambda item: {"question": item.question},
    after_reading=complete,
    language_in_name=MLQA_NAME,
    rewrite=rewrite,
    hub=HubConversion(hub_lines, format="squad"),
    laboratory=lambda lab, part: lab.qa(part.lang, part.split, part.number),
    mixture=Mixture(pair_languages),
)
