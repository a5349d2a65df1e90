"""Losses of language models, as sums over the predicted tokens.

The vocabulary is by far the widest layer, so the head of a masked model is applied to masked positions only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from isogloss.core.errors import UsageError
from isogloss.training.language_modeling.masking import IGNORED_LABEL

OBJECTIVES = ("mlm", "clm")


def masked_loss(network: nn.Module, ids: Tensor, attention: Tensor | None, positions: Tensor, labels: Tensor) -> Tensor:
    """Summed cross-entropy of the labels at the given positions of each sequence."""
    model: Any = network
    states = model.base_model(input_ids=ids, attention_mask=attention)[0]
    chosen = states.gather(1, positions[..., None].expand(-1, -1, states.shape[-1]))
    return _cross_entropy(masked_lm_head(network)(chosen), labels)


def causal_loss(network: nn.Module, ids: Tensor, attention: Tensor | None, labels: Tensor) -> Tensor:
    """Summed cross-entropy of every next token; `labels[:, i]` is the token after token i."""
    model: Any = network
    return _cross_entropy(model(input_ids=ids, attention_mask=attention, use_cache=False).logits, labels)


def next_tokens(ids: Tensor, present: Tensor | None) -> Tensor:
    """The next token of each token, as labels; the last token has none."""
    labels = torch.full_like(ids, IGNORED_LABEL)
    labels[:, :-1] = ids[:, 1:]
    if present is not None:
        labels[:, :-1].masked_fill_(~present[:, 1:], IGNORED_LABEL)
    return labels


def masked_lm_head(network: nn.Module) -> Callable[[Tensor], Tensor]:
    """The head of a masked language model: from hidden states to logits of the vocabulary."""
    model: Any = network
    if hasattr(model, "cls"):  # BERT and its kin
        return model.cls  # type: ignore[no-any-return]
    if hasattr(model, "lm_head"):  # RoBERTa, XLM-R
        return model.lm_head  # type: ignore[no-any-return]
    if hasattr(model, "head") and hasattr(model, "decoder"):  # ModernBERT
        return lambda states: model.decoder(model.head(states))
    raise UsageError(f"the masked-language-model head of {type(network).__name__} is none that isogloss knows")


def _cross_entropy(scores: Tensor, labels: Tensor) -> Tensor:
    flat = scores.flatten(0, 1).float()
    return functional.cross_entropy(flat, labels.flatten(), ignore_index=IGNORED_LABEL, reduction="sum")
