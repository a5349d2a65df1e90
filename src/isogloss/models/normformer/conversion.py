"""Post-LN networks of ours as the model library's BERT or XLM-R, and back: the same weights, the same function."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertModel,
    PreTrainedModel,
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
    XLMRobertaModel,
)

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.models.normformer.config import IsoglossConfig
from isogloss.models.normformer.heads import IsoglossForMaskedLM
from isogloss.models.normformer.network import IsoglossModel

# module of ours → module of theirs
BLOCK = {
    "attention.query": "attention.self.query",
    "attention.key": "attention.self.key",
    "attention.value": "attention.self.value",
    "attention.output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "feed_forward.up": "intermediate.dense",
    "feed_forward.down": "output.dense",
    "feed_forward_norm": "output.LayerNorm",
}
BERT_HEAD = {
    "dense": "cls.predictions.transform.dense",
    "norm": "cls.predictions.transform.LayerNorm",
    "decoder": "cls.predictions.decoder",
}
XLM_R_HEAD = {"dense": "lm_head.dense", "norm": "lm_head.layer_norm", "decoder": "lm_head.decoder"}
# family → configuration, body, body with head, where the head keeps its modules
STOCK: dict[str, tuple[Any, Any, Any, dict[str, str]]] = {
    "bert": (BertConfig, BertModel, BertForMaskedLM, BERT_HEAD),
    "xlm-roberta": (XLMRobertaConfig, XLMRobertaModel, XLMRobertaForMaskedLM, XLM_R_HEAD),
}
SHARED = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "hidden_act",
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "layer_norm_eps",
    "initializer_range",
    "pad_token_id",
    "tie_word_embeddings",
)


def to_stock(network: PreTrainedModel, family: str = "bert") -> PreTrainedModel:
    """A stock network with the weights of a post-LN one of ours: a body, or a masked language model."""
    config: Any = network.config
    check_name(family, STOCK, "family")
    if config.norm != "post":
        raise UsageError(f"only post-LN networks have a stock class, got norm='{config.norm}'")
    if not isinstance(network, (IsoglossModel, IsoglossForMaskedLM)):
        raise UsageError(f"expected a body or a masked language model, got {type(network).__name__}")
    make, body, masked, _ = STOCK[family]
    theirs = make(
        **{name: getattr(config, name) for name in SHARED},
        max_position_embeddings=config.max_position_embeddings + _unused_positions(family, config),
        type_vocab_size=max(1, config.type_vocab_size),
        is_decoder=config.causal,
    )
    stock: PreTrainedModel = (
        body(theirs, add_pooling_layer=False) if isinstance(network, IsoglossModel) else masked(theirs)
    )
    for ours, other in _pairs(network, stock, family):
        other.load_state_dict(ours.state_dict())
    with torch.no_grad():
        kinds, positions = _tables(stock.base_model)
        own_kinds, own_positions = _tables(network.base_model)
        kinds.copy_(torch.zeros_like(kinds) if own_kinds is None else own_kinds)
        positions[_unused_positions(family, config) :] = own_positions
    return _placed_like(stock, network)


def from_stock(stock: PreTrainedModel) -> PreTrainedModel:
    """A post-LN network of ours with the weights of a stock BERT or XLM-R: of its body, or with its masked head."""
    config: Any = stock.config
    family = check_name(config.model_type, STOCK, "family")
    _, body, masked, _ = STOCK[family]
    if not isinstance(stock, (body, masked)):
        raise UsageError(f"expected a body or a masked language model, got {type(stock).__name__}")
    unused = _unused_positions(family, config)
    own = IsoglossConfig(
        **{name: getattr(config, name) for name in SHARED},
        norm="post",
        causal=config.is_decoder,
        max_position_embeddings=config.max_position_embeddings - unused,
        type_vocab_size=config.type_vocab_size,
    )
    network: PreTrainedModel = IsoglossModel(own) if isinstance(stock, body) else IsoglossForMaskedLM(own)
    for ours, other in _pairs(network, stock, family):
        ours.load_state_dict(other.state_dict())
    with torch.no_grad():
        for own_table, table, start in zip(_tables(network.base_model), _tables(stock.base_model), (0, unused)):
            own_table.copy_(table[start:])
    return _placed_like(network, stock)


def _placed_like(network: Any, other: PreTrainedModel) -> PreTrainedModel:
    placed: PreTrainedModel = network.to(device=other.device, dtype=other.dtype).train(other.training)
    return placed


def _pairs(network: Any, stock: Any, family: str) -> list[tuple[nn.Module, nn.Module]]:
    """Modules of both that hold the same weights; the tables of positions and token types are not alike."""
    ours, theirs = network.base_model, stock.base_model
    pairs = [
        (ours.embeddings.word_embeddings, theirs.embeddings.word_embeddings),
        (ours.embeddings.norm, theirs.embeddings.LayerNorm),
    ]
    for block, layer in zip(ours.layers, theirs.encoder.layer, strict=True):
        pairs += [(block.get_submodule(a), layer.get_submodule(b)) for a, b in BLOCK.items()]
    if network is not ours:
        pairs += [(network.lm_head.get_submodule(a), stock.get_submodule(b)) for a, b in STOCK[family][3].items()]
    return pairs


def _tables(body: Any) -> tuple[Tensor | Any, Tensor]:
    kinds = body.embeddings.token_type_embeddings
    return None if kinds is None else kinds.weight, body.embeddings.position_embeddings.weight


def _unused_positions(family: str, config: Any) -> int:
    """XLM-R counts positions from its padding id + 1."""
    return config.pad_token_id + 1 if family == "xlm-roberta" else 0
