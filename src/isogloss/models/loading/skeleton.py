"""Models without weights: configuration, modules and tokenizer, to check what can be done with a model."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import cast

import torch
import transformers
from transformers import PreTrainedModel

from isogloss.core.bundled import SHIPPED
from isogloss.models.loading.library_messages import quiet_library, readable_errors
from isogloss.models.loading.load import auto_class_of, check_folder, text_stack
from isogloss.models.loading.loaded_model import LoadedModel, clone, wrap_network


def load_skeleton(name_or_folder: str | os.PathLike[str]) -> LoadedModel:
    """The model with all tensors on the meta device, which has shapes and no values; nothing is downloaded."""
    return clone(_skeleton(os.fspath(SHIPPED.get(os.fspath(name_or_folder), name_or_folder)), str(name_or_folder)))


@lru_cache(maxsize=8)
def _skeleton(source: str, name: str) -> LoadedModel:
    check_folder(source, allow_pickle=False)
    with quiet_library(), readable_errors(name):
        config = transformers.AutoConfig.from_pretrained(source, local_files_only=True)
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, local_files_only=True)
        with torch.device("meta"):
            network = getattr(transformers, auto_class_of(config)).from_config(config)
    body = text_stack(cast(PreTrainedModel, network))
    return wrap_network(name, body, body, tokenizer)
