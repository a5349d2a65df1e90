"""The one training loop: epochs of steps, with selection on the dev score, checkpoints, and an eye on the loss.

Whatever is random in a step (order, dropout) is a pure function of the seed and the step's number, so that a run
that was interrupted goes on exactly as if it had not been.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from isogloss.core.errors import UsageError
from isogloss.models.states.attention import without_cudnn_attention
from isogloss.models.tokenization.batching import IntArray
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.cuda_graphs import side_stream
from isogloss.training.engine.determinism import reproducible
from isogloss.training.engine.distributed import WorkerGroup, init_distributed
from isogloss.training.engine.epoch_order import epoch_batches
from isogloss.training.engine.interrupts import deferred_interrupts
from isogloss.training.engine.objective import Objective
from isogloss.training.engine.progress import DivergenceError, EpochMetrics, ProgressCallback, peak_memory
from isogloss.training.engine.settings import TrainingSettings
from isogloss.training.engine.step import Stepper
from isogloss.training.stacking.networks import copy_weights_back, stack_networks

LOG_EVERY_STEPS = 20  # steps between looks at the loss, each of which waits for the device


def train(
    network: nn.Module,
    objective: Objective,
    settings: TrainingSettings,
    *,
    seed: int,
    checkpoints: Checkpoints | None = None,
    progress: ProgressCallback | None = None,
) -> list[EpochMetrics]:
    """Train the network in place, leave it with the weights of the best epoch, and tell of every epoch."""
    return train_stacked([network], objective, settings, seeds=[seed], checkpoints=checkpoints, progress=progress)[0]


def train_stacked(
    networks: Sequence[nn.Module],
    objective: Objective,
    settings: TrainingSettings,
    *,
    seeds: Sequence[int],
    checkpoints: Checkpoints | None = None,
    progress: ProgressCallback | None = None,
) -> list[list[EpochMetrics]]:
    """Train networks that can be stacked, each in the order of its own seed; each keeps its own best epoch.

    On a GPU this is faster than one after the other. Nothing but dropout and rounding differs: its masks are drawn for
    all at once, from the first seed.
    """
    if not len(objective.lengths):
        raise UsageError("nothing to train on: the corpus is empty")
    if len(networks) > 1 and (objective.shaped is None or objective.extra or settings.accumulate > 1):
        raise UsageError("networks with a second loss, or whose steps are in parts, cannot be trained together")
    device = next(networks[0].parameters()).device
    holding = deferred_interrupts() if checkpoints else contextlib.nullcontext(lambda: False)
    with reproducible(device), without_cudnn_attention(), side_stream(device), holding as pressed:
        training = _Training(networks, objective, settings, seeds, init_distributed(), checkpoints, progress)
        try:
            training.resume()
            while not training.at.finished:
                training.epoch(pressed)
        finally:
            training.stepper.close()
        for network, own in zip(networks, training.at.own, strict=True):
            network.load_state_dict(own.best_weights)
            network.eval()
    return [[EpochMetrics(**row) for row in own.log] for own in training.at.own]


@dataclass
class NetworkState:
    """Where one network is."""

    loss: float = 0.0  # the sum over steps of this epoch
    best: float | None = None
    best_epoch: int = 0
    best_weights: dict[str, Tensor] = field(default_factory=dict)
    finished: bool = False
    log: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class TrainerState:
    """Where training is: with the networks' and the optimizer's state, all that a checkpoint must hold."""

    own: list[NetworkState]
    step: int = 0
    epoch: int = 0
    done: int = 0  # steps of this epoch

    @property
    def finished(self) -> bool:
        return all(own.finished for own in self.own)


class _Training:
    """One run of `train`, step by step."""

    def __init__(
        self,
        networks: Sequence[nn.Module],
        objective: Objective,
        settings: TrainingSettings,
        seeds: Sequence[int],
        workers: WorkerGroup,
        checkpoints: Checkpoints | None,
        progress: ProgressCallback | None,
    ):
        self.networks, self.objective, self.settings, self.workers = networks, objective, settings, workers
        self.checkpoints, self.progress = checkpoints, progress
        told = list(dict.fromkeys(seeds))
        self.order = [self.batches(epoch, told) for epoch in range(settings.epochs)]
        batches = [items for epoch in self.order for items in epoch]
        self.whole = networks[0] if len(networks) == 1 else stack_networks(networks)
        self.stepper = Stepper(
            self.whole,
            objective,
            settings,
            batches,
            seed=seeds[0],
            workers=workers,
            readers=[told.index(seed) for seed in seeds],
        )
        self.device, self.steps = self.stepper.device, len(batches)
        self.at = TrainerState([NetworkState() for _ in networks])
        self.clock, self.tokens = time.perf_counter(), 0

    def batches(self, epoch: int, seeds: Sequence[int]) -> list[list[IntArray]]:
        """The items of each step of an epoch, those of each seed, out of the version that is its turn."""
        size = len(self.objective.lengths) // self.objective.versions
        start = epoch % self.objective.versions * size
        lengths, told = self.objective.lengths[start : start + size], self.settings
        found = [epoch_batches(lengths, batch=told.batch, tokens=told.tokens, seed=seed, epoch=epoch) for seed in seeds]
        return [[items + start for items in step] for step in zip(*found, strict=True)]

    def epoch(self, pressed: Callable[[], bool]) -> None:
        """From where training is to the end of the epoch; `pressed` tells of Ctrl-C."""
        at, order = self.at, self.order[self.at.epoch]
        self.stepper.train()
        while at.done < len(order):
            self.stepper.step(at.step)
            self.tokens += int(self.objective.lengths[order[at.done][0]].sum())
            at.step, at.done = at.step + 1, at.done + 1
            if at.done % LOG_EVERY_STEPS == 0:
                self.look()
            if (
                self.checkpoints
                and at.done < len(order)
                and (self.workers.world_size == 1 or at.done % LOG_EVERY_STEPS == 0)
            ):
                stop = self.workers.broadcast(pressed(), self.device)
                if stop or self.workers.broadcast(self.checkpoints.due(at.step), self.device):
                    self.save()
                if stop:
                    raise KeyboardInterrupt
        self.end_epoch()

    def look(self) -> None:
        """Read the loss off the device, check it, and tell how training stands."""
        self.add_losses()
        norms = self.stepper.norms.tolist()
        if not all(math.isfinite(own.loss + norm) for own, norm in zip(self.at.own, norms, strict=True)):
            raise DivergenceError(self.at.step, self.stepper.learning_rate(self.at.step - 1))
        self.tell(self.report(self.at.own[0]))

    def end_epoch(self) -> None:
        """Score the dev set, keep weights that are the best so far, and see whether to go on."""
        self.look()
        if len(self.networks) > 1:
            copy_weights_back(self.whole, self.networks)
        for own, network in zip(self.at.own, self.networks, strict=True):
            if not own.finished:
                self.judge(own, network)
        self.at.epoch, self.at.done = self.at.epoch + 1, 0
        for own in self.at.own:
            own.loss = 0.0
        self.save(skip_if_slow=True)
        self.clock, self.tokens = time.perf_counter(), 0

    def judge(self, own: NetworkState, network: nn.Module) -> None:
        """One network at the end of an epoch."""
        at, settings, judge = self.at, self.settings, self.objective.score
        score = self.workers.broadcast(judge(network), self.device) if judge else None
        if score is None or own.best is None or score > own.best:
            own.best, own.best_epoch = score, at.epoch
            own.best_weights = {name: value.detach().clone() for name, value in network.state_dict().items()}
        own.log.append(asdict(self.report(own, score)))
        self.tell(self.report(own, score))
        own.finished = at.epoch + 1 == settings.epochs or at.epoch - own.best_epoch >= (settings.patience or math.inf)

    def report(self, own: NetworkState, score: float | None = None) -> EpochMetrics:
        at, seconds = self.at, time.perf_counter() - self.clock
        loss, speed = own.loss / max(1, at.done), self.tokens / max(seconds, 1e-9)
        return EpochMetrics(at.epoch + 1, at.step, self.steps, loss, score, own.best, speed, peak_memory(self.device))

    def tell(self, report: EpochMetrics) -> None:
        if self.progress and self.workers.is_main:
            self.progress(report)

    def save(self, skip_if_slow: bool = False) -> None:
        """A checkpoint of where training is; never of one that has gone astray."""
        if not self.checkpoints:
            return
        if not all(torch.isfinite(parameter).all() for parameter in self.stepper.parameters):
            raise DivergenceError(self.at.step, self.stepper.learning_rate(self.at.step - 1))
        self.add_losses()
        if self.workers.is_main:
            place = vars(self.at) | {"own": list(map(vars, self.at.own))}
            self.checkpoints.save(self.at.step, {"at": place, **self.stepper.state()}, skip_if_slow=skip_if_slow)
        self.workers.barrier()

    def add_losses(self) -> None:
        for own, loss in zip(self.at.own, self.workers.all_reduce(self.stepper.losses).tolist(), strict=True):
            own.loss += loss
        self.stepper.losses.zero_()

    def resume(self) -> None:
        state = self.checkpoints.latest() if self.checkpoints else None
        if state is not None:
            self.at = TrainerState(**{**state["at"], "own": [NetworkState(**own) for own in state["at"]["own"]]})
            self.stepper.load(state)
