"""How a network is trained: everything beside data, model and seed that decides the outcome."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

import torch

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.tasks.task import Recipe

NOISE = ("subword_dropout", "character_noise")
PRECISIONS = ("auto", "fp32", "bf16")


@dataclass(frozen=True)
class Settings:
    """AdamW with a linear warm-up and decay; a step reads `batch` items, or as many as fit into `tokens`.

    `accumulate` reads a step's items in that many parts, for memory: the gradient is that of the whole step.
    `patience`: stop after this many epochs without a better dev score. `precision`: "auto" is bf16 (with
    weights in fp32) on a GPU and fp32 elsewhere.
    """

    epochs: int
    batch: int
    learning_rate: float
    tokens: int | None = None
    warmup: float = 0.1  # share of all steps
    weight_decay: float = 0.01  # not of biases and norms
    clip: float = 1.0  # largest norm of the gradient
    accumulate: int = 1
    precision: str = "auto"
    patience: int | None = None

    # the same for every task; other kinds of training may have others
    betas: ClassVar[tuple[float, float]] = (0.9, 0.999)
    epsilon: ClassVar[float] = 1e-8
    decays: ClassVar[bool] = True  # or the rate stays where the warm-up led it

    def __post_init__(self) -> None:
        check_name(self.precision, PRECISIONS, "precision")
        for name in ("epochs", "batch", "tokens", "accumulate", "patience"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 1):
                raise UsageError(f"{name}: expected a whole number above 0, got {value!r}")
        if not 0 < self.learning_rate < math.inf:
            raise UsageError(f"learning_rate: expected a number above 0, got {self.learning_rate!r}")
        if not self.clip > 0:
            raise UsageError(f"clip: expected a number above 0 (infinite: no clipping), got {self.clip!r}")
        if not (0 <= self.warmup < 1 and 0 <= self.weight_decay < math.inf):
            raise UsageError(
                f"warmup must lie in [0, 1) and weight_decay be ≥ 0, got {self.warmup}, {self.weight_decay}"
            )

    def bf16(self, device: torch.device) -> bool:
        """Whether the network computes in bf16 on this device."""
        return self.precision == "bf16" or (self.precision == "auto" and device.type == "cuda")


@dataclass(frozen=True)
class NoisySettings(Settings):
    """Settings that make every epoch of the training corpus another; dev and test stay as they are.

    `subword_dropout` is the probability of BPE-dropout and its kin, `character_noise` the share of words that get
    a letter wrong.
    """

    subword_dropout: float = 0.0
    character_noise: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (0 <= self.subword_dropout < 1 and 0 <= self.character_noise <= 1):
            told = f"{self.subword_dropout}, {self.character_noise}"
            raise UsageError(f"subword_dropout must lie in [0, 1) and character_noise in [0, 1], got {told}")


def settings_for(recipe: Recipe, **changes: Any) -> Settings:
    """A task's published recipe with some of it changed; None changes nothing.

    >>> settings_for(Recipe(epochs=6, batch=16, learning_rate=5e-5), epochs=2, tokens=None).epochs
    2
    """
    for name in changes:
        check_name(name, [field.name for field in fields(NoisySettings)], "setting")
    given = {name: value for name, value in changes.items() if value is not None}
    noisy = given.get("subword_dropout") or given.get("character_noise")
    kind, others = (NoisySettings, {}) if noisy else (Settings, dict.fromkeys(NOISE))
    return kind(**{name: value for name, value in {**asdict(recipe), **given}.items() if name not in others})


def learning_rate_at(step: int, steps: int, settings: Settings) -> float:
    """The rate of step 0 … steps - 1: up from 0 over the warm-up, then down in a straight line to 0.

    >>> [learning_rate_at(s, 4, Settings(1, 1, 1.0, warmup=0.5)) for s in range(4)]
    [0.0, 0.5, 1.0, 0.5]
    """
    warmup = int(settings.warmup * steps)
    if step >= warmup and not settings.decays:
        return settings.learning_rate
    share = step / warmup if step < warmup else (steps - step) / (steps - warmup)
    return settings.learning_rate * share
