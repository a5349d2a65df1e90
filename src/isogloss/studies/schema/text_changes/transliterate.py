"""Transliteration into the script that suits the language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isogloss.languages.codes import canonical
from isogloss.studies.schema.references import LanguageCode
from isogloss.studies.schema.text_changes.arguments import TextArguments

if TYPE_CHECKING:
    from isogloss.corpora.corpus import AnyCorpus


class Transliterate(TextArguments):
    """`langs`: the languages whose corpora are transliterated; all by default."""

    scheme: str | None = None
    langs: tuple[LanguageCode, ...] = ()

    def apply(self, corpus: AnyCorpus) -> AnyCorpus:
        from isogloss.text.transliteration.transliterate import transliterate

        if self.langs and corpus.lang not in map(canonical, self.langs):
            return corpus
        return transliterate(corpus, scheme=self.scheme, seed=self.seed)
