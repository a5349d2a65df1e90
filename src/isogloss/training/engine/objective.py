"""What is learnt, as the training loop sees it: numbered items, a loss over some of them, a score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from isogloss.models.tokenization.batching import IntArray
from isogloss.tasks.examples import Batch, Shape


@dataclass(frozen=True)
class ShapedLoss:
    """The same loss in two halves, with tensors in between that are padded to a given shape."""

    shape: Callable[[Any], Shape]  # the least that suits these items (of a step's second loss: this step)
    batch: Callable[[Any, Shape], Batch]
    loss: Callable[[nn.Module, Batch], Tensor]


@dataclass(frozen=True)
class Objective:
    """What is learnt, over numbered items.

    `loss(network, items)` is a mean over the items' `terms` (words, say): this is what makes a step in parts
    equal to the whole. `extra(network, step)` is a second loss of each step. A higher dev `score` is better;
    without one the last epoch is kept.
    `shaped`: the loss of a network that knows no lengths but those of its tensors, whose steps can be recorded;
    `shaped_extra`: the second loss likewise.
    `versions`: the items are those of one corpus so many times over, and each epoch reads the next version.
    """

    lengths: IntArray  # tokens of each item
    terms: IntArray
    loss: Callable[[nn.Module, IntArray], Tensor]
    score: Callable[[nn.Module], float] | None
    extra: Callable[[nn.Module, int], Tensor] | None = None
    shaped: ShapedLoss | None = None
    versions: int = 1
    shaped_extra: ShapedLoss | None = None
