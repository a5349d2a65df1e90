"""Declarations of the known model families."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from isogloss.models.families.family import AdapterSites, Family

if TYPE_CHECKING:  # listing the families must not import torch
    from transformers import PreTrainedConfig

BERT = Family(
    blocks="encoder.layer",
    final_norm=None,
    embeddings="embeddings",
    attention=("attention.self", "attention.output.dense"),
    feed_forward=("intermediate", "output.dense"),
    norms=("attention.output.LayerNorm", "output.LayerNorm"),
    adapters=AdapterSites("attention.output.dropout", "output.dropout", "output.LayerNorm"),
    stackable=True,
)
XLM_R = replace(BERT, positions_after_padding=True)
XLM_R_XL = Family(
    blocks="encoder.layer",
    final_norm="encoder.LayerNorm",
    embeddings="embeddings",
    attention=("attention.self", "attention.output"),
    feed_forward=("intermediate", "output"),
    norms=("attention.self_attn_layer_norm", "LayerNorm"),
    adapters=AdapterSites("attention.output.dropout", "output.dense"),
    positions_after_padding=True,
)
XGLM = Family(
    blocks="layers",
    final_norm="layer_norm",
    embeddings="embed_tokens",
    causal=True,
    attention=("self_attn",),
    feed_forward=("fc1", "fc2"),
    norms=("self_attn_layer_norm", "final_layer_norm"),
    adapters=AdapterSites("self_attn", "fc2"),
)
T5_ENCODER = Family(
    blocks="encoder.block",
    final_norm="encoder.final_layer_norm",
    embeddings="shared",
    attention=("layer.0.SelfAttention",),
    feed_forward=("layer.1.DenseReluDense",),
    norms=("layer.0.layer_norm", "layer.1.layer_norm"),
    adapters=AdapterSites("layer.0.dropout", "layer.1.dropout"),
    max_length=512,
    encoder_decoder=True,
)
MT5_ENCODER = replace(T5_ENCODER, max_length=1024)
MODERNBERT = Family(
    blocks="layers",
    final_norm="final_norm",
    embeddings="embeddings",
    attention=("attn",),
    feed_forward=("mlp",),
    norms=("attn_norm", "mlp_norm"),
    adapters=AdapterSites("attn", "mlp"),
)
# BOS is left to the tokenizer: models of this architecture differ in whether they were trained with it; Qwen has none.
LLAMA = Family(
    blocks="layers",
    final_norm="norm",
    embeddings="embed_tokens",
    causal=True,
    attention=("self_attn",),
    feed_forward=("mlp",),
    norms=("input_layernorm", "post_attention_layernorm"),
    adapters=AdapterSites("self_attn", "mlp"),
)
PROJECTIONS = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj")
QUERY_KEY_NORMS = ("self_attn.q_norm", "self_attn.k_norm")
QWEN3 = replace(LLAMA, attention=PROJECTIONS, norms=(*LLAMA.norms, *QUERY_KEY_NORMS))
GEMMA = replace(
    LLAMA,
    norms=(*LLAMA.norms, "pre_feedforward_layernorm", "post_feedforward_layernorm"),
    adapters=AdapterSites("post_attention_layernorm", "post_feedforward_layernorm"),
    prepend_bos=True,
)
GEMMA3 = replace(GEMMA, attention=PROJECTIONS, norms=(*GEMMA.norms, *QUERY_KEY_NORMS))


@dataclass(frozen=True)
class NormSchemeFamily(Family):
    """The `isogloss` networks: post-LN, pre-LN or NormFormer, encoder or decoder, as the configuration says."""

    def for_config(self, config: PreTrainedConfig) -> Family:
        post = config.norm == "post"
        sites = AdapterSites("attention", "feed_forward", "feed_forward_norm" if post else None)
        return replace(self, final_norm=None if post else self.final_norm, causal=config.causal, adapters=sites)


# A module that a scheme does not have is an empty one in the network.
ISOGLOSS = NormSchemeFamily(
    blocks="layers",
    final_norm="final_norm",
    embeddings="embeddings",
    attention=("attention.query", "attention.key", "attention.value", "attention.output"),
    feed_forward=("feed_forward.up", "feed_forward.down"),
    norms=(
        "attention_norm",
        "attention.head_scale",
        "attention.output_norm",
        "feed_forward.norm",
        "residual_scale",
        "feed_forward_norm",
    ),
    adapters=AdapterSites("attention", "feed_forward"),
)
