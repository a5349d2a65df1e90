"""The languages that a model saw in pretraining, as far as it can be told what model it is.

A model of a folder is recognised by its kind and the size of its vocabulary, which its heirs share.
"""

from __future__ import annotations

from typing import Any

from isogloss.core.bundled import LABORATORY
from isogloss.corpora.lab.languages import LANGUAGES
from isogloss.languages.pretrained import pretraining_languages
from isogloss.models.loading.loaded_model import LoadedModel

KNOWN = {("bert", 119547): "mBERT", ("xlm-roberta", 250002): "XLM-R", ("xglm", 256008): "XGLM"}


def seen_languages(model: LoadedModel) -> frozenset[str] | None:
    """Canonical codes; None where it is not known what model this is."""
    if model.name == LABORATORY:
        return frozenset(code for code, one in LANGUAGES.items() if one.pretrained)
    config: Any = model.body.config
    name = KNOWN.get((config.model_type, getattr(config, "vocab_size", 0)))
    return pretraining_languages(name) if name else None
