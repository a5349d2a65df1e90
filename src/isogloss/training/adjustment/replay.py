"""Continual learning: Equation 1 as a second loss during fine-tuning, so that the alignment is not forgotten.

    L = L_task + α·L_align, L_align over a few random sentence pairs per step

Reference: Efimov, Boytsov, Arslanova & Braslavski (2023), Equation 2; after Robins (1995), experience replay.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from torch import Tensor, nn

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.core.seeds import Chance
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.models.loading.loaded_model import Layer, LoadedModel
from isogloss.models.tokenization.batching import IntArray
from isogloss.models.tokenization.encoding import padding_id
from isogloss.tasks.examples import Batch, Example, ExampleSizes, Shape, collate
from isogloss.training.adjustment.adjust import Bitexts, bitext_list, in_fp32
from isogloss.training.adjustment.loss import AlignmentLoss, resolve_layers
from isogloss.training.adjustment.pairs import encode_pairs
from isogloss.training.adjustment.settings import LossOptions, PairedTokens, PairOptions, WordPooling
from isogloss.training.engine.batch_shapes import round_length_up
from isogloss.training.engine.identity import corpus_identity, model_identity
from isogloss.training.engine.objective import ShapedLoss
from isogloss.training.language_modeling.model_files import RUN_FILE

ANCHORS = ("original", "adjusted")
WEIGHTINGS = ("published", "released")


@dataclass(frozen=True, eq=False, repr=False)
class AlignmentReplay:
    """The second loss of `transfer(continual=…)`, which binds it to the models of each run."""

    bitexts: Sequence[Corpus[AlignedPair]]
    pairs: int
    anchor: str | LoadedModel
    layers: Layer | Sequence[Layer]
    loss: LossOptions
    pair_options: PairOptions

    def bind(self, original: LoadedModel, adjusted: LoadedModel, seed: int) -> BoundReplay:
        """The loss of one run: `original` is the model before all interventions, `adjusted` the fine-tuned one."""
        anchor = self.anchor
        if anchor == "original":
            _check_original(original)
        if isinstance(anchor, str):
            anchor = {"original": original, "adjusted": adjusted}[anchor]
        _check_compatible(anchor, adjusted)
        return BoundReplay(self, anchor, seed)

    def __repr__(self) -> str:
        anchor = self.anchor if isinstance(self.anchor, str) else self.anchor.name
        weights = f"pull={self.loss.pull:g}, hold={self.loss.hold:g}"
        data = ", ".join(f"{bitext.lang} {len(bitext)}" for bitext in self.bitexts)
        return f"alignment_replay({data}, pairs={self.pairs}, anchor='{anchor}', {weights})"

    @cached_property
    def identity(self) -> list[object]:
        options: list[object] = [self.pairs, self.layers, asdict(self.loss), asdict(self.pair_options)]
        return [*options, *map(corpus_identity, self.bitexts)]


class BoundReplay:
    """The second loss of a run, a function of network and step: apart from dropout, seed and step determine it."""

    def __init__(self, plan: AlignmentReplay, anchor: LoadedModel, seed: int):
        self.plan, self.anchor, self.seed = plan, anchor, seed

    def __call__(self, network: nn.Module, step: int) -> Tensor:
        return self.loss(network, self._batch(step).to(next(network.parameters()).device))

    @cached_property
    def shaped(self) -> ShapedLoss[int]:
        """The loss split into batch and computation, for recorded steps (CUDA graphs)."""
        sizes, max_length = ExampleSizes(self.examples), self.anchor.max_length
        return ShapedLoss(
            lambda step: round_length_up(sizes.shape(self._sample(step)), max_length),
            self._batch,
            lambda network, batch: self.loss(network, batch, padded=True),
        )

    def _sample(self, step: int) -> IntArray:
        chance = Chance(self.seed, "replay", step)
        return np.array([chance.below(len(self.examples)) for _ in range(self.plan.pairs)])

    def _batch(self, step: int, shape: Shape | None = None) -> Batch:
        return collate([self.examples[i] for i in self._sample(step)], padding_id(self.anchor), shape)

    def __repr__(self) -> str:
        """Everything that determines the loss, for the identity of the run."""
        return f"alignment_replay {json.dumps([self.plan.identity, model_identity(self.anchor)])}"

    @cached_property
    def examples(self) -> tuple[Example, ...]:
        return encode_pairs(self.anchor, self.plan.bitexts, self.plan.pair_options)

    @cached_property
    def loss(self) -> AlignmentLoss:
        anchor = in_fp32(self.anchor)
        layers = resolve_layers(anchor, self.plan.layers)
        return AlignmentLoss(anchor, layers, self.plan.loss, len(self.plan.bitexts))


def alignment_replay(
    bitext: Bitexts,
    *,
    weight: float = 0.01,
    pairs: int = 16,
    anchor: Literal["original", "adjusted"] | LoadedModel = "original",
    weighting: Literal["published", "released"] = "published",
    reduction: Literal["mean", "sum"] = "mean",
    layers: Layer | Sequence[Layer] = "last",
    words: WordPooling = "mean",
    tokens: PairedTokens = "words+specials",
    regularise: Literal["words", "all"] = "words",
    one_to_one: bool = False,
    drop_identical: bool = False,
    max_words: int | None = None,
    contrastive: Literal["weak", "strong"] | None = None,
    contrastive_weight: float = 1.0,
    temperature: float = 0.1,
    normalise: bool = False,
) -> AlignmentReplay:
    """For `transfer(continual=…)`: add Equation 1 over random sentence pairs to the loss of every step.

    Args:
        bitext: Word-aligned sentence pairs of one or several language pairs.
        weight: Weight α of the loss.
        pairs: Number of random sentence pairs per step.
        anchor: The model that the source is kept close to: the "original" passed to `transfer`, the "adjusted" one
            after its interventions, or another model (for example the original of a model that was adjusted before).
        weighting: "published": both terms have the weight; "released", as in the released code: the term that keeps
            the source close to the anchor has the weight 1.
        reduction: α = 0.01 was published for the "mean" of squared errors; with "sum", as Equation 1 is printed, the
            same α outweighs the task.
        layers: See `adjust`, as for all following parameters.
        words: Vector of a word.
        tokens: Tokens that are paired.
        regularise: Source vectors kept close to the anchor.
        one_to_one: Leave out words with several links.
        drop_identical: Leave out links between identical words.
        max_words: Leave out sentences with more words than this.
        contrastive: Additional contrastive objective.
        contrastive_weight: Weight of the contrastive objective.
        temperature: Temperature of the contrastive objective.
        normalise: Compare z-normalised vectors.
    """
    check_name(weighting, WEIGHTINGS, "weighting")
    if isinstance(anchor, str):
        check_name(anchor, ANCHORS, "anchor")
    if pairs < 1 or not weight > 0:
        raise UsageError(f"expected at least one pair per step and a weight above 0, got {pairs} and {weight}")
    pair_options = PairOptions(words, tokens, regularise, one_to_one, drop_identical, max_words)
    hold = weight if weighting == "published" else 1.0
    loss = LossOptions(reduction, weight, hold, contrastive, contrastive_weight, temperature, normalise)
    return AlignmentReplay(bitext_list(bitext), pairs, anchor, layers, loss, pair_options)


def _check_compatible(anchor: LoadedModel, model: LoadedModel) -> None:
    """Raise an error if the anchor has another tokenizer or other layers."""
    properties = [
        (checked.layers, checked.hidden_size, checked.prefix, checked.suffix, checked.tokenizer.get_vocab())
        for checked in (anchor, model)
    ]
    if properties[0] != properties[1]:
        raise UsageError(f"anchor: '{anchor.name}' and '{model.name}' differ in tokenizer or size; give the original")


def _check_original(model: LoadedModel) -> None:
    """Raise an error if the model was loaded from the folder of an adjusted model, which is not the original."""
    note = Path(model.name) / RUN_FILE
    try:
        metadata = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    if isinstance(metadata, dict) and metadata.get("change") == "adjust":
        advice = f"anchor=load_model('{metadata.get('made_from')}'), or anchor='adjusted'"
        raise UsageError(f"'{model.name}' is itself an adjusted model, not the original; give {advice}")
