"""Vocabulary extension with sub-words of a text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from isogloss.studies.schema.interventions.arguments import InterventionArguments
from isogloss.studies.schema.references import LanguageCode, SpecError, Text

if TYPE_CHECKING:
    from isogloss.models.loading.loaded_model import LoadedModel


class ExtendVocabulary(InterventionArguments):
    stored = True
    text: Text
    size: int = Field(ge=1)
    lang: LanguageCode | None = None
    initial: Literal["mean", "random", "lexicon"] = "mean"
    lexicon: Text = ()
    seed: int = Field(0, ge=0)

    @model_validator(mode="after")
    def _has_lexicon_if_needed(self) -> ExtendVocabulary:
        if (self.initial == "lexicon") != bool(self.lexicon):
            raise SpecError("'initial: lexicon' and 'lexicon' together", "only one of them")
        return self

    def apply(self, model: LoadedModel, seed: int, work: Path) -> LoadedModel:
        from isogloss.models.vocabulary.extension import extend_vocabulary
        from isogloss.studies.execution.corpora import read_corpora

        text = read_corpora(self.text, "text", lang=self.lang)
        lexicon = read_corpora(self.lexicon, "lexicon", lang=None) if self.lexicon else None
        return extend_vocabulary(model, text, self.size, initial=self.initial, lexicon=lexicon, seed=seed)
