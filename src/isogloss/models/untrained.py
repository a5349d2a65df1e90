"""A fresh encoder with a WordPiece vocabulary of given text and random weights: what knows nothing yet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from torch import nn
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from isogloss.core.seeds import derive_seed
from isogloss.models.load import LoadedModel, describe

SPECIALS = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}


def untrained_encoder(
    text: Iterable[str], *, layers: int = 12, width: int = 128, vocabulary: int = 4000, seed: int = 0
) -> LoadedModel:
    """A BERT of the given size whose sub-words come from `text` and whose weights come from the seed."""
    tokenizer = wordpiece_tokenizer(text, vocabulary)
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


def wordpiece_tokenizer(text: Iterable[str], vocabulary: int) -> PreTrainedTokenizerFast:
    """A cased WordPiece tokenizer with BERT's special tokens, trained on `text`."""
    tokenizer = Tokenizer(models.WordPiece(unk_token=SPECIALS["unk"]))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(
        text,
        trainers.WordPieceTrainer(vocab_size=vocabulary, special_tokens=list(SPECIALS.values()), show_progress=False),
    )
    ends = [(mark, tokenizer.token_to_id(mark)) for mark in (SPECIALS["cls"], SPECIALS["sep"])]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    names = {f"{role}_token": mark for role, mark in SPECIALS.items()}
    fast: Any = PreTrainedTokenizerFast
    wrapped: PreTrainedTokenizerFast = fast(tokenizer_object=tokenizer, model_max_length=512, **names)
    return wrapped
