"""Models with random weights: BERT-like encoders, Llama-like decoders, and other schemes of normalisation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedModel, PreTrainedTokenizerBase

from isogloss.core.errors import UsageError
from isogloss.core.seeds import derive_seed
from isogloss.models.loading.loaded_model import LoadedModel, wrap_network
from isogloss.models.normformer.config import IsoglossConfig
from isogloss.models.normformer.create import new_model
from isogloss.models.tokenization.training import train_tokenizer

UNITS_PER_HEAD = 64  # to choose the number of attention heads


def untrained_model(
    tokenizer: PreTrainedTokenizerBase,
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
    """A model with random weights and a language-model head; input and output embeddings are tied.

    Args:
        tokenizer: The tokenizer.
        causal: A decoder instead of an encoder.
        norm: "post", "pre" or "normformer"; by default an encoder is post-LN (BERT) and a decoder a Llama.
        layers: The number of blocks.
        width: The hidden size.
        heads: The number of attention heads; one for every 64 units by default.
        length: The maximum number of tokens.
        dropout: The dropout in training.
        seed: The seed of the weights.
    """
    heads = heads or max(1, width // UNITS_PER_HEAD)
    if layers < 1 or width < 1 or width % (2 * heads):
        raise UsageError(
            f"expected at least 1 layer and a width divisible by twice the {heads} heads, got {layers} × {width}"
        )
    network: PreTrainedModel
    if causal and norm is None:
        network = _llama(tokenizer, layers, width, heads, length, dropout, seed)
    else:
        config = IsoglossConfig(
            norm=norm or "post",
            causal=causal,
            vocab_size=len(tokenizer),
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=4 * width,
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
            max_position_embeddings=length,
            pad_token_id=tokenizer.pad_token_id,
        )
        network = new_model(config, seed=seed)
    return wrap_network("fresh", network, cast(PreTrainedModel, network.base_model), tokenizer)


def untrained_encoder(
    text: Iterable[str], *, layers: int = 12, width: int = 128, vocabulary: int = 4000, seed: int = 0
) -> LoadedModel:
    """A BERT with random weights and a WordPiece tokenizer trained on `text`."""
    tokenizer = train_tokenizer(text, "wordpiece", vocabulary)
    body = untrained_model(tokenizer, layers=layers, width=width, seed=seed).body
    return wrap_network("untrained", body, body, tokenizer)


def _llama(
    tokenizer: PreTrainedTokenizerBase, layers: int, width: int, heads: int, length: int, dropout: float, seed: int
) -> LlamaForCausalLM:
    inner = 8 * ((8 * width // 3 + 7) // 8)  # three matrices of this size have as many weights as two of 4 × width
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
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(seed, "fresh model"))
        return LlamaForCausalLM(config)
