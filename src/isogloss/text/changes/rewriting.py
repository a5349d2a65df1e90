"""One rewriting for every kind of corpus: words keep their tags, answers their places, trees their shape.

A text change says how it rewrites the rows of a tree, the words of a sentence, and running text in pieces; what
carries annotation along is written here once. `place` names what is rewritten ("12", "12 hypothesis"), so that a
random change can draw for each item anew and yet the same every time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.corpora.columns import NerSentence
from isogloss.corpora.conllu import Row, Tree, surface_text
from isogloss.corpora.corpus import AnyCorpus, Corpus
from isogloss.corpora.nli import NliPair
from isogloss.corpora.parallel import ParallelSet
from isogloss.corpora.questions import Answer, Question
from isogloss.corpora.raw import Line
from isogloss.languages.codes import canonical
from isogloss.text.changes.pieces import Piece, moved, new_text

Rows = tuple[Row, ...]


@dataclass(frozen=True)
class Rewriting:
    """How a text change rewrites what corpora are made of."""

    rows: Callable[[Rows, str], Rows]  # of a tree
    words: Callable[[Sequence[str], str], list[str]]  # as many as before
    pieces: Callable[[str, str], list[Piece]]
    text: Callable[[str, str], str]  # what the pieces give, without their cost


def rewrite(corpus: AnyCorpus, change: Rewriting) -> AnyCorpus:
    """The corpus after a change; its annotation is that of the new text."""
    kind = corpus.format.kind
    if kind not in ITEMS:
        raise UsageError(f"a {kind} corpus has no text of one language to change; known: {', '.join(ITEMS)}")
    return corpus.with_items(ITEMS[kind](corpus, change))


def rewrite_parallel(texts: ParallelSet, lang: str, change: Rewriting) -> ParallelSet:
    """One language of a parallel set; where its words are known, the sentence is rebuilt from them."""
    lang = check_name(canonical(lang), texts.languages, "language of this parallel set")
    column, tokens = list(texts.texts[lang]), dict(texts.tokens)
    spaced = [" ".join(words) for words in tokens.get(lang, ())] or [""] * len(texts)
    if lang in tokens:
        tokens[lang] = tuple(tuple(change.words(words, str(i))) for i, words in enumerate(tokens[lang]))
    for i, text in enumerate(column):
        column[i] = " ".join(tokens[lang][i]) if lang in tokens and text == spaced[i] else change.text(text, str(i))
    return replace(texts, texts={**texts.texts, lang: tuple(column)}, tokens=tokens)


def _trees(corpus: Corpus[Tree], change: Rewriting) -> list[Tree]:
    return [with_rows(tree, change.rows(tree.rows, str(i))) for i, tree in enumerate(corpus)]


def with_rows(tree: Tree, rows: Rows) -> Tree:
    """The tree with other rows; its `# text`, where it has one, is what they read."""
    if rows == tree.rows:
        return tree
    told = [f"# text = {surface_text(rows)}" if _is_text(line) else line for line in tree.comments]
    return Tree(tuple(told), rows)


def with_space(misc: str, space: bool) -> str:
    """MISC with or without `SpaceAfter=No`.

    >>> with_space("SpaceAfter=No", True), with_space("Gloss=x", False)
    ('_', 'Gloss=x|SpaceAfter=No')
    """
    others = [value for value in misc.split("|") if value not in ("_", "SpaceAfter=No")]
    return "|".join(others if space else [*others, "SpaceAfter=No"]) or "_"


def _is_text(comment: str) -> bool:
    name, mark, _ = comment[1:].partition("=")
    return bool(mark) and name.strip() == "text"


def _sentences(corpus: Corpus[NerSentence], change: Rewriting) -> list[NerSentence]:
    return [sentence.with_words(change.words(sentence.words, str(i))) for i, sentence in enumerate(corpus)]


def _pairs(corpus: Corpus[NliPair], change: Rewriting) -> list[NliPair]:
    return [
        replace(
            pair,
            premise=change.text(pair.premise, f"{i} premise"),
            hypothesis=change.text(pair.hypothesis, f"{i} hypothesis"),
        )
        for i, pair in enumerate(corpus)
    ]


def _questions(corpus: Corpus[Question], change: Rewriting) -> list[Question]:
    """Questions and paragraphs; a paragraph that several questions share stays one."""
    contexts: dict[str, list[Piece]] = {}
    for question in corpus:
        if question.context not in contexts:
            contexts[question.context] = change.pieces(question.context, f"{len(contexts)} context")
    return [_question(question, contexts[question.context], change, i) for i, question in enumerate(corpus)]


def _question(question: Question, context: Sequence[Piece], change: Rewriting, number: int) -> Question:
    """A question in another language than its paragraph stays as it is."""
    text, asked = new_text(context), question.question
    if question.question_lang == question.context_lang:
        asked = change.text(asked, f"{number} question")
    spans = moved(context, [(answer.start, answer.start + len(answer.text)) for answer in question.answers])
    answers = tuple(Answer(text[start:stop], start) for start, stop in spans if start < stop)
    return replace(question, question=asked, context=text, answers=answers)


def _lines(corpus: Corpus[str], change: Rewriting) -> list[str]:
    return [
        Line(change.text(line, str(i)), line.after) if isinstance(line, Line) else change.text(line, str(i))
        for i, line in enumerate(corpus)
    ]


ITEMS: Mapping[str, Callable[[AnyCorpus, Rewriting], list[Any]]] = {
    "treebank": _trees,
    "ner": _sentences,
    "nli": _pairs,
    "qa": _questions,
    "text": _lines,
}
