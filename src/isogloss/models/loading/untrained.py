"""Models with random weights, ready to be pretrained: BERT-shaped encoders, Llama-shaped decoders, and other norms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from isogloss.core.errors import UsageError
from isogloss.core.seeds import derive_seed
from isogloss.models.loading.loaded_model import LoadedModel, wrap_network
from isogloss.models.normformer.create import new_model
from isogloss.models.tokenization.training import train_tokenizer

HEAD_WIDTH = 64  # units of an attention head, where their number is not given


def fresh_model(
    tokenizer: Any,
    *,
    causal: bool = False,
    norm: str | None = None,
    layers: int = 6,
    width: int = 256,
    heads: int | None = None,
    length: int = 512,
    dropout: float = 0.1,
    seed: int = 0,
) -> LoadedModel:
    """A model with its language-model head; input and output embeddings are the same weights.

    `norm`: post, pre or normformer; where not given, an encoder is post-LN (BERT) and a decoder shaped like Llama.
    """
    heads = heads or max(1, width // HEAD_WIDTH)
    if layers < 1 or width < 1 or width % (2 * heads):
        raise UsageError(f"expected layers and a width that {heads} heads divide evenly, got {layers} × {width}")
    sizes: dict[str, Any] = {"layers": layers, "width": width, "heads": heads, "dropout": dropout, "seed": seed}
    network: Any
    if causal and norm is None:
        network = _llama(tokenizer, length=length, **sizes)
    else:
        ids = {"vocab_size": len(tokenizer), "pad_id": tokenizer.pad_token_id}
        network = new_model(norm or "post", causal=causal, max_length=length, **ids, **sizes)
    return wrap_network("fresh", network, network.base_model, tokenizer)


def untrained_encoder(
    text: Iterable[str], *, layers: int = 12, width: int = 128, vocabulary: int = 4000, seed: int = 0
) -> LoadedModel:
    """A BERT whose sub-words come from `text` and whose weights are random: what knows nothing yet."""
    tokenizer = train_tokenizer(text, "wordpiece", vocabulary)
    body = fresh_model(tokenizer, layers=layers, width=width, seed=seed).body
    return wrap_network("untrained", body, body, tokenizer)


def _llama(tokenizer: Any, *, layers: int, width: int, heads: int, length: int, dropout: float, seed: int) -> Any:
    inner = 8 * ((8 * width // 3 + 7) // 8)  # three matrices of it cost as much as two of 4 × width
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        max_position_embeddings=length,
        attention_dropout=dropout,
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    network: Any = LlamaForCausalLM
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(seed, "fresh model"))
        return network(config)
