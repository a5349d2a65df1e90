"""Continual learning: Equation 1 as a second loss while a task is learnt, so that alignment is not forgotten.

    L = L_task + α·L_align, L_align over a few sentence pairs drawn at random in every step

Reference: Efimov, Boytsov, Arslanova & Braslavski (2023), Equation 2; after Robins (1995), experience replay.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

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
from isogloss.training.adjustment.adjust import Bitexts, bitext_list, in_fp32, options_of
from isogloss.training.adjustment.loss import AlignmentLoss, resolve_layers
from isogloss.training.adjustment.pairs import encode_pairs
from isogloss.training.adjustment.settings import LossOptions, PairOptions
from isogloss.training.engine.batch_shapes import round_length_up
from isogloss.training.engine.identity import corpus_identity, model_identity
from isogloss.training.engine.objective import ShapedLoss
from isogloss.training.language_modeling.model_files import RUN_FILE

ANCHORS = ("original", "adjusted")
WEIGHTINGS = ("published", "released")


@dataclass(frozen=True, eq=False, repr=False)
class AlignmentReplay:
    """What `alignment_replay` makes; `transfer` binds it to the models of each run."""

    bitexts: Sequence[Corpus[AlignedPair]]
    pairs: int
    anchor: str | LoadedModel
    layers: Layer | Sequence[Layer]
    loss: LossOptions
    choice: PairOptions

    def bind(self, original: LoadedModel, adjusted: LoadedModel, seed: int) -> BoundReplay:
        """For one run: `original` before all changes, `adjusted` as it goes into fine-tuning."""
        if self.anchor == "original":
            _check_original(original)
        anchor = (
            {"original": original, "adjusted": adjusted}[self.anchor] if isinstance(self.anchor, str) else self.anchor
        )
        _check_compatible(anchor, adjusted)
        return BoundReplay(self, anchor, seed)

    def __repr__(self) -> str:
        anchor = self.anchor if isinstance(self.anchor, str) else self.anchor.name
        weights = f"pull={self.loss.pull:g}, hold={self.loss.hold:g}"
        data = ", ".join(f"{bitext.lang} {len(bitext)}" for bitext in self.bitexts)
        return f"alignment_replay({data}, pairs={self.pairs}, anchor='{anchor}', {weights})"

    @cached_property
    def identity(self) -> list[object]:
        options: list[object] = [self.pairs, self.layers, asdict(self.loss), asdict(self.choice)]
        return [*options, *map(corpus_identity, self.bitexts)]


class BoundReplay:
    """The second loss of a run: of the network at a step, a pure function of seed and step but for dropout."""

    def __init__(self, plan: AlignmentReplay, anchor: LoadedModel, seed: int):
        self.plan, self.anchor, self.seed = plan, anchor, seed

    def __call__(self, network: nn.Module, step: int) -> Tensor:
        return self.loss(network, self._batch(step).to(next(network.parameters()).device))

    @cached_property
    def shaped(self) -> ShapedLoss:
        """The same in two halves, for steps that are recorded."""
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
        """All that decides what is computed, for the identity of the run."""
        return f"alignment_replay {json.dumps([self.plan.identity, model_identity(self.anchor)])}"

    @cached_property
    def examples(self) -> tuple[Example, ...]:
        return encode_pairs(self.anchor, self.plan.bitexts, self.plan.choice)

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
    **options: Any,
) -> AlignmentReplay:
    """For `transfer(continual=…)`: in every step Equation 1 over `pairs` random sentence pairs, times `weight`.

    `anchor`: the model that the source is held to: the "original" that `transfer` is given, before its changes; the
    "adjusted" one that goes into fine-tuning; or another, where the model at hand was adjusted before. `weighting`:
    the "released" code weighs only the pull, and holds the source with 1.0. `reduction`: α = 0.01 was chosen for
    mean squared errors; summed as Equation 1 is printed, the same α drowns the task. `options` say which words take
    part (`PairOptions`), and more of the loss (`LossOptions`: contrastive, normalise …).
    """
    check_name(weighting, WEIGHTINGS, "weighting")
    if isinstance(anchor, str):
        check_name(anchor, ANCHORS, "anchor")
    if pairs < 1 or not weight > 0:
        raise UsageError(f"expected at least one pair per step and a weight above 0, got {pairs} and {weight}")
    for name in ("pull", "hold"):
        if name in options:
            raise UsageError(f"{name}: the weights of the two terms follow from weight and weighting")
    hold = weight if weighting == "published" else 1.0
    pair_options, loss = options_of(
        {**options, "reduction": reduction, "pull": weight, "hold": hold}, PairOptions, LossOptions
    )
    return AlignmentReplay(bitext_list(bitext), pairs, anchor, layers, loss, pair_options)


def _check_compatible(anchor: LoadedModel, model: LoadedModel) -> None:
    """An error where the anchor reads other tokens or has other layers."""
    properties = [
        (checked.layers, checked.hidden_size, checked.prefix, checked.suffix, checked.tokenizer.get_vocab())
        for checked in (anchor, model)
    ]
    if properties[0] != properties[1]:
        raise UsageError(f"anchor: '{anchor.name}' and '{model.name}' differ in tokenizer or size; give the original")


def _check_original(model: LoadedModel) -> None:
    """An error where the model was read from the folder of an adjusted one: that is not the original."""
    note = Path(model.name) / RUN_FILE
    try:
        metadata = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    if isinstance(metadata, dict) and metadata.get("change") == "adjust":
        advice = f"anchor=load_model('{metadata.get('made_from')}'), or anchor='adjusted'"
        raise UsageError(f"'{model.name}' is itself an adjusted model, not the original; give {advice}")
