"""Text changes applied to a corpus of any kind: words keep their tags, answers their places, trees their shape.

A text change defines how it rewrites the rows of a tree, the words of a sentence, and running text in pieces
(`Rewriting`). `CorpusKind.rewrite` applies it to items and moves their annotation along. `place` identifies what is
rewritten ("12", "12 hypothesis"), so that random changes differ between items and are reproducible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds import KINDS
from isogloss.corpora.kinds.treebank import Row
from isogloss.corpora.parallel import ParallelSet
from isogloss.corpora.pieces import Piece
from isogloss.languages.codes import canonical

T = TypeVar("T")
Rows = tuple[Row, ...]


@dataclass(frozen=True)
class Rewriting:
    """How a text change rewrites the parts of corpora; each function also gets the place of the part in the corpus."""

    rows: Callable[[Rows, str], Rows]  # the rows of a tree
    words: Callable[[Sequence[str], str], list[str]]  # must return the same number of words
    pieces: Callable[[str, str], list[Piece]]  # running text that has annotation
    text: Callable[[str, str], str]  # running text without annotation: faster than `pieces`


def rewrite(corpus: Corpus[T], change: Rewriting) -> Corpus[T]:
    """The corpus after a text change; the annotation follows the new text."""
    if corpus.kind.rewrite is None:
        kinds_with_text = ", ".join(name for name, kind in KINDS.items() if kind.rewrite)
        raise UsageError(f"a {corpus.kind.name} corpus has no text of one language to change; known: {kinds_with_text}")
    return corpus.with_items(corpus.kind.rewrite(corpus, change))


def rewrite_parallel(texts: ParallelSet, lang: str, change: Rewriting) -> ParallelSet:
    """A text change of one language of a parallel set; tokenised sentences are rebuilt from their words."""
    lang = check_name(canonical(lang), texts.languages, "language of this parallel set")
    column, tokens = list(texts.texts[lang]), dict(texts.tokens)
    spaced = [" ".join(words) for words in tokens.get(lang, ())] or [""] * len(texts)
    if lang in tokens:
        tokens[lang] = tuple(tuple(change.words(words, str(i))) for i, words in enumerate(tokens[lang]))
    for i, text in enumerate(column):
        column[i] = " ".join(tokens[lang][i]) if lang in tokens and text == spaced[i] else change.text(text, str(i))
    return replace(texts, texts={**texts.texts, lang: tuple(column)}, tokens=tokens)
