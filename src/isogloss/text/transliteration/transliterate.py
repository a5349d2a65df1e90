"""`ig.transliterate`: texts, corpora and parallel sets in another script, with their annotation.

In a treebank, forms and lemmas are rewritten, including multiword tokens and empty nodes, and `# text` is updated;
everything else stays, including MISC.
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
    """The text in the script of a related, well-resourced language.

    `text`: a string, a corpus or a parallel set. `lang`: language code; by default that of the corpus. `scheme`: by
    default the scheme for the language (`isogloss ls schemes`), or uroman if there is none. `inverse`: back to the
    original script, for reversible schemes. `seed`: random seed of the scheme "permutation".

    >>> transliterate("ياخشىمۇسىز", lang="ug"), transliterate("yaxşimusiz", lang="ug", inverse=True)
    ('yaxşimusiz', 'ياخشىمۇسىز')
    """
    if isinstance(text, Corpus) and lang is None and text.lang != UNKNOWN:
        lang = text.lang
    chosen_scheme = scheme_for(lang, scheme, seed=seed)
    if inverse:
        chosen_scheme = inverse_of(chosen_scheme)
    if isinstance(text, str):
        return chosen_scheme(text)
    if isinstance(text, ParallelSet):
        if lang is None:
            raise UsageError(f"expected one of the languages {', '.join(text.languages)} as lang=, got none")
        return rewrite_parallel(text, lang, rewriting(chosen_scheme))
    return rewrite(text, rewriting(chosen_scheme))


def rewriting(scheme: Scheme) -> Rewriting:
    """A scheme as a text change of corpora."""

    @cache
    def single_word(word: str) -> str:
        return word if word == "_" else scheme.words([word])[0]

    def rows(old: Rows, place: str) -> Rows:
        """Words in the context of their sentence; lemmas, multiword tokens and empty nodes without context."""
        words = iter(scheme.words([row.form for row in old if row.id.isdecimal()]))
        forms = [next(words) if row.id.isdecimal() else single_word(row.form) for row in old]
        pairs = zip(old, forms, strict=True)
        return tuple(row._replace(form=form, lemma=single_word(row.lemma)) for row, form in pairs)

    return Rewriting(
        rows=rows,
        words=lambda words, place: scheme.words(words),
        pieces=lambda text, place: scheme.pieces(text),
        text=lambda text, place: scheme(text) or text,
    )
