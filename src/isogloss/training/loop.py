"""The one training loop: steps with warm-up, clipping and accumulation; epochs with selection on the dev score.

Whatever is random in a step (order, dropout) is a pure function of the seed and the step's number, so that a run
that was interrupted goes on exactly as if it had not been. Inside a step nothing waits for the device.
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
from isogloss.core.seeds import derive_seed
from isogloss.models.batching import IntArray
from isogloss.training.batches import epoch_batches, parts
from isogloss.training.checkpoint import Checkpoints
from isogloss.training.determinism import reproducible, seed_step
from isogloss.training.interrupts import held_interrupts
from isogloss.training.optimizer import adamw
from isogloss.training.reports import NotFinite, Progress, Report, peak_memory
from isogloss.training.settings import Settings, learning_rate_at
from isogloss.training.workers import Workers, join

LOOK = 20  # steps between looks at the loss, each of which waits for the device


@dataclass(frozen=True)
class Objective:
    """What is learnt, over numbered items.

    `loss(network, items)` is a mean over the items' `terms` (words, say): this is what makes a step in parts
    equal to the whole. `extra(network, step)` is a second loss of each step. A higher dev `score` is better.
    """

    lengths: IntArray  # tokens of each item
    terms: IntArray
    loss: Callable[[nn.Module, IntArray], Tensor]
    score: Callable[[nn.Module], float]
    extra: Callable[[nn.Module, int], Tensor] | None = None


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
    training = _Training(network, objective, settings, seed, join(), checkpoints, progress)
    holding = held_interrupts() if checkpoints else contextlib.nullcontext(lambda: False)
    with reproducible(training.device), holding as pressed:
        training.resume()
        while not training.at.finished:
            training.epoch(pressed)
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
        self.network, self.objective, self.settings, self.seed = network, objective, settings, seed
        self.workers, self.checkpoints, self.progress = workers, checkpoints, progress
        self.parameters = [p for p in network.parameters() if p.requires_grad]
        self.optimizer = adamw(self.parameters, settings)
        self.device = self.parameters[0].device
        self.order = [
            epoch_batches(objective.lengths, batch=settings.batch, tokens=settings.tokens, seed=seed, epoch=epoch)
            for epoch in range(settings.epochs)
        ]
        self.steps = sum(map(len, self.order))
        self.at = _Place()
        self.losses = torch.zeros((), dtype=torch.float64, device=self.device)  # their sum since the last look
        self.norms = torch.zeros((), device=self.device)  # sum of the gradients' norms: finite while all is well
        self.clock, self.tokens = time.perf_counter(), 0

    def epoch(self, pressed: Callable[[], bool]) -> None:
        """From where training is to the end of the epoch; `pressed` tells of Ctrl-C."""
        at, order = self.at, self.order[self.at.epoch]
        self.network.train()
        while at.done < len(order):
            self.step(order[at.done])
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

    def step(self, items: IntArray) -> None:
        """One update: this worker's share of the items, part by part, then the gradients of all workers."""
        seed_step(derive_seed(self.seed, "dropout", self.at.step, self.workers.rank), self.device)
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate(self.at.step)
        terms = self.objective.terms
        for part in parts(items[self.workers.rank :: self.workers.count], self.settings.accumulate):
            if terms[part].any():  # a mean of nothing is no number
                self.descend(self.objective.loss, part, terms[part].sum() / terms[items].sum())
        if self.objective.extra:
            self.descend(self.objective.extra, self.at.step, 1 / self.workers.count)
        self.workers.sum_gradients(self.parameters)
        self.norms += nn.utils.clip_grad_norm_(self.parameters, self.settings.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.tokens += int(self.objective.lengths[items].sum())

    def descend(self, loss: Callable[[nn.Module, Any], Tensor], what: Any, weight: float) -> None:
        """Add the gradient of a loss to those at hand."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.settings.bf16(self.device)):
            value = loss(self.network, what)
        value = value * float(weight)
        torch.autograd.backward(value)
        self.losses += value.detach()

    def learning_rate(self, step: int) -> float:
        return learning_rate_at(step, self.steps, self.settings)

    def look(self) -> None:
        """Read the loss off the device, check it, and tell how training stands."""
        self.at.loss += float(self.workers.sum(self.losses))
        self.losses.zero_()
        if not math.isfinite(self.at.loss + float(self.norms)):
            raise NotFinite(self.at.step, self.learning_rate(self.at.step - 1))
        self.tell(self.report())

    def end_epoch(self) -> None:
        """Score the dev set, keep the weights if they are the best so far, and see whether to go on."""
        self.look()
        at, settings = self.at, self.settings
        score = self.workers.agreed(self.objective.score(self.network), self.device)
        if at.best is None or score > at.best:
            at.best, at.best_epoch = score, at.epoch
            at.best_weights = {name: value.detach().cpu().clone() for name, value in self.network.state_dict().items()}
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
        if not all(torch.isfinite(parameter).all() for parameter in self.parameters):
            raise NotFinite(self.at.step, self.learning_rate(self.at.step - 1))
        self.at.loss += float(self.workers.sum(self.losses))
        self.losses.zero_()
        if self.workers.first:
            state = {"at": vars(self.at), "network": self.network.state_dict()}
            self.checkpoints.save(self.at.step, {**state, "optimizer": self.optimizer.state_dict()})
        self.workers.wait()

    def resume(self) -> None:
        state = self.checkpoints.latest() if self.checkpoints else None
        if state is not None:
            self.at = _Place(**state["at"])
            self.network.load_state_dict(state["network"])
            self.optimizer.load_state_dict(state["optimizer"])
