"""One step of language modelling: sequences of the step, masked or shifted, and the gradients of their loss."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from isogloss.core.seeds import derive_seed
from isogloss.models.states.attention import unpadded_attention, without_cudnn_attention
from isogloss.training.engine.determinism import seed_step
from isogloss.training.engine.distributed import WorkerGroup
from isogloss.training.engine.optimizer import adamw, muon
from isogloss.training.engine.settings import uses_bf16
from isogloss.training.engine.trainable import Trainable
from isogloss.training.engine.updater import NetworkUpdater
from isogloss.training.language_modeling.batches import BatchSampler, LanguageModelBatch
from isogloss.training.language_modeling.losses import causal_loss, masked_loss
from isogloss.training.language_modeling.settings import LanguageModelSettings


class LanguageModelStepper:
    """Steps of a language model over sampled batches; each worker reads its rows, in `accumulate` parts."""

    def __init__(self, network: nn.Module, batches: BatchSampler, workers: WorkerGroup):
        settings = batches.settings
        self.batches, self.settings, self.workers = batches, settings, workers
        parameters = [p for p in network.parameters() if p.requires_grad]
        rates = settings.learning_rate, settings.weight_decay
        optimizer = muon(network, *rates) if settings.optimizer == "muon" else adamw(parameters, *rates)
        bf16 = uses_bf16(settings.precision, parameters[0].device)
        self.updater = NetworkUpdater(
            Trainable(network, batches.seed), optimizer, workers, clip=settings.clip, bf16_copy=bf16
        )
        self._loss = batch_loss(self.updater.network, settings, self.updater.device)

    def step(self, number: int, learning_rate: float) -> int:
        batch, parts = self.batches.at(number), self.settings.accumulate
        seed_step(derive_seed(self.batches.seed, "dropout", number, self.workers.rank), self.updater.device)
        self.updater.set_learning_rate(learning_rate)
        for part in range(parts):
            start = self.workers.rank * parts + part
            rows = batch.rows(slice(start, None, self.workers.world_size * parts))
            if len(rows.ids):
                self._backward(rows)
        self.updater.update()
        return batch.tokens

    def _backward(self, rows: LanguageModelBatch) -> None:
        unpadded = rows.attention is None
        with unpadded_attention(self.updater.network) if unpadded else without_cudnn_attention():
            loss = self._loss(rows) / rows.terms
        self.updater.backward(loss)


def batch_loss(
    network: nn.Module, settings: LanguageModelSettings, device: torch.device
) -> Callable[[LanguageModelBatch], Tensor]:
    """The summed loss of a batch's rows, compiled on a GPU unless the settings say otherwise."""
    compiled = device.type == "cuda" if settings.compiled is None else settings.compiled
    loss: Callable[..., Tensor] = causal_loss if settings.causal else masked_loss
    if compiled:
        loss = torch.compile(loss, dynamic=False)
    if settings.causal:
        return lambda batch: loss(network, batch.ids, batch.attention, batch.labels)
    return lambda batch: loss(network, batch.ids, batch.attention, batch.positions, batch.labels)
