"""Cross-entropy and entropy of a head's scores, as the tasks use them."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from isogloss.tasks.examples import IGNORE_INDEX


def mean_cross_entropy(scores: Tensor, target: Tensor, stack_size: int = 1) -> Tensor:
    """Cross-entropy over the last axis, the mean over targets other than IGNORE_INDEX; 0 if there are none.

    For several stacked batches, the mean of each.
    """
    scores, target = scores.flatten(0, -2).float(), target.flatten()
    if stack_size == 1:
        total = functional.cross_entropy(scores, target, reduction="sum")
        return total / (target != IGNORE_INDEX).sum().clamp(min=1)
    losses = functional.cross_entropy(scores, target, reduction="none").view(stack_size, -1)
    return losses.sum(1) / (target != IGNORE_INDEX).view(stack_size, -1).sum(1).clamp(min=1)


def mean_entropy(scores: Tensor) -> Tensor:
    """The mean entropy of the softmax over the last axis; -inf excludes a class.

    >>> import torch
    >>> round(float(mean_entropy(torch.tensor([[0.0, 0.0, -torch.inf], [0.0, -torch.inf, -torch.inf]]))), 4)
    0.3466
    """
    logs = scores.float().log_softmax(-1)
    terms = logs.exp() * logs.masked_fill(scores.isneginf(), 0.0)
    return -terms.sum(-1).mean()
