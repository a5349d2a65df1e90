"""Losses of language models, as sums over the predicted tokens.

The vocabulary is by far the widest layer, so the head of a masked model is applied to masked positions only.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from isogloss.core.errors import UsageError
from isogloss.models.heads.task_head import body_of
from isogloss.training.language_modeling.masking import IGNORED_LABEL


def masked_loss(network: nn.Module, ids: Tensor, attention: Tensor | None, positions: Tensor, labels: Tensor) -> Tensor:
    """Summed cross-entropy of the labels at the given positions of each sequence."""
    states = body_of(network)(input_ids=ids, attention_mask=attention)[0]
    chosen = states.gather(1, positions[..., None].expand(-1, -1, states.shape[-1]))
    return _cross_entropy(masked_lm_head(network)(chosen), labels)


def causal_loss(network: nn.Module, ids: Tensor, attention: Tensor | None, labels: Tensor) -> Tensor:
    """Summed cross-entropy of every next token; `labels[:, i]` is the token after token i."""
    return _cross_entropy(network(input_ids=ids, attention_mask=attention, use_cache=False).logits, labels)


def next_tokens(ids: Tensor, present: Tensor | None) -> Tensor:
    """The next token of each token, as labels; the last token has none."""
    labels = torch.full_like(ids, IGNORED_LABEL)
    labels[:, :-1] = ids[:, 1:]
    if present is not None:
        labels[:, :-1].masked_fill_(~present[:, 1:], IGNORED_LABEL)
    return labels


def masked_lm_head(network: nn.Module) -> Callable[[Tensor], Tensor]:
    """The head of a masked language model: from hidden states to logits of the vocabulary."""
    for name in ("cls", "lm_head"):  # BERT; RoBERTa and XLM-R
        if isinstance(head := getattr(network, name, None), nn.Module):
            return head
    head, decoder = getattr(network, "head", None), getattr(network, "decoder", None)
    if isinstance(head, nn.Module) and isinstance(decoder, nn.Module):  # ModernBERT
        return lambda states: decoder(head(states))
    raise UsageError(f"the masked-language-model head of {type(network).__name__} is not supported")


def _cross_entropy(scores: Tensor, labels: Tensor) -> Tensor:
    flat = scores.flatten(0, 1).float()
    return functional.cross_entropy(flat, labels.flatten(), ignore_index=IGNORED_LABEL, reduction="sum")
