"""One step over numbered items: loss, gradients, clipping and AdamW.

Everything random in a step is a pure function of the seed and the step number, and nothing in it synchronises with
the device. On a GPU, steps are recorded as CUDA graphs where possible, with a bf16 copy of the network; otherwise
their kernels are launched one by one, under autocast.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor

from isogloss.core.seeds import derive_seed
from isogloss.models.states.attention import padded_attention
from isogloss.models.tokenization.batching import IntArray
from isogloss.tasks.examples import Batch
from isogloss.training.engine.cuda_graphs import GraphRunner, HostSyncError, Record
from isogloss.training.engine.determinism import seed_step
from isogloss.training.engine.distributed import WorkerGroup
from isogloss.training.engine.objective import Objective
from isogloss.training.engine.optimizer import adamw
from isogloss.training.engine.recorded_steps import RecordedSteps, default_recorder
from isogloss.training.engine.settings import TrainingSettings
from isogloss.training.engine.trainable import NetworkLoss, Trainable
from isogloss.training.engine.updater import NetworkUpdater


class ItemStepper:
    """Steps over the items of an objective; `batches` are the items of all steps, for each seed of the trainable.

    `record` replaces the recorder of CUDA graphs; without one, steps are recorded on a GPU only.
    """

    def __init__(
        self,
        trainable: Trainable,
        objective: Objective,
        settings: TrainingSettings,
        batches: Sequence[Sequence[IntArray]],
        workers: WorkerGroup,
        record: Record | None = None,
    ):
        self.trainable, self.objective, self.settings = trainable, objective, settings
        self.batches, self.workers = batches, workers
        parameters = [p for p in trainable.network.parameters() if p.requires_grad]
        device = parameters[0].device
        if workers.world_size == settings.accumulate == 1:
            record = record or default_recorder(objective, trainable.network, device)
        rate = torch.zeros((), device=device) if record else None
        lr = settings.learning_rate if rate is None else rate
        optimizer = adamw(
            parameters, lr, settings.weight_decay, trainable.is_matrix, betas=settings.betas, eps=settings.epsilon
        )
        bf16 = settings.bf16(device)
        self.updater = NetworkUpdater(
            trainable, optimizer, workers, clip=settings.clip, bf16_copy=bf16 and record is not None, rate=rate
        )
        self._autocast = bf16 and record is None  # works for every network and every second loss
        self.recorded: RecordedSteps | None = None
        if record:
            runner = GraphRunner(self._recorded_step, device, record)
            self.recorded = RecordedSteps(runner, objective, batches, len(trainable.members))

    def step(self, number: int, learning_rate: float) -> int:
        items = self.batches[number]
        seed_step(derive_seed(self.trainable.seeds[0], "dropout", number, self.workers.rank), self.updater.device)
        self.updater.set_learning_rate(learning_rate)
        if self.recorded and all(self.objective.terms[numbers].any() for numbers in items):
            try:
                self.recorded.run(number, items)
            except HostSyncError as reason:
                warnings.warn(f"training is slower than it could be: {reason}", stacklevel=2)
                self.recorded = None
                self.updater.network.zero_grad()
                return self.step(number, learning_rate)
        else:
            self._launch(number, items)
        return int(self.objective.lengths[items[0]].sum())

    def close(self) -> None:
        """Free the recorded steps."""
        self.recorded = None

    def _recorded_step(self, *batches: Batch) -> None:
        """One step, from one batch per seed and, if there is a second loss, its batch."""
        seeds, objective = len(self.trainable.seeds), self.objective
        joined = self.trainable.join_batches(batches[:seeds])
        for shaped, batch in zip((objective.shaped, objective.shaped_extra), (joined, *batches[seeds:]), strict=False):
            assert shaped is not None
            with padded_attention(self.updater.network):
                value = shaped.loss(self.updater.network, batch)
            self.updater.backward(value)
        self.updater.update()

    def _launch(self, number: int, items: Sequence[IntArray]) -> None:
        for loss in self.trainable.losses(self.objective, items, self.workers, self.settings.accumulate):
            self.updater.backward(self._compute(loss))
        if extra := self.objective.extra:
            value = self._compute(lambda network: extra(network, number))
            self.updater.backward(value * (1 / self.workers.world_size))
        self.updater.update()

    def _compute(self, loss: NetworkLoss) -> Tensor:
        with torch.autocast(self.updater.device.type, torch.bfloat16, enabled=self._autocast):
            return loss(self.updater.network)
