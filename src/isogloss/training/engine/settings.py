"""Settings of fine-tuning: everything besides data, model and seed that determines the result."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from isogloss.core.registry import check_name
from isogloss.core.settings import Setting, SettingValues, check_settings, declared_settings

if TYPE_CHECKING:  # study files are planned without torch
    import torch

    from isogloss.tasks.task import TaskDefaults

NOISE_SETTINGS = ("subword_dropout", "character_noise")
INFINITE = float("inf")
Precision = Literal["auto", "fp32", "bf16"]


@dataclass(frozen=True)
class TrainingSettings:
    """AdamW with linear warm-up and decay; a step reads `batch` items, or as many as fit into `tokens`.

    `accumulate` splits a step to save memory; without dropout the gradient is that of the whole step, and with dropout
    that of other masks.
    """

    epochs: Annotated[int, Setting("Number of passes over the training corpus.", above=0)]
    batch: Annotated[int, Setting("Number of items per step.", above=0)]
    learning_rate: Annotated[float, Setting("Peak learning rate.", above=0, below=INFINITE, option="--lr")]
    tokens: Annotated[int | None, Setting("Number of tokens per step, in place of a number of items.", above=0)] = None
    warmup: Annotated[float, Setting("Share of the steps in which the learning rate rises.", at_least=0, below=1)] = 0.1
    weight_decay: Annotated[
        float, Setting("Weight decay of AdamW; biases and norms are not decayed.", at_least=0, below=INFINITE)
    ] = 0.01
    clip: Annotated[float, Setting("Largest norm of the gradient; inf disables clipping.", above=0)] = 1.0
    accumulate: Annotated[
        int,
        Setting(
            "Number of parts of a step, to save memory; with dropout, the masks and so the result differ.", above=0
        ),
    ] = 1
    precision: Annotated[
        Precision, Setting("Precision of the computation: fp32, bf16 (weights in fp32), or auto (bf16 on a GPU).")
    ] = "auto"
    patience: Annotated[
        int | None, Setting("Number of epochs without a better dev score after which training stops.", above=0)
    ] = None

    # constants of AdamW and of the schedule; subclasses may have others
    betas: ClassVar[tuple[float, float]] = (0.9, 0.999)
    epsilon: ClassVar[float] = 1e-8
    decays: ClassVar[bool] = True  # False: the learning rate is constant after the warm-up

    def __post_init__(self) -> None:
        check_settings(self)

    def bf16(self, device: torch.device) -> bool:
        """Whether the network computes in bf16 on this device."""
        return uses_bf16(self.precision, device)


@dataclass(frozen=True)
class NoisyTrainingSettings(TrainingSettings):
    """Settings of a training corpus that is noised differently in every epoch; dev and test stay unchanged."""

    subword_dropout: Annotated[
        float, Setting("Probability of BPE-dropout in the training corpus.", at_least=0, below=1)
    ] = 0.0
    character_noise: Annotated[
        float, Setting("Share of training words with a wrong character, drawn in every epoch.", at_least=0, at_most=1)
    ] = 0.0


def uses_bf16(precision: str, device: torch.device) -> bool:
    return precision == "bf16" or (precision == "auto" and device.type == "cuda")


def settings_for(defaults: TaskDefaults, **changes: object) -> TrainingSettings:
    """A task's published hyper-parameters with some changed; None changes nothing.

    >>> from isogloss.tasks.task import TaskDefaults
    >>> settings_for(TaskDefaults(epochs=6, batch=16, learning_rate=5e-5), epochs=2, tokens=None).epochs
    2
    """
    for name in changes:
        check_name(name, declared_settings(NoisyTrainingSettings), "setting")
    values: SettingValues = asdict(defaults) | {name: value for name, value in changes.items() if value is not None}
    if any(values.get(name) for name in NOISE_SETTINGS):
        return NoisyTrainingSettings(**values)
    return TrainingSettings(**{name: value for name, value in values.items() if name not in NOISE_SETTINGS})


def learning_rate_at(step: int, steps: int, settings: TrainingSettings) -> float:
    """The learning rate of step 0 … steps - 1: linear warm-up from 0, then linear decay to 0.

    >>> [learning_rate_at(s, 4, TrainingSettings(1, 1, 1.0, warmup=0.5)) for s in range(4)]
    [0.0, 0.5, 1.0, 0.5]
    """
    warmup = int(settings.warmup * steps)
    if step >= warmup and not settings.decays:
        return settings.learning_rate
    share = step / warmup if step < warmup else (steps - step) / (steps - warmup)
    return settings.learning_rate * share
