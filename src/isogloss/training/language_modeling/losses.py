"""The losses of language models, as sums over the tokens that are predicted.

The vocabulary is by far the widest layer, so a masked model's head is applied to the masked places only.
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
    """The summed cross-entropy of the labels at the given places of each sequence."""
    model: Any = network
    states = model.base_model(input_ids=ids, attention_mask=attention)[0]
    chosen = states.gather(1, positions[..., None].expand(-1, -1, states.shape[-1]))
    return _cross_entropy(masked_lm_head(network)(chosen), labels)


def causal_loss(network: nn.Module, ids: Tensor, attention: Tensor | None, labels: Tensor) -> Tensor:
    """The summed cross-entropy of every next token; `labels[:, i]` is what follows token i."""
    model: Any = network
    return _cross_entropy(model(input_ids=ids, attention_mask=attention, use_cache=False).logits, labels)


def next_tokens(ids: Tensor, present: Tensor | None) -> Tensor:
    """What follows each token; nothing after the last."""
    labels = torch.full_like(ids, IGNORED_LABEL)
    labels[:, :-1] = ids[:, 1:]
    if present is not None:
        labels[:, :-1].masked_fill_(~present[:, 1:], IGNORED_LABEL)
    return labels


def masked_lm_head(network: nn.Module) -> Callable[[Tensor], Tensor]:
    """What turns the states of a masked model into scores of the vocabulary."""
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
