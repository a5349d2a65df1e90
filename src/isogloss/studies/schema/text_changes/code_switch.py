"""Code-switching with a dictionary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from isogloss.studies.schema.references import Text
from isogloss.studies.schema.text_changes.arguments import Role, TextArguments

if TYPE_CHECKING:
    from isogloss.corpora.corpus import AnyCorpus


class CodeSwitch(TextArguments):
    lexicon: Text
    ratio: float = Field(0.5, ge=0, le=1)
    on: tuple[Role, ...] = ("train",)

    def apply(self, corpus: AnyCorpus) -> AnyCorpus:
        from isogloss.corpora.readers import read_lexicon
        from isogloss.text.changes.code_switching import code_switch

        lexicons = [read_lexicon(reference) for reference in self.lexicon]
        entries = lexicons[0].with_items(entry for lexicon in lexicons for entry in lexicon)
        return code_switch(corpus, entries, self.ratio, seed=self.seed)
