"""Transliteration into the script that suits the language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from isogloss.languages.codes import canonical
from isogloss.studies.schema.text_changes.kind import TextArguments, TextChangeKind

if TYPE_CHECKING:
    from isogloss.corpora.corpus import AnyCorpus


class TransliterateArguments(TextArguments):
    """`langs`: the languages whose corpora are transliterated; all by default."""

    scheme: str | None = None
    langs: tuple[str, ...] = ()
    seed: int = Field(0, ge=0)


def apply_transliterate(corpus: AnyCorpus, arguments: TransliterateArguments) -> AnyCorpus:
    from isogloss.text.transliteration.transliterate import transliterate

    if arguments.langs and corpus.lang not in map(canonical, arguments.langs):
        return corpus
    return transliterate(corpus, scheme=arguments.scheme, seed=arguments.seed)


TRANSLITERATE = TextChangeKind("transliterate", TransliterateArguments, apply_transliterate)
