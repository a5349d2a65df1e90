"""Networks with random weights, ready to be pretrained: encoders shaped like BERT, decoders shaped like Llama."""

from __future__ import annotations

from typing import Any

import torch
from transformers import BertConfig, BertForMaskedLM, LlamaConfig, LlamaForCausalLM

from isogloss.core.errors import UsageError
from isogloss.core.seeds import derive_seed
from isogloss.models.load import LoadedModel, describe

HEAD_WIDTH = 64  # units of an attention head, where their number is not given


def fresh_model(
    tokenizer: Any,
    *,
    causal: bool = False,
    layers: int = 6,
    width: int = 256,
    heads: int | None = None,
    length: int = 512,
    dropout: float = 0.1,
    seed: int = 0,
) -> LoadedModel:
    """A model with its language-model head; input and output embeddings are the same weights."""
    heads = heads or max(1, width // HEAD_WIDTH)
    if layers < 1 or width < 1 or width % (2 * heads):
        raise UsageError(f"expected layers and a width that {heads} heads divide evenly, got {layers} × {width}")
    sizes = {
        "vocab_size": len(tokenizer),
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "max_position_embeddings": length,
        "pad_token_id": tokenizer.pad_token_id,
        "tie_word_embeddings": True,
    }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(seed, "fresh model"))
        network = _decoder(tokenizer, sizes, dropout) if causal else _encoder(sizes, dropout)
    return describe("fresh", network, network.base_model, tokenizer)


def _encoder(sizes: dict[str, Any], dropout: float) -> Any:
    width = sizes["hidden_size"]
    rates: dict[str, Any] = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    return BertForMaskedLM(BertConfig(**sizes, **rates, intermediate_size=4 * width))  # type: ignore[no-untyped-call]


def _decoder(tokenizer: Any, sizes: dict[str, Any], dropout: float) -> Any:
    marks = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    inner = 8 * ((8 * sizes["hidden_size"] // 3 + 7) // 8)  # three matrices of it cost as much as two of 4 × width
    network: Any = LlamaForCausalLM
    return network(LlamaConfig(**sizes, **marks, intermediate_size=inner, attention_dropout=dropout))
