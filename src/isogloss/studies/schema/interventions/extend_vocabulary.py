"""Vocabulary extension with sub-words of a text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from isogloss.studies.schema.interventions.kind import InterventionKind
from isogloss.studies.schema.references import Part, Text

if TYPE_CHECKING:
    from isogloss.models.loading.loaded_model import LoadedModel


class VocabularyArguments(Part):
    text: Text
    size: int = Field(ge=1)
    lang: str | None = None
    initial: Literal["mean", "random", "lexicon"] = "mean"
    lexicon: Text = ()
    seed: int = Field(0, ge=0)


def apply_vocabulary(model: LoadedModel, arguments: VocabularyArguments, seed: int, work: Path) -> LoadedModel:
    from isogloss.models.vocabulary.extension import extend_vocabulary
    from isogloss.studies.execution.corpora import read_corpora

    text = read_corpora(arguments.text, "text", lang=arguments.lang)
    lexicon = read_corpora(arguments.lexicon, "lexicon", lang=None) if arguments.lexicon else None
    return extend_vocabulary(model, text, arguments.size, initial=arguments.initial, lexicon=lexicon, seed=seed)


EXTEND_VOCABULARY = InterventionKind("extend_vocabulary", VocabularyArguments, apply_vocabulary, stored=True)
