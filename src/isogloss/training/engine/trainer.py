"""The training loop: steps, logging, evaluation, checkpoints, interrupts and resuming, for every kind of training.

A `Stepper` computes one step; a `TrainingPlan` decides the learning rate, when to log and evaluate, and when training
ends. Order, masking and dropout are pure functions of the seed and the step number, so that a resumed run gives the
same result as an uninterrupted one (bit for bit on a CPU).
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

import torch
from torch.optim.optimizer import StateDict

from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.determinism import reproducible
from isogloss.training.engine.interrupts import deferred_interrupts
from isogloss.training.engine.progress import DivergenceError
from isogloss.training.engine.updater import NetworkUpdater


@dataclass
class TrainerState:
    """Position of a training run."""

    step: int = 0
    tokens: int = 0  # read so far, without padding
    seconds: float = 0.0  # of training, evaluation excluded


class Stepper(Protocol):
    """Computes the steps of a training run."""

    @property
    def updater(self) -> NetworkUpdater: ...

    def step(self, number: int, learning_rate: float) -> int:
        """Update the weights once; the number of tokens read."""


class TrainingPlan(Protocol):
    """Learning rate, evaluation and end of a training run, and the record of it. A checkpoint contains its state."""

    def learning_rate(self, state: TrainerState) -> float: ...

    def log_due(self, state: TrainerState) -> bool: ...

    def log_metrics(self, state: TrainerState, losses: Sequence[float]) -> None:
        """Record the losses of each network, summed over the steps since the last call."""

    def evaluation_due(self, state: TrainerState) -> bool: ...

    def evaluate(self, state: TrainerState) -> None: ...

    def finished(self, state: TrainerState) -> bool: ...

    def state_dict(self) -> StateDict: ...

    def load_state_dict(self, state: StateDict) -> None: ...


class Trainer:
    """Runs a plan step by step. With `checkpoints`, it resumes from the latest one, and Ctrl-C saves the state."""

    def __init__(self, stepper: Stepper, plan: TrainingPlan, checkpoints: Checkpoints | None = None):
        self.stepper, self.plan, self.checkpoints = stepper, plan, checkpoints
        self.updater, self.workers, self.state = stepper.updater, stepper.updater.workers, TrainerState()
        self._learning_rate, self._clock = 0.0, 0.0  # of the last step; when its time was last added up

    def run(self) -> None:
        """Train to the end of the plan."""
        interrupts = deferred_interrupts() if self.checkpoints else contextlib.nullcontext(lambda: False)
        with reproducible(self.updater.device), interrupts as interrupted:
            self._resume()
            self.updater.train()
            self._clock = time.perf_counter()
            self._evaluate_if_due()
            while not self.plan.finished(self.state):
                self._step()
                log_due = self.plan.log_due(self.state)
                if log_due:
                    self._log_metrics()
                boundary = self._evaluate_if_due() or self.plan.finished(self.state)
                if self.checkpoints and (self.workers.world_size == 1 or log_due or boundary):
                    self._checkpoint_if_due(self.checkpoints, interrupted(), boundary)

    def _step(self) -> None:
        self._learning_rate = self.plan.learning_rate(self.state)
        self.state.tokens += self.stepper.step(self.state.step, self._learning_rate)
        self.state.step += 1
        now = time.perf_counter()
        self.state.seconds, self._clock = self.state.seconds + now - self._clock, now

    def _log_metrics(self) -> None:
        """Read the losses from the device, which synchronises with it, and check that they are finite."""
        losses = self.workers.all_reduce(self.updater.losses).tolist()
        norms = self.updater.norms.tolist()
        if not all(math.isfinite(loss + norm) for loss, norm in zip(losses, norms, strict=True)):
            raise DivergenceError(self.state.step, self._learning_rate)
        self.updater.losses.zero_()
        self.plan.log_metrics(self.state, losses)

    def _evaluate_if_due(self) -> bool:
        if not self.plan.evaluation_due(self.state):
            return False
        self.plan.evaluate(self.state)
        self.updater.train()
        self._clock = time.perf_counter()
        return True

    def _checkpoint_if_due(self, checkpoints: Checkpoints, interrupted: bool, boundary: bool) -> None:
        stop = bool(self.workers.broadcast(interrupted, self.updater.device))
        due = stop or bool(self.workers.broadcast(checkpoints.due(self.state.step), self.updater.device))
        if due or boundary:
            self._save(checkpoints, skip_if_slow=not due)
        if stop:
            raise KeyboardInterrupt

    def _save(self, checkpoints: Checkpoints, skip_if_slow: bool) -> None:
        """Write a checkpoint; weights that are not finite are an error."""
        if not all(torch.isfinite(parameter).all() for parameter in self.updater.parameters):
            raise DivergenceError(self.state.step, self._learning_rate)
        losses = self.workers.all_reduce(self.updater.losses.clone())
        if self.workers.is_main:
            state = {"trainer": asdict(self.state), "plan": self.plan.state_dict(), "losses": losses}
            checkpoints.save(self.state.step, {**state, **self.updater.state_dict()}, skip_if_slow=skip_if_slow)
        self.workers.barrier()

    def _resume(self) -> None:
        state = self.checkpoints.latest() if self.checkpoints else None
        if state is None:
            return
        self.state = TrainerState(**state["trainer"])
        self.plan.load_state_dict(state["plan"])
        if self.workers.is_main:  # the sum over all workers
            self.updater.losses.copy_(state["losses"])
        self.updater.load_state_dict(state)
