"""Settings of language modelling: everything besides text, model and seed that determines the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from isogloss.core.errors import UsageError
from isogloss.core.settings import Setting, check_settings
from isogloss.training.engine.budget import Budget, Decay
from isogloss.training.engine.settings import INFINITE, Precision

DEFAULT_BUDGET = Budget(steps=10_000)
SAMPLING_EXPONENT = 0.7
MASK_SHARE = 0.15
Objective = Literal["mlm", "clm", "tlm"]
Optimizer = Literal["adamw", "muon"]
MaskingUnit = Literal["tokens", "words", "spans"]


@dataclass(frozen=True)
class LanguageModelSettings:
    """Steps of `batch` sequences of `length` tokens; the learning rate follows the share of the budget spent."""

    objective: Annotated[
        Objective,
        Setting("Training objective: mlm (masked), clm (causal) or tlm (masked, over a sentence and its translation)."),
    ] = "mlm"
    batch: Annotated[int, Setting("Number of sequences per step.", above=0)] = 32
    length: Annotated[int, Setting("Number of tokens per sequence.", above=0)] = 128
    optimizer: Annotated[Optimizer, Setting("Optimizer: adamw, or muon for the matrices within layers.")] = "adamw"
    learning_rate: Annotated[float, Setting("Peak learning rate.", above=0, below=INFINITE, option="--lr")] = 1e-3
    warmup: Annotated[float, Setting("Share of the budget in which the learning rate rises.", at_least=0, below=1)] = (
        0.05
    )
    decay: Annotated[
        Decay, Setting("Schedule after the warm-up: cosine, linear, plateau (falls in the last fifth) or constant.")
    ] = "cosine"
    weight_decay: Annotated[
        float, Setting("Weight decay; biases and norms are not decayed.", at_least=0, below=INFINITE)
    ] = 0.01
    clip: Annotated[float, Setting("Largest norm of the gradient.", above=0, below=INFINITE)] = 1.0
    alpha: Annotated[
        float,
        Setting("Exponent of language sampling: 1 samples languages by size, 0 uniformly.", at_least=0, at_most=1),
    ] = SAMPLING_EXPONENT
    masking: Annotated[MaskingUnit, Setting("Unit of masking: tokens, words (whole words) or spans.")] = "tokens"
    mask_share: Annotated[float, Setting("Share of the tokens that are masked.", above=0, below=1)] = MASK_SHARE
    by_line: Annotated[
        bool, Setting("Make a sequence of every line, or join lines to full sequences.", option="--by-line/--joined")
    ] = False
    confine: Annotated[bool, Setting("Restrict attention to single lines within joined sequences.")] = False
    accumulate: Annotated[
        int,
        Setting(
            "Number of parts of a step, to save memory; with dropout, the masks and so the result differ.", above=0
        ),
    ] = 1
    precision: Annotated[
        Precision, Setting("Precision of the computation: fp32, bf16 (weights in fp32), or auto (bf16 on a GPU).")
    ] = "auto"
    compiled: Annotated[
        bool | None, Setting("Compile the network; by default on a GPU only.", option="--compile/--no-compile")
    ] = None
    budget: Budget = DEFAULT_BUDGET

    def __post_init__(self) -> None:
        check_settings(self)
        if self.confine and self.by_line:
            raise UsageError("confine is for joined lines; with by_line, a sequence is a single line")

    @property
    def causal(self) -> bool:
        return self.objective == "clm"
