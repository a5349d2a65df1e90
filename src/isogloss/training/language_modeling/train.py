"""Training of language models: steps until the budget is spent, with evaluations at equal distances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch.optim.optimizer import StateDict

from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.training.engine.budget import scheduled_learning_rate
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.distributed import init_distributed
from isogloss.training.engine.flops import flops_per_token, peak_flops
from isogloss.training.engine.progress import peak_memory
from isogloss.training.engine.trainer import Trainer, TrainerState
from isogloss.training.language_modeling.batches import BatchSampler
from isogloss.training.language_modeling.packing import Sequences
from isogloss.training.language_modeling.settings import LanguageModelSettings
from isogloss.training.language_modeling.step import LanguageModelStepper

LOG_EVERY_STEPS = 50  # logging synchronises with the device
EvaluationRow = dict[str, str | int | float]
Evaluate = Callable[[LoadedModel], list[EvaluationRow]]


@dataclass(frozen=True)
class StepMetrics:
    """Metrics of the steps since the last log entry."""

    step: int
    share: float  # of the budget
    loss: float  # mean since the last entry
    learning_rate: float
    tokens: int  # read so far
    tokens_per_second: float
    utilisation: float | None  # of the GPU's arithmetic, where its peak is known
    peak_memory: int  # bytes


@dataclass(frozen=True)
class TrainingHistory:
    """Metrics along the training, and the rows of every evaluation with their step."""

    log: list[StepMetrics]
    evaluations: list[EvaluationRow]


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
    """Train the model's network in place.

    `evaluate` is called before training, `evaluations` times during it, and after it. `slots` is the number of
    sequences of each language in a round; by default it follows from the sampling exponent α.
    """
    batches = BatchSampler(model, sequences, settings, seed, slots)
    stepper = LanguageModelStepper(model.network, batches, init_distributed())
    plan = BudgetPlan(model, stepper, evaluate, evaluations, progress)
    Trainer(stepper, plan, checkpoints).run()
    model.network.eval()
    return TrainingHistory(plan.log, plan.evaluations)


class BudgetPlan:
    """Training for a budget of steps, tokens or minutes; the learning rate follows the fraction spent."""

    def __init__(
        self,
        model: LoadedModel,
        stepper: LanguageModelStepper,
        evaluate: Evaluate | None,
        evaluations: int,
        progress: Callable[[StepMetrics], None] | None,
    ):
        settings = stepper.settings
        self.model, self.settings, self.workers, self.progress = model, settings, stepper.workers, progress
        self._evaluate, self._intervals = evaluate, evaluations + 1
        self.log: list[StepMetrics] = []
        self.evaluations: list[EvaluationRow] = []
        self._evaluated = 0  # evaluations done
        self._logged = TrainerState()  # at the last log entry
        self._spent, self._spent_step = 0.0, -1  # fraction of the budget, and the step it was computed for
        predicted_share = 1.0 if settings.causal else settings.mask_share
        self._flops = flops_per_token(model, settings.length, predicted_share)
        self._peak_flops = peak_flops(model.device)

    def learning_rate(self, state: TrainerState) -> float:
        settings = self.settings
        return scheduled_learning_rate(self.spent(state), settings.learning_rate, settings.warmup, settings.decay)

    def spent(self, state: TrainerState) -> float:
        """Fraction of the budget spent. Workers use the clock of the main process, which they ask for now and then."""
        if state.step == self._spent_step:
            return self._spent
        budget, seconds, self._spent_step = self.settings.budget, state.seconds, state.step
        if budget.minutes and self.workers.world_size > 1:
            if state.step % LOG_EVERY_STEPS:
                return self._spent
            seconds = self.workers.broadcast(seconds, self.model.device)
        self._spent = budget.fraction_spent(state.step, state.tokens, seconds)
        return self._spent

    def log_due(self, state: TrainerState) -> bool:
        return state.step % LOG_EVERY_STEPS == 0 or self.finished(state)

    def log_metrics(self, state: TrainerState, losses: Sequence[float]) -> None:
        steps, seconds = state.step - self._logged.step, state.seconds - self._logged.seconds
        speed = (state.tokens - self._logged.tokens) / max(seconds, 1e-9)
        metrics = StepMetrics(
            step=state.step,
            share=self.spent(state),
            loss=losses[0] / steps,
            learning_rate=self.learning_rate(state),
            tokens=state.tokens,
            tokens_per_second=speed,
            utilisation=speed * self._flops / self._peak_flops / self.workers.world_size if self._peak_flops else None,
            peak_memory=peak_memory(self.model.device),
        )
        self.log.append(metrics)
        self._logged = TrainerState(**vars(state))
        if self.progress and self.workers.is_main:
            self.progress(metrics)

    def evaluation_due(self, state: TrainerState) -> bool:
        return self._evaluate is not None and self.spent(state) * self._intervals >= self._evaluated

    def evaluate(self, state: TrainerState) -> None:
        self.model.network.eval()
        if self._evaluate and self.workers.is_main:
            self.evaluations += [{"step": state.step, **row} for row in self._evaluate(self.model)]
        self.workers.barrier()
        self._evaluated = int(self.spent(state) * self._intervals) + 1

    def finished(self, state: TrainerState) -> bool:
        return self.spent(state) >= 1

    def state_dict(self) -> StateDict:
        log, logged = [vars(metrics) for metrics in self.log], vars(self._logged)
        return {"log": log, "evaluations": self.evaluations, "evaluated": self._evaluated, "logged": logged}

    def load_state_dict(self, state: StateDict) -> None:
        self.log = [StepMetrics(**row) for row in state["log"]]
        self.evaluations, self._evaluated = state["evaluations"], state["evaluated"]
        self._logged = TrainerState(**state["logged"])
