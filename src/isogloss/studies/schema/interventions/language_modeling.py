"""Training on raw text: adaptation of a model, a language adapter, and pretraining from scratch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from isogloss.studies.schema.interventions.arguments import InterventionArguments
from isogloss.studies.schema.references import LanguageCode, Text
from isogloss.studies.schema.settings import LanguageModelValues

if TYPE_CHECKING:
    from isogloss.models.loading.loaded_model import LoadedModel


class LanguageModelArguments(InterventionArguments):
    """What all of them share; `settings` are those of `LanguageModelSettings`."""

    stored = True
    steps: int | None = Field(None, ge=1)
    tokens: int | None = Field(None, ge=1)
    settings: LanguageModelValues = Field(default_factory=dict)
    seed: int = Field(0, ge=0)


class Adapt(LanguageModelArguments):
    text: Text
    lang: LanguageCode | None = None
    preset: Literal["published", "modern"] = Field("published", serialization_alias="recipe")
    epochs: float | None = Field(None, gt=0)
    mix: dict[LanguageCode, Text] = Field(default_factory=dict)
    mix_share: float = Field(0.2, ge=0, lt=1)

    def apply(self, model: LoadedModel, seed: int, work: Path) -> LoadedModel:
        from isogloss.studies.execution.corpora import read_corpora
        from isogloss.training.language_modeling.adapt import adapt

        text = read_corpora(self.text, "text", lang=self.lang)
        mix = {lang: read_corpora(references, "text", lang=lang) for lang, references in self.mix.items()}
        options = self.model_dump(exclude={"text", "lang", "mix", "settings", "seed"})
        return adapt(model, text, mix=mix or None, out=work, seed=seed, **options, **self.settings)


class LanguageAdapter(LanguageModelArguments):
    text: Text
    lang: LanguageCode | None = None
    reduction: int = Field(2, ge=1)
    placement: Literal["pfeiffer", "houlsby"] = "pfeiffer"
    invertible: bool = True
    epochs: float | None = Field(None, gt=0)

    def check(self, model: LoadedModel) -> None:
        from isogloss.models.interventions.adapters import language_adapter

        language_adapter(**self.model_dump(include={"reduction", "placement", "invertible"}))(model, seed=0)

    def apply(self, model: LoadedModel, seed: int, work: Path) -> LoadedModel:
        from isogloss.models.interventions.adapters import language_adapter
        from isogloss.studies.execution.corpora import read_corpora
        from isogloss.training.language_modeling.adapt import adapt

        text = read_corpora(self.text, "text", lang=self.lang)
        adapter = language_adapter(**self.model_dump(include={"reduction", "placement", "invertible"}))
        budget = self.model_dump(include={"epochs", "steps", "tokens"})
        return adapt(model, text, adapter=adapter, out=work, seed=seed, **budget, **self.settings)


class Pretrain(LanguageModelArguments):
    creates_model = True
    texts: dict[LanguageCode, Text]
    tokenizer: Literal["wordpiece", "bpe", "unigram", "characters", "bytes"] = "wordpiece"
    vocabulary: int = Field(8000, ge=1)
    layers: int = Field(6, ge=1)
    width: int = Field(256, ge=1)
    heads: int | None = Field(None, ge=1)
    norm: Literal["post", "pre", "normformer"] | None = None
    dropout: float = Field(0.0, ge=0, lt=1)

    def apply(self, model: LoadedModel, seed: int, work: Path) -> LoadedModel:
        from isogloss.studies.execution.corpora import read_corpora
        from isogloss.training.language_modeling.pretrain import pretrain

        texts = {lang: read_corpora(references, "text", lang=lang) for lang, references in self.texts.items()}
        options = self.model_dump(exclude={"texts", "settings", "seed"})
        return pretrain(texts, work, seed=seed, evaluations=0, **options, **self.settings)
