"""Budget of training (steps, tokens or minutes, whichever ends first) and its learning-rate schedule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.core.settings import Setting, check_settings

Decay = Literal["cosine", "linear", "plateau", "constant"]
PLATEAU_DECAY_SHARE = 0.2  # of the training after the warm-up, at its end


@dataclass(frozen=True)
class Budget:
    """Limits of training; with minutes the result depends on the machine.

    >>> Budget(tokens=1000).fraction_spent(step=5, tokens=500, seconds=2.0)
    0.5
    """

    steps: Annotated[int | None, Setting("Largest number of training steps.", above=0)] = None
    tokens: Annotated[int | None, Setting("Largest number of training tokens.", above=0)] = None
    minutes: Annotated[
        float | None, Setting("Largest number of minutes; the result then depends on the machine.", above=0)
    ] = None

    def __post_init__(self) -> None:
        check_settings(self)
        if self.steps is None and self.tokens is None and self.minutes is None:
            raise UsageError("expected a limit of training (steps, tokens or minutes), got none")

    def fraction_spent(self, step: int, tokens: int, seconds: float) -> float:
        """Fraction of the budget that is spent; 1 at the end."""
        spent = [(step, self.steps), (tokens, self.tokens), (seconds, self.minutes and 60 * self.minutes)]
        return min(1.0, max(value / limit for value, limit in spent if limit))


def scheduled_learning_rate(fraction_spent: float, peak: float, warmup: float, decay: str) -> float:
    """The learning rate after a fraction of the budget: linear warm-up, then decay to 0 (or constant).

    >>> [round(scheduled_learning_rate(share, 1.0, 0.2, "cosine"), 3) for share in (0.0, 0.1, 0.2, 0.6, 1.0)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    >>> [round(scheduled_learning_rate(share, 1.0, 0.2, "plateau"), 3) for share in (0.0, 0.2, 0.6, 0.84, 0.92, 1.0)]
    [0.0, 1.0, 1.0, 1.0, 0.5, 0.0]
    """
    if fraction_spent < warmup:
        return peak * fraction_spent / warmup
    remaining = (1 - fraction_spent) / (1 - warmup)
    shapes = {"linear": remaining, "plateau": min(1.0, remaining / PLATEAU_DECAY_SHARE), "constant": 1.0}
    shapes["cosine"] = (1 - math.cos(math.pi * remaining)) / 2
    return peak * shapes[check_name(decay, shapes, "decay")]
