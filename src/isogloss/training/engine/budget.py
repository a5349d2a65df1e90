"""How long training lasts (steps, tokens or minutes, whichever ends first) and the learning rate along the way."""

from __future__ import annotations

import math
from dataclasses import dataclass

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name

DECAYS = ("cosine", "linear", "plateau", "constant")
FALL = 0.2  # of what follows the warm-up: where the rate of a plateau falls


@dataclass(frozen=True)
class Budget:
    """With minutes the outcome depends on the machine; with steps or tokens it does not.

    >>> Budget(tokens=1000).share(step=5, tokens=500, seconds=2.0)
    0.5
    """

    steps: int | None = None
    tokens: int | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        given = [value for value in (self.steps, self.tokens, self.minutes) if value is not None]
        if not given:
            raise UsageError("how long? give steps, tokens or minutes (--steps, --tokens, --minutes)")
        if min(given) <= 0:
            raise UsageError(f"steps, tokens and minutes must be above 0, got {self}")

    def share(self, step: int, tokens: int, seconds: float) -> float:
        """How much of it is spent, 1 at the end."""
        spent = [(step, self.steps), (tokens, self.tokens), (seconds, self.minutes and 60 * self.minutes)]
        return min(1.0, max(value / whole for value, whole in spent if whole))


def rate(share: float, peak: float, warmup: float, decay: str) -> float:
    """The learning rate after a share of the budget: up in a straight line, then down to 0 (or level).

    >>> [round(rate(share, 1.0, 0.2, "cosine"), 3) for share in (0.0, 0.1, 0.2, 0.6, 1.0)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    >>> [round(rate(share, 1.0, 0.2, "plateau"), 3) for share in (0.0, 0.2, 0.6, 0.84, 0.92, 1.0)]
    [0.0, 1.0, 1.0, 1.0, 0.5, 0.0]
    """
    check_name(decay, DECAYS, "decay")
    if share < warmup:
        return peak * share / warmup
    rest = (1 - share) / (1 - warmup)
    shapes = {"linear": rest, "plateau": min(1.0, rest / FALL), "constant": 1.0}
    return peak * shapes.get(decay, (1 - math.cos(math.pi * rest)) / 2)
