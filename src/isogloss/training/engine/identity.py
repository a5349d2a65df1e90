"""Identities of models, corpora and tokenizers: hashes of their content, independent of their names."""

from __future__ import annotations

from typing import Any

import torch

from isogloss.core.hashing import digest, hasher
from isogloss.corpora.corpus import AnyCorpus
from isogloss.models.loading.loaded_model import LoadedModel

IGNORED_CONFIG_KEYS = ("_name_or_path", "transformers_version", "architectures", "dtype")  # no effect on results


def model_identity(model: LoadedModel) -> str:
    """Hash of everything that a model computes with: weights, configuration, tokenizer and special tokens."""
    weights = hasher(12)
    for name, tensor in sorted({**model.body.state_dict(), **model.pooler}.items()):
        weights.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        weights.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    config: Any = model.body.config
    config_values = {name: value for name, value in config.to_dict().items() if name not in IGNORED_CONFIG_KEYS}
    tokenizer = tokenizer_identity(model.tokenizer)
    return digest(weights.hexdigest(), config_values, tokenizer, model.prefix, model.suffix, model.max_length)


def corpus_identity(corpus: AnyCorpus) -> str:
    """Hash of the language and the items of a corpus, independent of its file."""
    items = hasher(12)
    items.update(f"{corpus.format.kind} {corpus.lang}".encode())
    for item in corpus:
        items.update(repr(item).encode("utf-8", "surrogatepass"))
    return items.hexdigest()


def tokenizer_identity(tokenizer: Any) -> object:
    """The definition of a tokenizer as plain values."""
    return tokenizer.backend_tokenizer.to_str() if tokenizer.is_fast else tokenizer.get_vocab()
