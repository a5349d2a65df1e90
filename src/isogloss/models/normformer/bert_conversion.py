"""Conversion of a post-LN masked language model to the BERT of transformers: same weights, same function."""

from __future__ import annotations

import torch
from torch import nn
from transformers import BertConfig, BertForMaskedLM

from isogloss.models.normformer.heads import IsoglossForMaskedLM

# module of an isogloss network → module of BERT
BLOCK_MODULES = {
    "attention.query": "attention.self.query",
    "attention.key": "attention.self.key",
    "attention.value": "attention.self.value",
    "attention.output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "feed_forward.up": "intermediate.dense",
    "feed_forward.down": "output.dense",
    "feed_forward_norm": "output.LayerNorm",
}
OTHER_MODULES = {
    "model.embeddings.word_embeddings": "bert.embeddings.word_embeddings",
    "model.embeddings.position_embeddings": "bert.embeddings.position_embeddings",
    "model.embeddings.norm": "bert.embeddings.LayerNorm",
    "lm_head.dense": "cls.predictions.transform.dense",
    "lm_head.norm": "cls.predictions.transform.LayerNorm",
    "lm_head.decoder": "cls.predictions.decoder",
}
SHARED_OPTIONS = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "hidden_act",
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "max_position_embeddings",
    "layer_norm_eps",
    "initializer_range",
    "pad_token_id",
    "tie_word_embeddings",
)


def to_bert(network: IsoglossForMaskedLM) -> BertForMaskedLM:
    """The BERT with the weights of a post-LN network."""
    config = network.config
    options = {name: getattr(config, name) for name in SHARED_OPTIONS}
    bert = BertForMaskedLM(BertConfig(**options, type_vocab_size=max(1, config.type_vocab_size)))
    for source, target in module_pairs(network, bert):
        target.load_state_dict(source.state_dict())
    types = network.model.embeddings.token_type_embeddings
    with torch.no_grad():
        target_types = bert.bert.embeddings.token_type_embeddings.weight
        target_types.copy_(torch.zeros_like(target_types) if types is None else types.weight)
    return bert


def module_pairs(network: nn.Module, bert: nn.Module) -> list[tuple[nn.Module, nn.Module]]:
    """Modules of both networks that hold the same weights."""
    blocks = range(len(network.get_submodule("model.layers")._modules))
    names = OTHER_MODULES | {
        f"model.layers.{block}.{source}": f"bert.encoder.layer.{block}.{target}"
        for block in blocks
        for source, target in BLOCK_MODULES.items()
    }
    return [(network.get_submodule(source), bert.get_submodule(target)) for source, target in names.items()]
