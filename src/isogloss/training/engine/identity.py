"""Identities of models, corpora and tokenizers: hashes of their content, independent of their names."""

from __future__ import annotations

import torch
from torch import nn
from transformers import PreTrainedConfig, PreTrainedTokenizerBase

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
    config, tokenizer = config_values(model.body), tokenizer_identity(model.tokenizer)
    return digest(weights.hexdigest(), config, tokenizer, model.prefix, model.suffix, model.max_length)


def config_values(network: nn.Module) -> dict[str, object]:
    """All values of a network's configuration that affect the computation."""
    config = getattr(network, "config", None)
    values = config.to_dict() if isinstance(config, PreTrainedConfig) else {}
    return {name: value for name, value in values.items() if name not in IGNORED_CONFIG_KEYS}


def corpus_identity(corpus: AnyCorpus) -> str:
    """Hash of the language and the items of a corpus, independent of its file."""
    items = hasher(12)
    items.update(f"{corpus.format.kind} {corpus.lang}".encode())
    for item in corpus:
        items.update(repr(item).encode("utf-8", "surrogatepass"))
    return items.hexdigest()


def tokenizer_identity(tokenizer: PreTrainedTokenizerBase) -> object:
    """The definition of a tokenizer as plain values."""
    return tokenizer.backend_tokenizer.to_str() if tokenizer.is_fast else tokenizer.get_vocab()
