"""Training by epochs: each epoch is scored on the dev set, and the weights of the best epoch are kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from torch import Tensor, nn
from torch.optim.optimizer import StateDict

from isogloss.core.errors import UsageError
from isogloss.models.states.attention import without_cudnn_attention
from isogloss.models.tokenization.batching import IntArray
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.cuda_graphs import side_stream
from isogloss.training.engine.distributed import init_distributed
from isogloss.training.engine.epoch_order import epoch_batches
from isogloss.training.engine.objective import Objective
from isogloss.training.engine.progress import EpochMetrics, ProgressCallback, peak_memory
from isogloss.training.engine.settings import TrainingSettings, learning_rate_at
from isogloss.training.engine.step import ItemStepper
from isogloss.training.engine.trainable import Trainable
from isogloss.training.engine.trainer import Trainer, TrainerState

LOG_EVERY_STEPS = 20  # logging synchronises with the device


def train(
    network: nn.Module,
    objective: Objective,
    settings: TrainingSettings,
    *,
    seed: int,
    checkpoints: Checkpoints | None = None,
    progress: ProgressCallback | None = None,
) -> list[EpochMetrics]:
    """Train the network in place, keep the weights of its best epoch, and return the metrics of every epoch."""
    return train_members(Trainable(network, seed), objective, settings, checkpoints, progress)[0]


def train_members(
    trainable: Trainable,
    objective: Objective,
    settings: TrainingSettings,
    checkpoints: Checkpoints | None = None,
    progress: ProgressCallback | None = None,
) -> list[list[EpochMetrics]]:
    """Train all members in place; each keeps the weights of its best epoch. The metrics of every member's epochs."""
    if not len(objective.lengths):
        raise UsageError("nothing to train on: the corpus is empty")
    device = next(trainable.network.parameters()).device
    epochs = [step_items(objective, settings, trainable.seeds, epoch) for epoch in range(settings.epochs)]
    with without_cudnn_attention(), side_stream(device):
        batches = [items for epoch in epochs for items in epoch]
        stepper = ItemStepper(trainable, objective, settings, batches, init_distributed())
        plan = EpochPlan(stepper, list(map(len, epochs)), progress)
        try:
            Trainer(stepper, plan, checkpoints).run()
        finally:
            stepper.close()
        for network, state in zip(trainable.members, plan.networks, strict=True):
            network.load_state_dict(state.best_weights)
            network.eval()
    return [state.log for state in plan.networks]


def step_items(
    objective: Objective, settings: TrainingSettings, seeds: Sequence[int], epoch: int
) -> list[list[IntArray]]:
    """The items of each step of an epoch, for each seed, from the version of the corpus that this epoch reads."""
    size = len(objective.lengths) // objective.versions
    start = epoch % objective.versions * size
    lengths = objective.lengths[start : start + size]
    by_seed = [
        epoch_batches(
            lengths,
            batch=settings.batch,
            tokens=settings.tokens,
            seed=seed,
            epoch=epoch,
            pool_batches=objective.pool_batches,
        )
        for seed in seeds
    ]
    return [[items + start for items in step] for step in zip(*by_seed, strict=True)]


@dataclass
class NetworkState:
    """Progress of one member."""

    loss: float = 0.0  # sum over the steps of this epoch
    best: float | None = None
    best_epoch: int = 0
    best_weights: dict[str, Tensor] = field(default_factory=dict)
    finished: bool = False
    log: list[EpochMetrics] = field(default_factory=list)


class EpochPlan:
    """Epochs of `steps` steps each, with linear warm-up and decay, dev scores and patience for every member."""

    def __init__(self, stepper: ItemStepper, steps: Sequence[int], progress: ProgressCallback | None):
        self.trainable, self.objective, self.settings = stepper.trainable, stepper.objective, stepper.settings
        self.steps, self.workers, self.progress = steps, stepper.workers, progress
        self.device = stepper.updater.device
        self.networks = [NetworkState() for _ in self.trainable.members]
        self.epoch, self.start = 0, TrainerState()  # where this epoch began

    def learning_rate(self, state: TrainerState) -> float:
        return learning_rate_at(state.step, sum(self.steps), self.settings)

    def log_due(self, state: TrainerState) -> bool:
        done = state.step - self.start.step
        return done % LOG_EVERY_STEPS == 0 or done == self.steps[self.epoch]

    def log_metrics(self, state: TrainerState, losses: Sequence[float]) -> None:
        for network, loss in zip(self.networks, losses, strict=True):
            network.loss += loss
        self._report(self._metrics(state, self.networks[0]))

    def evaluation_due(self, state: TrainerState) -> bool:
        return not self.finished(state) and state.step - self.start.step == self.steps[self.epoch]

    def evaluate(self, state: TrainerState) -> None:
        """Score every member that is not finished, and begin the next epoch."""
        self.trainable.update_members()
        for network, member in zip(self.networks, self.trainable.members, strict=True):
            if not network.finished:
                self._evaluate_epoch(state, network, member)
            network.loss = 0.0
        self.epoch, self.start = self.epoch + 1, TrainerState(**vars(state))

    def finished(self, state: TrainerState) -> bool:
        return all(network.finished for network in self.networks)

    def state_dict(self) -> StateDict:
        networks = [{**vars(network), "log": [vars(metrics) for metrics in network.log]} for network in self.networks]
        return {"epoch": self.epoch, "start": vars(self.start), "networks": networks}

    def load_state_dict(self, state: StateDict) -> None:
        self.epoch, self.start = state["epoch"], TrainerState(**state["start"])
        self.networks = [NetworkState(**values) for values in state["networks"]]
        for network, values in zip(self.networks, state["networks"], strict=True):
            network.log = [EpochMetrics(**row) for row in values["log"]]

    def _evaluate_epoch(self, state: TrainerState, network: NetworkState, member: nn.Module) -> None:
        score_of, patience = self.objective.score, self.settings.patience or math.inf
        score = self.workers.broadcast(score_of(member), self.device) if score_of else None
        if score is None or network.best is None or score > network.best:
            network.best, network.best_epoch = score, self.epoch
            network.best_weights = {name: value.detach().clone() for name, value in member.state_dict().items()}
        metrics = self._metrics(state, network, score)
        network.log.append(metrics)
        self._report(metrics)
        network.finished = self.epoch + 1 == len(self.steps) or self.epoch - network.best_epoch >= patience

    def _metrics(self, state: TrainerState, network: NetworkState, score: float | None = None) -> EpochMetrics:
        tokens, seconds = state.tokens - self.start.tokens, state.seconds - self.start.seconds
        loss, speed = network.loss / (state.step - self.start.step), tokens / max(seconds, 1e-9)
        memory = peak_memory(self.device)
        return EpochMetrics(self.epoch + 1, state.step, sum(self.steps), loss, score, network.best, speed, memory)

    def _report(self, metrics: EpochMetrics) -> None:
        if self.progress and self.workers.is_main:
            self.progress(metrics)
