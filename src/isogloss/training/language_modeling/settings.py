"""How a language model is trained: everything beside text, model and seed that decides the outcome."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.training.engine.budget import DECAYS, Budget
from isogloss.training.engine.optimizer import OPTIMIZERS
from isogloss.training.engine.settings import PRECISIONS
from isogloss.training.language_modeling.language_sampling import ALPHA
from isogloss.training.language_modeling.masking import SHARE, UNITS

DEFAULT_BUDGET = Budget(steps=10_000)
OBJECTIVES = ("mlm", "clm", "tlm")  # masked, causal, and masked over a sentence with its translation


@dataclass(frozen=True)
class LanguageModelSettings:
    """Steps of `batch` sequences of `length` tokens by `optimizer`; the rate follows the share of the budget spent.

    `optimizer`: "adamw", or "muon" for the matrices within layers. `by_line`: a sequence for every line instead of
    joined lines. `confine`: attention stays within a line of a joined sequence. `accumulate` reads a step in that many
    parts, for memory. `precision`: "auto" is bf16 (with weights in fp32) on a GPU and fp32 elsewhere. `compiled`: None
    compiles on a GPU only.
    """

    objective: str = "mlm"
    batch: int = 32
    length: int = 128
    optimizer: str = "adamw"
    learning_rate: float = 1e-3
    warmup: float = 0.05  # share of the budget
    decay: str = "cosine"
    weight_decay: float = 0.01  # not of biases and norms
    clip: float = 1.0
    alpha: float = ALPHA
    masking: str = "tokens"
    mask_share: float = SHARE
    by_line: bool = False
    confine: bool = False
    accumulate: int = 1
    precision: str = "auto"
    compiled: bool | None = None
    budget: Budget = DEFAULT_BUDGET

    def __post_init__(self) -> None:
        check_name(self.objective, OBJECTIVES, "objective")
        check_name(self.optimizer, OPTIMIZERS, "optimizer")
        check_name(self.decay, DECAYS, "decay")
        check_name(self.masking, UNITS, "unit of masking")
        check_name(self.precision, PRECISIONS, "precision")
        for name in ("batch", "length", "accumulate"):
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 1:
                raise UsageError(f"{name}: expected a whole number above 0, got {getattr(self, name)!r}")
        for name in ("learning_rate", "clip"):
            if not 0 < getattr(self, name) < float("inf"):
                raise UsageError(f"{name}: expected a number above 0, got {getattr(self, name)!r}")
        if not (0 <= self.warmup < 1 and 0 <= self.weight_decay < float("inf") and 0 <= self.alpha <= 1):
            raise UsageError("expected a warmup in [0, 1), a weight_decay of at least 0 and an alpha from 0 to 1")
        if self.confine and self.by_line:
            raise UsageError("confine is for joined lines; by_line has one line in each sequence anyway")

    @property
    def causal(self) -> bool:
        return self.objective == "clm"

    def bf16(self, device: torch.device) -> bool:
        return self.precision == "bf16" or (self.precision == "auto" and device.type == "cuda")
