"""Post-LN, pre-LN and NormFormer networks: one family of our own, `isogloss`, for what the model library lacks.

Importing this module makes the family known to the Auto classes. `isogloss.models.loading.load` does, so that
`ig.load_model(folder)` works as it is; `AutoModel.from_pretrained(folder)` needs
`import isogloss.models.normformer.create` first.
A post-LN encoder needs no class of ours: `new_model` makes it a stock BERT, which loads anywhere.
"""

from __future__ import annotations

import inspect
from typing import Any

import torch
import transformers
from transformers import PreTrainedModel

from isogloss.core.registry import check_name
from isogloss.core.seeds import derive_seed
from isogloss.models.normformer import heads as norms_heads
from isogloss.models.normformer.config import IsoglossConfig
from isogloss.models.normformer.conversion import to_stock
from isogloss.models.normformer.network import IsoglossModel


def new_model(
    norm: str,
    *,
    vocab_size: int,
    causal: bool = False,
    layers: int = 12,
    width: int = 768,
    heads: int | None = None,
    max_length: int = 512,
    pad_id: int | None = 0,
    dropout: float = 0.1,
    seed: int = 0,
    **options: Any,
) -> PreTrainedModel:
    """A fresh language model: causal, or masked; the same seed gives all schemes the same weights where they meet.

    `heads`: one for every 64 units unless given. `options` are those of `IsoglossConfig`, for instance
    `residual_scale=False` for a NormFormer beyond 355M parameters.

    >>> new_model("normformer", vocab_size=50, layers=2, width=8).config.num_attention_heads
    1
    """
    known = [name for name in inspect.signature(IsoglossConfig).parameters if name != "common"]
    for name in options:
        check_name(name, known, "option")
    config = IsoglossConfig(
        norm=norm,
        causal=causal,
        vocab_size=vocab_size,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads or max(1, width // 64),
        max_position_embeddings=max_length,
        pad_token_id=pad_id,
        **{"intermediate_size": 4 * width, "hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
        | options,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(seed, "new model"))
        network = norms_heads.IsoglossForCausalLM(config) if causal else norms_heads.IsoglossForMaskedLM(config)
        return network if causal or norm != "post" else to_stock(network)


AUTO = {
    "AutoModel": IsoglossModel,
    "AutoModelForMaskedLM": norms_heads.IsoglossForMaskedLM,
    "AutoModelForCausalLM": norms_heads.IsoglossForCausalLM,
    "AutoModelForTokenClassification": norms_heads.IsoglossForTokenClassification,
    "AutoModelForSequenceClassification": norms_heads.IsoglossForSequenceClassification,
    "AutoModelForQuestionAnswering": norms_heads.IsoglossForQuestionAnswering,
}
transformers.AutoConfig.register(IsoglossConfig.model_type, IsoglossConfig, exist_ok=True)
for _name, _network in AUTO.items():
    getattr(transformers, _name).register(IsoglossConfig, _network, exist_ok=True)
