"""The configuration of the `isogloss` networks: the sizes of BERT and the scheme of normalisation."""

from __future__ import annotations

from typing import Any

from transformers import PreTrainedConfig

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name

NORMS = ("post", "pre", "normformer")


class IsoglossConfig(PreTrainedConfig):
    """Sizes with the names of BERT, the scheme of normalisation (`norm`) and the direction of attention (`causal`).

    The components of NormFormer are on by default for `norm="normformer"` and off otherwise:

    - `head_scale`: a learned factor for the output of each attention head
    - `attention_output_norm`: a norm after the output projection of attention
    - `inner_norm`: a norm inside the feed-forward, between the activation and the second projection
    - `residual_scale`: a learned factor for each unit of the feed-forward residual. Shleifer et al. found that it helps
      models of up to 355M parameters and harms larger ones: switch it off there.

    `scaled_init`: projections to the residual stream are initialised smaller by √(2 × layers), as in GPT-2.
    `type_vocab_size`: the number of token types, 0 for none.

    >>> IsoglossConfig(norm="normformer", residual_scale=False).head_scale, IsoglossConfig(norm="pre").head_scale
    (True, False)
    """

    model_type = "isogloss"

    def __init__(
        self,
        *,
        norm: str = "pre",
        causal: bool = False,
        vocab_size: int = 30522,
        hidden_size: int = 768,
        num_hidden_layers: int = 12,
        num_attention_heads: int = 12,
        intermediate_size: int = 3072,
        hidden_act: str = "gelu",
        hidden_dropout_prob: float = 0.1,
        attention_probs_dropout_prob: float = 0.1,
        max_position_embeddings: int = 512,
        type_vocab_size: int = 0,
        layer_norm_eps: float = 1e-5,
        initializer_range: float = 0.02,
        scaled_init: bool = False,
        pad_token_id: int | None = 0,
        tie_word_embeddings: bool = True,
        head_scale: bool | None = None,
        attention_output_norm: bool | None = None,
        inner_norm: bool | None = None,
        residual_scale: bool | None = None,
        **common: Any,
    ):
        super().__init__(**common)
        self.norm = check_name(norm, NORMS, "norm")
        self.causal, self.vocab_size, self.pad_token_id = causal, vocab_size, pad_token_id
        self.hidden_size, self.intermediate_size = hidden_size, intermediate_size
        self.num_hidden_layers, self.num_attention_heads = num_hidden_layers, num_attention_heads
        self.hidden_act, self.layer_norm_eps = hidden_act, layer_norm_eps
        self.hidden_dropout_prob, self.attention_probs_dropout_prob = hidden_dropout_prob, attention_probs_dropout_prob
        self.max_position_embeddings, self.type_vocab_size = max_position_embeddings, type_vocab_size
        self.initializer_range, self.scaled_init = initializer_range, scaled_init
        self.tie_word_embeddings = tie_word_embeddings
        self.head_scale = self._component("head_scale", head_scale)
        self.attention_output_norm = self._component("attention_output_norm", attention_output_norm)
        self.inner_norm = self._component("inner_norm", inner_norm)
        self.residual_scale = self._component("residual_scale", residual_scale)
        if hidden_size % num_attention_heads:
            raise UsageError(f"{hidden_size} units cannot be divided evenly among {num_attention_heads} heads")

    def _component(self, name: str, value: bool | None) -> bool:
        normformer = self.norm == "normformer"
        if value and not normformer:
            raise UsageError(f"{name} is a part of norm='normformer', got norm='{self.norm}'")
        return normformer if value is None else value
