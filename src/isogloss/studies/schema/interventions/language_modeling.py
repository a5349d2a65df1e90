"""Training on raw text: adaptation of a model, a language adapter, and pretraining from scratch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from isogloss.studies.schema.interventions.kind import InterventionKind
from isogloss.studies.schema.references import Part, Text
from isogloss.studies.schema.settings import LanguageModelValues

if TYPE_CHECKING:
    from isogloss.models.loading.loaded_model import LoadedModel


class LanguageModelArguments(Part):
    """What all of them share; `settings` are those of `LanguageModelSettings`."""

    steps: int | None = Field(None, ge=1)
    tokens: int | None = Field(None, ge=1)
    settings: LanguageModelValues = Field(default_factory=dict)
    seed: int = Field(0, ge=0)


class AdaptArguments(LanguageModelArguments):
    text: Text
    lang: str | None = None
    preset: Literal["published", "modern"] = Field("published", serialization_alias="recipe")
    epochs: float | None = Field(None, gt=0)
    mix: dict[str, Text] = Field(default_factory=dict)
    mix_share: float = Field(0.2, ge=0, lt=1)


class LanguageAdapterArguments(LanguageModelArguments):
    text: Text
    lang: str | None = None
    reduction: int = Field(2, ge=1)
    placement: Literal["pfeiffer", "houlsby"] = "pfeiffer"
    invertible: bool = True
    epochs: float | None = Field(None, gt=0)


class PretrainArguments(LanguageModelArguments):
    texts: dict[str, Text]
    tokenizer: Literal["wordpiece", "bpe", "unigram", "characters", "bytes"] = "wordpiece"
    vocabulary: int = Field(8000, ge=1)
    layers: int = Field(6, ge=1)
    width: int = Field(256, ge=1)
    heads: int | None = Field(None, ge=1)
    norm: Literal["post", "pre", "normformer"] | None = None
    dropout: float = Field(0.0, ge=0, lt=1)


def apply_adapt(model: LoadedModel, arguments: AdaptArguments, seed: int, work: Path) -> LoadedModel:
    from isogloss.studies.execution.corpora import read_corpora
    from isogloss.training.language_modeling.adapt import adapt

    text = read_corpora(arguments.text, "text", lang=arguments.lang)
    mix = {lang: read_corpora(references, "text", lang=lang) for lang, references in arguments.mix.items()}
    options = arguments.model_dump(exclude={"text", "lang", "mix", "settings", "seed"})
    return adapt(model, text, mix=mix or None, out=work, seed=seed, **options, **arguments.settings)


def apply_language_adapter(
    model: LoadedModel, arguments: LanguageAdapterArguments, seed: int, work: Path
) -> LoadedModel:
    from isogloss.models.interventions.adapters import language_adapter
    from isogloss.studies.execution.corpora import read_corpora
    from isogloss.training.language_modeling.adapt import adapt

    text = read_corpora(arguments.text, "text", lang=arguments.lang)
    shape = arguments.model_dump(include={"reduction", "placement", "invertible"})
    budget = arguments.model_dump(include={"epochs", "steps", "tokens"})
    return adapt(model, text, adapter=language_adapter(**shape), out=work, seed=seed, **budget, **arguments.settings)


def apply_pretrain(model: LoadedModel | None, arguments: PretrainArguments, seed: int, work: Path) -> LoadedModel:
    from isogloss.studies.execution.corpora import read_corpora
    from isogloss.training.language_modeling.pretrain import pretrain

    texts = {lang: read_corpora(references, "text", lang=lang) for lang, references in arguments.texts.items()}
    options = arguments.model_dump(exclude={"texts", "settings", "seed"})
    return pretrain(texts, work, seed=seed, evaluations=0, **options, **arguments.settings)


ADAPT = InterventionKind("adapt", AdaptArguments, apply_adapt, stored=True)
LANGUAGE_ADAPTER = InterventionKind("language_adapter", LanguageAdapterArguments, apply_language_adapter, stored=True)
PRETRAIN = InterventionKind("pretrain", PretrainArguments, apply_pretrain, stored=True, creates_model=True)
