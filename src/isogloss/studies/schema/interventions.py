"""The model changes that a study file may name. A new one is a class of arguments, a function, and a line in `CHANGES`.

A change that is `stored` is expensive: it is done once with a seed of its own (`seed` among its arguments), whatever
the seeds of the study, and what comes out is kept. Any other is done for each run with a seed derived from the run's,
and so is adjustment with `seed: run`; what comes out of that is kept as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, SerializeAsAny, ValidationInfo, model_validator

from isogloss.studies.schema import adapter_interventions as added
from isogloss.studies.schema.references import Bitexts, Part, Text, parsed_change
from isogloss.studies.schema.settings import AdjustmentValues, LanguageModelValues

if TYPE_CHECKING:
    from isogloss.models.loading.loaded_model import LoadedModel

Model = Any  # a LoadedModel; None where there is none yet
RUN = "run"  # in place of a seed: that of the run


@dataclass(frozen=True)
class InterventionKind:
    """`apply(model, arguments, seed, work)` gives the changed model; `work` is a folder that outlives a kill.

    The first argument may be given by itself: `{reinit: "1-2"}` is `{reinit: {layers: "1-2"}}`.
    """

    arguments: type[Part]
    apply: Callable[[Model, Any, int, Path], LoadedModel]
    version: int = 1  # raised when the same change would give another model
    stored: bool = False
    starts: bool = False  # makes a model from nothing


class ReinitArguments(Part):
    layers: str
    parts: Literal["attention", "feed-forward"] | None = None
    keep_norms: bool = False
    scheme: Literal["model", "pytorch"] = "model"


class LanguageModelArguments(Part):
    """What adaptation and pretraining share; `settings` are those of `LanguageModelSettings`."""

    steps: int | None = Field(None, ge=1)
    tokens: int | None = Field(None, ge=1)
    settings: LanguageModelValues = Field(default_factory=dict)
    seed: int = Field(0, ge=0)


class AdaptArguments(LanguageModelArguments):
    text: Text
    lang: str | None = None
    recipe: Literal["published", "modern"] = "published"
    epochs: float | None = Field(None, gt=0)
    mix: dict[str, Text] = Field(default_factory=dict)
    mix_share: float = Field(0.2, ge=0, lt=1)


class AdjustArguments(Part):
    """A language pair is a file, or `lab:SOURCE,TARGET/SPLIT/NUMBER`; `settings` are those of `adjustment`."""

    bitext: Bitexts
    layers: int | str | tuple[int | str, ...] = "last"
    pairs: int | None = Field(None, ge=1)  # of each bitext, the first so many
    settings: AdjustmentValues = Field(default_factory=dict)
    seed: Annotated[int, Field(ge=0)] | Literal["run"] = 0


class PretrainArguments(LanguageModelArguments):
    texts: dict[str, Text]
    tokenizer: Literal["wordpiece", "bpe", "unigram", "characters", "bytes"] = "wordpiece"
    vocabulary: int = Field(8000, ge=1)
    layers: int = Field(6, ge=1)
    width: int = Field(256, ge=1)
    heads: int | None = Field(None, ge=1)
    norm: Literal["post", "pre", "normformer"] | None = None
    dropout: float = Field(0.0, ge=0, lt=1)


def apply_reinit(model: Model, arguments: ReinitArguments, seed: int, work: Path) -> LoadedModel:
    from isogloss.models.interventions.reinit import reinit

    changed: LoadedModel = reinit(**arguments.model_dump())(model, seed=seed)
    return changed


def apply_adapt(model: Model, arguments: AdaptArguments, seed: int, work: Path) -> LoadedModel:
    from isogloss.studies.execution.corpora import read_corpora
    from isogloss.training.language_modeling.adapt import adapt

    text = read_corpora(arguments.text, "text", lang=arguments.lang)
    mix = {lang: read_corpora(one, "text", lang=lang) for lang, one in arguments.mix.items()}
    options = arguments.model_dump(exclude={"text", "lang", "mix", "settings", "seed"})
    return adapt(model, text, mix=mix or None, out=work, seed=seed, **options, **arguments.settings)


def apply_adjust(model: Model, arguments: AdjustArguments, seed: int, work: Path) -> LoadedModel:
    from isogloss.studies.execution.corpora import read_bitexts
    from isogloss.training.adjustment.adjust import adjust

    bitexts = [one[: arguments.pairs] for one in read_bitexts(arguments.bitext)]
    return adjust(model, bitexts, layers=arguments.layers, out=work, seed=seed, **arguments.settings)


def apply_pretrain(model: Model, arguments: PretrainArguments, seed: int, work: Path) -> LoadedModel:
    from isogloss.studies.execution.corpora import read_corpora
    from isogloss.training.language_modeling.pretrain import pretrain

    texts = {lang: read_corpora(one, "text", lang=lang) for lang, one in arguments.texts.items()}
    options = arguments.model_dump(exclude={"texts", "settings", "seed"})
    return pretrain(texts, work, seed=seed, evaluations=0, **options, **arguments.settings)


INTERVENTIONS: dict[str, InterventionKind] = {
    "reinit": InterventionKind(ReinitArguments, apply_reinit),
    "adapt": InterventionKind(AdaptArguments, apply_adapt, stored=True),
    "adjust": InterventionKind(AdjustArguments, apply_adjust, stored=True),
    "extend_vocabulary": InterventionKind(added.VocabularyArguments, added.apply_vocabulary, stored=True),
    "language_adapter": InterventionKind(added.LanguageAdapterArguments, added.apply_language_adapter, stored=True),
    "task_adapter": InterventionKind(added.TaskAdapterArguments, added.apply_task_adapter),
    "lora": InterventionKind(added.LoraArguments, added.apply_lora),
    "pretrain": InterventionKind(PretrainArguments, apply_pretrain, stored=True, starts=True),
}


class Intervention(Part):
    """One model change of a study file, with its arguments checked."""

    name: str
    arguments: SerializeAsAny[Part]

    @model_validator(mode="before")
    @classmethod
    def _from_file(cls, value: object, info: ValidationInfo) -> object:
        return parsed_change(
            value, {name: kind.arguments for name, kind in INTERVENTIONS.items()}, "model change", info
        )

    @property
    def kind(self) -> InterventionKind:
        return INTERVENTIONS[self.name]

    @property
    def fixed_seed(self) -> int | None:
        """The seed among its arguments; None where its seed is derived from the run's."""
        seed = getattr(self.arguments, "seed", RUN) if self.kind.stored else RUN
        return None if seed == RUN else int(seed)

    @property
    def seeded(self) -> bool:
        """Whether it depends on the run's seed."""
        return self.fixed_seed is None
