"""What the engine minimises: numbered items, a loss over some of them, and a dev score."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Generic, TypeVar

from torch import Tensor, nn

from isogloss.models.tokenization.batching import IntArray
from isogloss.tasks.examples import Batch, Shape

Items = TypeVar("Items")  # numbers of items, or the number of a step


@dataclass(frozen=True)
class ShapedLoss(Generic[Items]):
    """A loss in two halves: a batch padded to a given shape, and the loss of that batch."""

    shape: Callable[[Items], Shape]  # the smallest shape for these items
    batch: Callable[[Items, Shape], Batch]
    loss: Callable[[nn.Module, Batch], Tensor]

    def common_shape(self, groups: Iterable[Items]) -> Shape:
        """The smallest shape that suits all groups of items."""
        return reduce(operator.or_, map(self.shape, groups))


@dataclass(frozen=True)
class Objective:
    """What is minimised, over numbered items.

    `loss(network, items)` is a mean over the items' `terms` (such as words), so that the parts of a step add up to
    the loss of the whole step. `extra(network, step)` is a second loss of each step. A higher dev `score` is better;
    without one, the last epoch is kept. `shaped` is the same loss in fixed shapes, for steps recorded as CUDA graphs;
    `shaped_extra` is the second loss in fixed shapes. `versions`: the items are this number of versions of one corpus,
    and each epoch reads the next version. `pool_batches`: with more than 1, batches hold items of similar length (see
    `epoch_order.py`); the default are random batches.
    """

    lengths: IntArray  # tokens of each item
    terms: IntArray
    loss: Callable[[nn.Module, IntArray], Tensor]
    score: Callable[[nn.Module], float] | None
    extra: Callable[[nn.Module, int], Tensor] | None = None
    shaped: ShapedLoss[IntArray] | None = None
    versions: int = 1
    shaped_extra: ShapedLoss[int] | None = None
    pool_batches: int = 1
