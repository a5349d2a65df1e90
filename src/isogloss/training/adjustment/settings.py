"""Settings of cross-lingual adjustment: which words take part, which loss, and how it is minimised."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from isogloss.core.settings import Setting, check_settings
from isogloss.training.engine.settings import INFINITE, TrainingSettings

WordPooling = Literal["mean", "first", "last", "pieces"]
PairedTokens = Literal["words+specials", "words", "cls", "cls+sep", "all"]


@dataclass(frozen=True)
class PairOptions:
    """Which words take part in adjustment, and which vector represents a word.

    `regularise="words"` includes the special tokens that take part. The last three options: see `filter_links`; the
    released code uses the first two of them, and at most 64 words.
    """

    words: Annotated[
        WordPooling,
        Setting("Vector of a word: the mean, first or last of its sub-words; pieces: the bitext links sub-words."),
    ] = "mean"
    tokens: Annotated[
        PairedTokens, Setting("Tokens that are paired: words+specials (or all), words, cls or cls+sep.")
    ] = "words+specials"
    regularise: Annotated[
        Literal["words", "all"],
        Setting("Source vectors kept close to the original model: words, or all (as in the released code)."),
    ] = "words"
    one_to_one: Annotated[bool, Setting("Leave out words with several links.")] = False
    drop_identical: Annotated[bool, Setting("Leave out links between identical words.")] = False
    max_words: Annotated[int | None, Setting("Leave out sentences with more words than this.", above=0)] = None

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True)
class LossOptions:
    """Equation 1 as published, or one of its variants.

    `reduction`: "sum" as in the equation, or "mean", the mean squared error of the released code (each term divided by
    its number of words and by the size of a vector). `pull`, `hold`: weights of the two terms.

    `contrastive` adds the objective of Wu & Dredze (2020), Do explicit alignments robustly improve multilingual
    encoders?: −log exp(cos(s, t)/T) / Σ exp(cos(s, t′)/T) for each pair, "weak" with the other language's words of the
    step as t′, the mean of both directions, "strong" with the words of both languages. `normalise`: the pull (and the
    contrast) compare (x − μ)/σ, μ and σ by dimension over the aligned words of the step, for each side of each bitext:
    the z-normalisation of Zhao, Eger, Bjerva & Augenstein (2021), Inducing language-agnostic multilingual
    representations. The term that keeps the source close to the original is never normalised.
    """

    reduction: Annotated[
        Literal["sum", "mean"], Setting("Reduction of the loss: sum (Equation 1) or mean (as in the released code).")
    ] = "sum"
    pull: Annotated[
        float, Setting("Weight of the term that pulls translations together.", at_least=0, below=INFINITE)
    ] = 1.0
    hold: Annotated[
        float, Setting("Weight of the term that keeps the source close to the original.", at_least=0, below=INFINITE)
    ] = 1.0
    contrastive: Annotated[
        Literal["weak", "strong"] | None, Setting("Additional contrastive objective: weak or strong.")
    ] = None
    contrastive_weight: Annotated[
        float, Setting("Weight of the contrastive objective.", at_least=0, below=INFINITE)
    ] = 1.0
    temperature: Annotated[float, Setting("Temperature of the contrastive objective.", above=0, below=INFINITE)] = 0.1
    normalise: Annotated[bool, Setting("Compare z-normalised vectors.")] = False

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True)
class AdjustmentSettings(TrainingSettings):
    """As published: Adam without weight decay or clipping, a warm-up, then a constant learning rate."""

    epochs: Annotated[int, Setting("Number of passes over the bitext.", above=0)] = 1
    batch: Annotated[int, Setting("Number of sentence pairs per step.", above=0)] = 32
    learning_rate: Annotated[
        float, Setting("Learning rate after the warm-up.", above=0, below=INFINITE, option="--lr")
    ] = 5e-5
    weight_decay: Annotated[
        float, Setting("Weight decay of AdamW; biases and norms are not decayed.", at_least=0, below=INFINITE)
    ] = 0.0
    clip: Annotated[float, Setting("Largest norm of the gradient; inf disables clipping.", above=0)] = math.inf

    betas: ClassVar[tuple[float, float]] = (0.9, 0.98)
    epsilon: ClassVar[float] = 1e-9
    decays: ClassVar[bool] = False
    # the loss is over whole steps of sentence pairs, and there is no dev score
    excluded_settings: ClassVar[tuple[str, ...]] = ("tokens", "accumulate", "patience")
