"""The languages of a model's pretraining data, if the model can be identified.

A model in a folder is identified by its model type and vocabulary size, which models derived from it share.
"""

from __future__ import annotations

from isogloss.core.bundled import LABORATORY
from isogloss.corpora.lab.languages import LANGUAGES
from isogloss.languages.pretrained import pretraining_languages
from isogloss.models.loading.loaded_model import LoadedModel

PUBLISHED_MODELS = {("bert", 119547): "mBERT", ("xlm-roberta", 250002): "XLM-R", ("xglm", 256008): "XGLM"}


def seen_languages(model: LoadedModel) -> frozenset[str] | None:
    """Canonical language codes; None if the model cannot be identified."""
    if model.name == LABORATORY:
        return frozenset(code for code, language in LANGUAGES.items() if language.pretrained)
    config = model.body.config
    name = PUBLISHED_MODELS.get((config.model_type, getattr(config, "vocab_size", 0)))
    return pretraining_languages(name) if name else None
