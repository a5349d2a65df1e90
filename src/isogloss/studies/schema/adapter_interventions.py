"""Model changes of a study file that add to a model: adapters and sub-words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from isogloss.studies.schema.references import Part, Text
from isogloss.studies.schema.settings import LanguageModelValues

if TYPE_CHECKING:
    from isogloss.models.loading.loaded_model import LoadedModel

Model = Any  # a LoadedModel
Placement = Literal["pfeiffer", "houlsby"]


class VocabularyArguments(Part):
    text: Text
    size: int = Field(ge=1)
    lang: str | None = None
    initial: Literal["mean", "random", "lexicon"] = "mean"
    lexicon: Text = ()
    seed: int = Field(0, ge=0)


class LanguageAdapterArguments(Part):
    """A language adapter trained on text; `settings` are those of `LanguageModelSettings`."""

    text: Text
    lang: str | None = None
    reduction: int = Field(2, ge=1)
    placement: Placement = "pfeiffer"
    invertible: bool = True
    epochs: float | None = Field(None, gt=0)
    steps: int | None = Field(None, ge=1)
    tokens: int | None = Field(None, ge=1)
    settings: LanguageModelValues = Field(default_factory=dict)
    seed: int = Field(0, ge=0)


class TaskAdapterArguments(Part):
    reduction: int = Field(16, ge=1)
    placement: Placement = "pfeiffer"


class LoraArguments(Part):
    rank: int = Field(8, ge=1)
    alpha: float = Field(16, gt=0)
    dropout: float = Field(0.0, ge=0, lt=1)


def apply_vocabulary(model: Model, arguments: VocabularyArguments, seed: int, work: Path) -> LoadedModel:
    from isogloss.models.vocabulary.extension import extend_vocabulary
    from isogloss.studies.execution.corpora import read_corpora

    text = read_corpora(arguments.text, "text", lang=arguments.lang)
    lexicon = read_corpora(arguments.lexicon, "lexicon", lang=None) if arguments.lexicon else None
    return extend_vocabulary(model, text, arguments.size, initial=arguments.initial, lexicon=lexicon, seed=seed)


def apply_language_adapter(model: Model, arguments: LanguageAdapterArguments, seed: int, work: Path) -> LoadedModel:
    from isogloss.models.adapters.interventions import language_adapter
    from isogloss.studies.execution.corpora import read_corpora
    from isogloss.training.language_modeling.adapt import adapt

    text = read_corpora(arguments.text, "text", lang=arguments.lang)
    shape = arguments.model_dump(include={"reduction", "placement", "invertible"})
    budget = arguments.model_dump(include={"epochs", "steps", "tokens"})
    return adapt(model, text, adapter=language_adapter(**shape), out=work, seed=seed, **budget, **arguments.settings)


def apply_task_adapter(model: Model, arguments: TaskAdapterArguments, seed: int, work: Path) -> LoadedModel:
    from isogloss.models.adapters.interventions import task_adapter

    return task_adapter(**arguments.model_dump())(model, seed=seed)


def apply_lora(model: Model, arguments: LoraArguments, seed: int, work: Path) -> LoadedModel:
    from isogloss.models.adapters.lora import lora

    return lora(**arguments.model_dump())(model, seed=seed)
