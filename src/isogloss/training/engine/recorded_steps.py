"""Steps of an objective in a few fixed shapes, recorded as CUDA graphs and replayed."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from isogloss.models.tokenization.batching import IntArray
from isogloss.tasks.examples import Batch
from isogloss.training.engine.batch_shapes import group_shapes
from isogloss.training.engine.cuda_graphs import GraphRunner, Record, cuda_graph_recorder
from isogloss.training.engine.objective import Objective


def default_recorder(objective: Objective, network: nn.Module, device: torch.device) -> Record | None:
    """The recorder of CUDA graphs; None without a GPU or fixed shapes, and for packed LSTMs (lengths on the host)."""
    shaped = objective.shaped and (objective.shaped_extra or not objective.extra)
    recurrent = any(isinstance(module, nn.RNNBase) for module in network.modules())
    return cuda_graph_recorder() if shaped and device.type == "cuda" and not recurrent else None


class RecordedSteps:
    """Runs steps with their batches padded to a few shapes; steps of one shape are recorded once.

    `batches` are the items of all steps, for each seed; `copies` is the number of networks that read a batch.
    """

    def __init__(self, runner: GraphRunner, objective: Objective, batches: Sequence[Sequence[IntArray]], copies: int):
        assert objective.shaped is not None
        self.runner, self.objective, self.shaped = runner, objective, objective.shaped
        self.groups = group_shapes(map(self.shaped.common_shape, batches), copies)
        extra = objective.shaped_extra  # one shape for all steps, so that it adds no recordings
        self._extra_shape = extra.common_shape(range(len(batches))) if extra else None

    def run(self, number: int, items: Sequence[IntArray]) -> None:
        """The step with these items; the first step may raise `HostSyncError`."""
        shape = self.shaped.common_shape(items)
        group = self.groups[shape.grid]
        batches: list[Batch] = [self.shaped.batch(numbers, group.shape) for numbers in items]
        if self.objective.shaped_extra and self._extra_shape:
            batches.append(self.objective.shaped_extra.batch(number, self._extra_shape))
        self.runner.run(group, *batches)
