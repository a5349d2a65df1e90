"""What the engine trains: one network, or several stacked as one (see `training/stacking`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from isogloss.models.tokenization.batching import IntArray
from isogloss.tasks.examples import Batch
from isogloss.training.engine.distributed import WorkerGroup
from isogloss.training.engine.objective import Objective
from isogloss.training.engine.optimizer import CombinedOptimizer, divide_gradients

NetworkLoss = Callable[[nn.Module], Tensor]  # one loss, or one per member


class Trainable:
    """One network, trained with one seed; subclasses train several networks (`members`) as one `network`.

    `seeds` are the distinct seeds of the members: a step has items for each of these seeds, in this order.
    """

    def __init__(self, network: nn.Module, seed: int):
        self.network, self.members, self.seeds = network, [network], [seed]

    def losses(
        self, objective: Objective, items: Sequence[IntArray], workers: WorkerGroup, accumulate: int
    ) -> Iterator[NetworkLoss]:
        """The losses of this worker's part of a step, whose gradients are added; `items` are those of each seed."""
        terms, (step_items,) = objective.terms, items
        for part in np.array_split(step_items[workers.rank :: workers.world_size], accumulate):
            if terms[part].any():  # not for empty parts: the mean of no terms is not a number
                weight = float(terms[part].sum() / terms[step_items].sum())
                yield lambda network, part=part, weight=weight: objective.loss(network, part) * weight  # type: ignore[misc]

    def join_batches(self, batches: Sequence[Batch]) -> Batch:
        """The batch that `network` reads, from one batch per seed."""
        (batch,) = batches
        return batch

    def is_matrix(self, weight: Tensor) -> bool:
        """Whether a weight is a matrix in every member (matrices are decayed, vectors are not)."""
        return weight.ndim > 1

    def clip_gradients(
        self, parameters: Sequence[nn.Parameter], max_norm: float, optimizer: torch.optim.Optimizer | CombinedOptimizer
    ) -> Tensor:
        """Clip the gradients of each member, now or in the next step of the optimizer; their norms before."""
        if isinstance(optimizer, CombinedOptimizer) or any(p.dtype != torch.float32 for p in parameters):
            return nn.utils.clip_grad_norm_(parameters, max_norm)
        norm = nn.utils.get_total_norm([p.grad for p in parameters if p.grad is not None])
        divide_gradients(optimizer, (norm / max_norm).clamp(min=1.0))
        return norm

    def update_members(self) -> None:
        """Copy the current weights into the members, unless the only member is `network`."""
