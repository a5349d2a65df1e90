"""A fresh encoder with a WordPiece vocabulary of given text and random weights: what knows nothing yet."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn
from transformers import BertConfig, BertModel

from isogloss.core.seeds import derive_seed
from isogloss.models.load import LoadedModel, describe
from isogloss.models.tokenizers import train_tokenizer


def untrained_encoder(
    text: Iterable[str], *, layers: int = 12, width: int = 128, vocabulary: int = 4000, seed: int = 0
) -> LoadedModel:
    """A BERT of the given size whose sub-words come from `text` and whose weights come from the seed."""
    tokenizer = train_tokenizer(text, "wordpiece", vocabulary)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=max(1, width // 64),
        intermediate_size=4 * width,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(seed, "untrained encoder"))
        network: nn.Module = BertModel(config, add_pooling_layer=False)  # type: ignore[no-untyped-call]
    return describe("untrained", network, network, tokenizer)
