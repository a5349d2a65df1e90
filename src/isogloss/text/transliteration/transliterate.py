"""`ig.transliterate`: texts, corpora and parallel sets in other letters, annotation intact.

In a treebank forms and lemmas are rewritten, multiword tokens and empty nodes too, and `# text` is what the new
forms read; everything else stays, MISC included.
"""

from __future__ import annotations

from functools import cache
from typing import TypeVar

from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import AnyCorpus, Corpus
from isogloss.corpora.parallel import ParallelSet
from isogloss.corpora.rewriting import Rewriting, Rows, rewrite, rewrite_parallel
from isogloss.languages.codes import UNKNOWN
from isogloss.text.transliteration.scheme import Scheme
from isogloss.text.transliteration.schemes import inverse_of, scheme_for

T = TypeVar("T", str, AnyCorpus, ParallelSet)


def transliterate(
    text: T, lang: str | None = None, scheme: str | None = None, *, inverse: bool = False, seed: int = 0
) -> T:
    """The same in the letters of a related, well-resourced language.

    The scheme is the one made for the language (`isogloss ls schemes`), uroman where there is none, or the one named;
    a corpus knows its language. `inverse=True` goes back, where the scheme allows it. `seed` is that of the scheme
    "permutation".

    >>> transliterate("ياخشىمۇسىز", lang="ug"), transliterate("yaxşimusiz", lang="ug", inverse=True)
    ('yaxşimusiz', 'ياخشىمۇسىز')
    """
    if isinstance(text, Corpus) and lang is None and text.lang != UNKNOWN:
        lang = text.lang
    chosen = scheme_for(lang, scheme, seed=seed)
    if inverse:
        chosen = inverse_of(chosen, seed=seed)
    if isinstance(text, str):
        return chosen(text)
    if isinstance(text, ParallelSet):
        if lang is None:
            raise UsageError(f"which of the languages {', '.join(text.languages)}? give lang=")
        return rewrite_parallel(text, lang, rewriting(chosen))
    return rewrite(text, rewriting(chosen))


def rewriting(scheme: Scheme) -> Rewriting:
    """A scheme as a change of corpora."""

    @cache
    def alone(word: str) -> str:
        return word if word == "_" else scheme.words([word])[0]

    def rows(old: Rows, place: str) -> Rows:
        """Words in their sentence; lemmas, multiword tokens and empty nodes each alone."""
        words = iter(scheme.words([row.form for row in old if row.id.isdecimal()]))
        forms = [next(words) if row.id.isdecimal() else alone(row.form) for row in old]
        return tuple(row._replace(form=form, lemma=alone(row.lemma)) for row, form in zip(old, forms, strict=True))

    return Rewriting(
        rows=rows,
        words=lambda words, place: scheme.words(words),
        pieces=lambda text, place: scheme.pieces(text),
        text=lambda text, place: scheme(text) or text,
    )
