"""Code-switching with a dictionary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from isogloss.studies.schema.references import Text
from isogloss.studies.schema.text_changes.kind import Role, TextArguments, TextChangeKind

if TYPE_CHECKING:
    from isogloss.corpora.corpus import AnyCorpus


class CodeSwitchArguments(TextArguments):
    lexicon: Text
    ratio: float = Field(0.5, ge=0, le=1)
    on: tuple[Role, ...] = ("train",)
    seed: int = Field(0, ge=0)


def apply_code_switch(corpus: AnyCorpus, arguments: CodeSwitchArguments) -> AnyCorpus:
    from isogloss.corpora.readers import read_lexicon
    from isogloss.text.changes.code_switching import code_switch

    lexicons = [read_lexicon(reference) for reference in arguments.lexicon]
    entries = lexicons[0].with_items(entry for lexicon in lexicons for entry in lexicon)
    return code_switch(corpus, entries, arguments.ratio, seed=arguments.seed)


CODE_SWITCH = TextChangeKind("code_switch", CodeSwitchArguments, apply_code_switch)
