"""The declaration of an intervention (model → model), and the application of several before fine-tuning."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Protocol

from isogloss.core.seeds import derive_seed
from isogloss.corpora.corpus import Corpus
from isogloss.models.loading.loaded_model import LoadedModel, clone


class Intervention(Protocol):
    """Changes a model before fine-tuning. It receives a copy, which it may modify in place.

    `reinit("1-2")` is one; of a function with more parameters, `functools.partial(adjust, bitext=bitext)`.
    """

    def __call__(self, model: LoadedModel, /, *, seed: int) -> LoadedModel: ...


def apply_interventions(model: LoadedModel, interventions: Sequence[Intervention], seed: int) -> LoadedModel:
    """Apply interventions to a copy of the model, each with a seed derived from the run's seed."""
    if interventions:
        model = clone(model)
    for number, intervention in enumerate(interventions):
        model = intervention(model, seed=derive_seed(seed, "change", number))
    return model


def describe_intervention(intervention: object) -> str:
    """The name of a function, name and arguments of a partial, the representation of any other object.

    >>> describe_intervention(derive_seed), describe_intervention(None)
    ('derive_seed', '')
    >>> describe_intervention(partial(derive_seed, layers="last", epochs=2))
    'derive_seed(epochs=2, layers=last)'
    """
    if intervention is None:
        return ""
    if isinstance(intervention, partial):
        values = [*intervention.args, *intervention.keywords.values()]
        corpora = [text for value in values for text in _describe_corpora(value)]
        options = sorted(
            f"{name}={_describe_value(value)}"
            for name, value in intervention.keywords.items()
            if not _describe_corpora(value)
        )
        return f"{describe_intervention(intervention.func)}({', '.join([*corpora, *options])})"
    return getattr(intervention, "__name__", None) or repr(intervention)


def _describe_corpora(value: object) -> list[str]:
    corpora = value if isinstance(value, list | tuple) else [value]
    return [f"{corpus.lang} {len(corpus)}" for corpus in corpora if isinstance(corpus, Corpus)]


def _describe_value(value: object) -> str:
    return value.name if isinstance(value, LoadedModel) else str(value)
