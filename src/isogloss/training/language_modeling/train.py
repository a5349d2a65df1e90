"""The training loop of language models: steps until the budget is spent, with a look at the model now and then.

What a step reads and masks and its dropout are pure functions of the seed and the step's number, so that an
interrupted training goes on as if it had not been (bit by bit on the CPU). Nothing waits for the device in a step.
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

from isogloss.core.seeds import derive_seed
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.attention import unpadded_attention, without_cudnn_attention
from isogloss.training.engine.bf16_copy import Bf16Copy
from isogloss.training.engine.budget import scheduled_learning_rate
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.determinism import reproducible, seed_step
from isogloss.training.engine.distributed import WorkerGroup, init_distributed
from isogloss.training.engine.flops import flops_per_token, peak_flops
from isogloss.training.engine.interrupts import deferred_interrupts
from isogloss.training.engine.optimizer import adamw, muon
from isogloss.training.engine.progress import DivergenceError, peak_memory
from isogloss.training.language_modeling.batches import BatchSampler, LanguageModelBatch
from isogloss.training.language_modeling.losses import causal_loss, masked_loss
from isogloss.training.language_modeling.packing import Sequences
from isogloss.training.language_modeling.settings import LanguageModelSettings

LOG_EVERY_STEPS = 50  # steps between looks at the loss, each of which waits for the device
Evaluate = Callable[[LoadedModel], list[dict[str, Any]]]


@dataclass(frozen=True)
class StepMetrics:
    """How training stands, after every few steps."""

    step: int
    share: float  # of the budget
    loss: float  # mean since the last time
    learning_rate: float
    tokens: int  # read so far
    tokens_per_second: float
    utilisation: float | None  # of the GPU's arithmetic, where its peak is known
    peak_memory: int  # bytes


@dataclass(frozen=True)
class TrainingHistory:
    """What a training leaves behind beside the weights: its pace, and rows of every evaluation with their step."""

    pace: list[StepMetrics]
    evaluations: list[dict[str, Any]]


def train_language_model(
    model: LoadedModel,
    sequences: Sequences,
    settings: LanguageModelSettings,
    *,
    seed: int = 0,
    slots: Sequence[int] | None = None,
    evaluate: Evaluate | None = None,
    evaluations: int = 10,
    checkpoints: Checkpoints | None = None,
    progress: Callable[[StepMetrics], None] | None = None,
) -> TrainingHistory:
    """Train the model's network in place. `evaluate` is called before, `evaluations` times on the way and after.

    `slots`: sequences of each language in a round, where not those that α gives.
    """
    batches = BatchSampler(model, sequences, settings, seed, slots)
    training = _Training(model, batches, settings, seed, checkpoints, progress)
    holding = deferred_interrupts() if checkpoints else contextlib.nullcontext(lambda: False)
    with reproducible(model.device), holding as pressed:
        training.resume()
        training.run(pressed, evaluate, evaluations)
    model.network.eval()
    return TrainingHistory([StepMetrics(**row) for row in training.at.pace], training.at.evaluations)


@dataclass
class TrainerState:
    """Where training is: with the network's and the optimizer's state, all that a checkpoint must hold."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0  # of training, in all
    evaluated: int = 0  # evaluations done
    pace: list[dict[str, Any]] = field(default_factory=list)
    evaluations: list[dict[str, Any]] = field(default_factory=list)


class _Training:
    """One run of `train_language_model`, step by step."""

    def __init__(
        self,
        model: LoadedModel,
        batches: BatchSampler,
        settings: LanguageModelSettings,
        seed: int,
        checkpoints: Checkpoints | None,
        progress: Callable[[StepMetrics], None] | None,
    ):
        self.model, self.settings, self.seed, self.device = model, settings, seed, model.device
        self.workers: WorkerGroup = init_distributed()
        self.checkpoints, self.progress = checkpoints, progress
        self.batches = batches
        self.parameters = [p for p in model.network.parameters() if p.requires_grad]
        self.optimizer = (
            muon(model.network, settings) if settings.optimizer == "muon" else adamw(self.parameters, settings)
        )
        self.shadow = Bf16Copy(model.network, settings.bf16(self.device))
        self.computing = self.shadow.network
        self.loss = _loss(self.computing, settings, self.device)
        self.losses = torch.zeros((), dtype=torch.float64, device=self.device)  # their sum since the last look
        self.norms = torch.zeros((), device=self.device)  # sum of the gradients' norms: finite while all is well
        predicted = 1.0 if settings.causal else settings.mask_share
        self.flops, self.peak = flops_per_token(model, settings.length, predicted), peak_flops(self.device)
        self.at, self.since = TrainerState(), (0, 0, 0.0)  # step, tokens and seconds at the last look
        self.spent = 0.0  # share of the budget
        self.begun = time.perf_counter()

    def run(self, pressed: Callable[[], bool], evaluate: Evaluate | None, evaluations: int) -> None:
        """To the end of the budget; `pressed` tells of Ctrl-C."""
        at = self.at
        self.model.network.train()
        self.computing.train()
        while True:
            self.spend()
            if at.step > self.since[0] and (at.step % LOG_EVERY_STEPS == 0 or self.spent >= 1):
                self.look()
            if evaluate and self.spent * (evaluations + 1) >= at.evaluated:
                self.evaluate(evaluate, evaluations)
            if self.spent >= 1:
                break
            at.tokens += self.step()
            at.step += 1
            if self.checkpoints and (self.workers.world_size == 1 or at.step % LOG_EVERY_STEPS == 0):
                stop = self.workers.broadcast(pressed(), self.device)
                if stop or self.workers.broadcast(self.checkpoints.due(at.step), self.device):
                    self.save()
                if stop:
                    raise KeyboardInterrupt
        self.save()

    def step(self) -> int:
        """One update: this worker's rows, part by part, then the gradients of all workers. The tokens read."""
        settings, batch = self.settings, self.batches.at(self.at.step)
        seed_step(derive_seed(self.seed, "dropout", self.at.step, self.workers.rank), self.device)
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate()
        for part in range(settings.accumulate):
            start = self.workers.rank * settings.accumulate + part
            rows = batch.rows(slice(start, None, self.workers.world_size * settings.accumulate))
            if len(rows.ids):
                self.descend(rows)
        self.shadow.collect_gradients()
        self.workers.all_reduce_gradients(self.parameters)
        self.norms += nn.utils.clip_grad_norm_(self.parameters, settings.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.shadow.copy_weights()
        return batch.tokens

    def descend(self, rows: LanguageModelBatch) -> None:
        """Add the gradient of some rows to those at hand."""
        with unpadded_attention(self.computing) if rows.attention is None else without_cudnn_attention():
            value = self.loss(rows) / rows.terms
        torch.autograd.backward(value)
        self.losses += value.detach()

    def spend(self) -> None:
        """See how much of the budget is gone. Workers go by the first one's clock, which they ask for now and then."""
        at, budget, seconds = self.at, self.settings.budget, self.seconds()
        if budget.minutes and self.workers.world_size > 1:
            if at.step % LOG_EVERY_STEPS:
                return
            seconds = self.workers.broadcast(seconds, self.device)
        self.spent = budget.fraction_spent(at.step, at.tokens, seconds)

    def seconds(self) -> float:
        return self.at.seconds + time.perf_counter() - self.begun

    def learning_rate(self) -> float:
        settings = self.settings
        return scheduled_learning_rate(self.spent, settings.learning_rate, settings.warmup, settings.decay)

    def evaluate(self, evaluate: Evaluate, evaluations: int) -> None:
        """Its time is not counted to the training's."""
        self.at.seconds = self.seconds()
        self.model.network.eval()
        if self.workers.is_main:
            self.at.evaluations += [{"step": self.at.step, **row} for row in evaluate(self.model)]
        self.workers.barrier()
        self.model.network.train()
        self.at.evaluated = int(self.spent * (evaluations + 1)) + 1
        self.begun = time.perf_counter()

    def look(self) -> None:
        """Read the loss off the device, check it, and tell how training stands."""
        at, (step, tokens, seconds) = self.at, self.since
        steps, now = max(1, at.step - step), self.seconds()
        loss = float(self.workers.all_reduce(self.losses)) / steps
        if not math.isfinite(loss + float(self.norms)):
            raise DivergenceError(at.step, self.learning_rate())
        speed = (at.tokens - tokens) / max(self.seconds() - seconds, 1e-9)
        utilisation = None if self.peak is None else speed * self.flops / self.peak / self.workers.world_size
        pace = StepMetrics(
            at.step, self.spent, loss, self.learning_rate(), at.tokens, speed, utilisation, peak_memory(self.device)
        )
        at.pace.append(asdict(pace))
        if self.progress and self.workers.is_main:
            self.progress(pace)
        self.losses.zero_()
        self.since = at.step, at.tokens, now

    def save(self) -> None:
        """A checkpoint of where training is; never of one that has gone astray."""
        if not self.checkpoints:
            return
        if not all(torch.isfinite(parameter).all() for parameter in self.parameters):
            raise DivergenceError(self.at.step, self.learning_rate())
        self.at.seconds, self.begun = self.seconds(), time.perf_counter()
        losses = self.workers.all_reduce(self.losses.clone())
        if self.workers.is_main:
            state = {"at": vars(self.at), "losses": losses, "since": self.since}
            networks = {"network": self.model.network.state_dict(), "optimizer": self.optimizer.state_dict()}
            self.checkpoints.save(self.at.step, {**state, **networks})
        self.workers.barrier()

    def resume(self) -> None:
        state = self.checkpoints.latest() if self.checkpoints else None
        if state is None:
            return
        self.at, self.since = TrainerState(**state["at"]), tuple(state["since"])
        if self.workers.is_main:  # the others begin at nothing
            self.losses.copy_(state["losses"])
        self.model.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.shadow.copy_weights()


def _loss(
    network: nn.Module, settings: LanguageModelSettings, device: torch.device
) -> Callable[[LanguageModelBatch], Tensor]:
    """The summed loss of a batch's rows, compiled where it pays."""
    compiled = device.type == "cuda" if settings.compiled is None else settings.compiled
    loss: Any = causal_loss if settings.causal else masked_loss
    if compiled:
        loss = torch.compile(loss, dynamic=False)
    if settings.causal:
        return lambda batch: loss(network, batch.ids, batch.attention, batch.labels)
    return lambda batch: loss(network, batch.ids, batch.attention, batch.positions, batch.labels)
