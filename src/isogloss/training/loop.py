"""The one training loop: epochs of steps, with selection on the dev score, checkpoints, and an eye on the loss.

Whatever is random in a step (order, dropout) is a pure function of the seed and the step's number, so that a run
that was interrupted goes on exactly as if it had not been.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from isogloss.core.errors import UsageError
from isogloss.models.batching import IntArray
from isogloss.training.batches import epoch_batches
from isogloss.training.checkpoint import Checkpoints
from isogloss.training.determinism import reproducible
from isogloss.training.graphs import stream_of_its_own
from isogloss.training.interrupts import held_interrupts
from isogloss.training.objective import Objective
from isogloss.training.reports import NotFinite, Progress, Report, peak_memory
from isogloss.training.settings import Settings
from isogloss.training.stepping import Stepper
from isogloss.training.workers import Workers, join

LOOK = 20  # steps between looks at the loss, each of which waits for the device


def train(
    network: nn.Module,
    objective: Objective,
    settings: Settings,
    *,
    seed: int,
    checkpoints: Checkpoints | None = None,
    progress: Progress | None = None,
) -> list[Report]:
    """Train the network in place, leave it with the weights of the best epoch, and tell of every epoch."""
    if not len(objective.lengths):
        raise UsageError("nothing to train on: the corpus is empty")
    device = next(network.parameters()).device
    holding = held_interrupts() if checkpoints else contextlib.nullcontext(lambda: False)
    with reproducible(device), stream_of_its_own(device), holding as pressed:
        training = _Training(network, objective, settings, seed, join(), checkpoints, progress)
        try:
            training.resume()
            while not training.at.finished:
                training.epoch(pressed)
        finally:
            training.stepper.close()
        network.load_state_dict(training.at.best_weights)
    network.eval()
    return [Report(**row) for row in training.at.log]


@dataclass
class _Place:
    """Where training is: with the network's and the optimizer's state, all that a checkpoint must hold."""

    step: int = 0
    epoch: int = 0
    done: int = 0  # steps of this epoch
    loss: float = 0.0  # their sum
    best: float | None = None
    best_epoch: int = 0
    best_weights: dict[str, Tensor] = field(default_factory=dict)
    finished: bool = False
    log: list[dict[str, Any]] = field(default_factory=list)


class _Training:
    """One run of `train`, step by step."""

    def __init__(
        self,
        network: nn.Module,
        objective: Objective,
        settings: Settings,
        seed: int,
        workers: Workers,
        checkpoints: Checkpoints | None,
        progress: Progress | None,
    ):
        self.network, self.objective, self.settings, self.workers = network, objective, settings, workers
        self.checkpoints, self.progress = checkpoints, progress
        self.order = [self.batches(epoch, seed) for epoch in range(settings.epochs)]
        batches = [items for epoch in self.order for items in epoch]
        self.stepper = Stepper(network, objective, settings, batches, seed=seed, workers=workers)
        self.device, self.steps = self.stepper.device, len(batches)
        self.at = _Place()
        self.clock, self.tokens = time.perf_counter(), 0

    def batches(self, epoch: int, seed: int) -> list[IntArray]:
        """The items of each step of an epoch, out of the version that is its turn."""
        size = len(self.objective.lengths) // self.objective.versions
        start = epoch % self.objective.versions * size
        lengths, told = self.objective.lengths[start : start + size], self.settings
        found = epoch_batches(lengths, batch=told.batch, tokens=told.tokens, seed=seed, epoch=epoch)
        return [items + start for items in found]

    def epoch(self, pressed: Callable[[], bool]) -> None:
        """From where training is to the end of the epoch; `pressed` tells of Ctrl-C."""
        at, order = self.at, self.order[self.at.epoch]
        self.stepper.train()
        while at.done < len(order):
            self.stepper.step(at.step)
            self.tokens += int(self.objective.lengths[order[at.done]].sum())
            at.step, at.done = at.step + 1, at.done + 1
            if at.done % LOOK == 0:
                self.look()
            if self.checkpoints and at.done < len(order) and (self.workers.count == 1 or at.done % LOOK == 0):
                stop = self.workers.agreed(pressed(), self.device)
                if stop or self.workers.agreed(self.checkpoints.due(at.step), self.device):
                    self.save()
                if stop:
                    raise KeyboardInterrupt
        self.end_epoch()

    def look(self) -> None:
        """Read the loss off the device, check it, and tell how training stands."""
        self.add_losses()
        if not math.isfinite(self.at.loss + float(self.stepper.norms)):
            raise NotFinite(self.at.step, self.stepper.learning_rate(self.at.step - 1))
        self.tell(self.report())

    def end_epoch(self) -> None:
        """Score the dev set, keep the weights if they are the best so far, and see whether to go on."""
        self.look()
        at, settings, judge = self.at, self.settings, self.objective.score
        score = self.workers.agreed(judge(self.network), self.device) if judge else None
        if score is None or at.best is None or score > at.best:
            at.best, at.best_epoch = score, at.epoch
            at.best_weights = {name: value.detach().clone() for name, value in self.network.state_dict().items()}
        at.log.append(asdict(self.report(score)))
        self.tell(self.report(score))
        at.finished = at.epoch + 1 == settings.epochs or at.epoch - at.best_epoch >= (settings.patience or math.inf)
        at.epoch, at.done, at.loss = at.epoch + 1, 0, 0.0
        self.save()
        self.clock, self.tokens = time.perf_counter(), 0

    def report(self, score: float | None = None) -> Report:
        at, seconds = self.at, time.perf_counter() - self.clock
        loss, speed = at.loss / max(1, at.done), self.tokens / max(seconds, 1e-9)
        return Report(at.epoch + 1, at.step, self.steps, loss, score, at.best, speed, peak_memory(self.device))

    def tell(self, report: Report) -> None:
        if self.progress and self.workers.first:
            self.progress(report)

    def save(self) -> None:
        """A checkpoint of where training is; never of one that has gone astray."""
        if not self.checkpoints:
            return
        if not all(torch.isfinite(parameter).all() for parameter in self.stepper.parameters):
            raise NotFinite(self.at.step, self.stepper.learning_rate(self.at.step - 1))
        self.add_losses()
        if self.workers.first:
            self.checkpoints.save(self.at.step, {"at": vars(self.at), **self.stepper.state()})
        self.workers.wait()

    def add_losses(self) -> None:
        self.at.loss += float(self.workers.sum(self.stepper.losses))
        self.stepper.losses.zero_()

    def resume(self) -> None:
        state = self.checkpoints.latest() if self.checkpoints else None
        if state is not None:
            self.at = _Place(**state["at"])
            self.stepper.load(state)
