"""Equation 1 of cross-lingual adjustment, computed per batch: no loop over words, no host synchronisation.

    L = Σ over aligned pairs ‖f(s) − f(t)‖² + Σ over source words ‖f(s) − f⁰(s)‖²

The first term pulls translations together, the second keeps the source close to the original model f⁰. Sub-words are
pooled to words, and words selected for pairs, by small matrix products, so that gradients are deterministic.
Reference: Cao, Kitaev & Klein (2020), Multilingual alignment of contextual word representations; Efimov, Boytsov,
Arslanova & Braslavski (2023), The impact of cross-lingual adjustment of contextual word representations.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel

from isogloss.core.errors import UsageError
from isogloss.models.heads.task_head import body_of
from isogloss.models.loading.loaded_model import Layer, LoadedModel
from isogloss.models.states.attention import padded_attention
from isogloss.models.states.pooling import capture_layers, check_layers, evaluation_mode
from isogloss.tasks.examples import IGNORE_INDEX, Batch
from isogloss.training.adjustment.settings import LossOptions
from isogloss.training.engine.bf16_copy import clone_in_bf16

VARIANCE_EPSILON = 1e-6  # added to variances


class AlignmentLoss:
    """The loss of a network on a batch of sentence pairs; `original` is f⁰, `bitexts` the number of language pairs."""

    def __init__(self, original: LoadedModel, layers: Sequence[Layer], options: LossOptions, bitexts: int = 1):
        self.layers, self.options, self.bitexts = tuple(layers), options, bitexts
        self.original, self._bf16_original = original, None  # type: LoadedModel, nn.Module | None

    def __call__(self, network: nn.Module, batch: Batch, *, padded: bool = False) -> Tensor:
        """`padded`: the step is recorded, so f⁰ must not inspect the attention mask."""
        body = body_of(network)
        frozen = self._frozen(bf16=next(body.parameters()).dtype == torch.bfloat16)
        both = {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask}
        source = {name: value[0::2] for name, value in both.items()}
        as_recorded = padded_attention(frozen) if padded else contextlib.nullcontext()
        with torch.no_grad(), evaluation_mode(frozen), as_recorded:
            before = self._states(frozen, source)
        after = self._states(body, both)
        with torch.autocast(batch.input_ids.device.type, enabled=False):
            losses = [self.layer_loss(now, then, batch) for now, then in zip(after, before, strict=True)]
            return torch.stack(losses).sum()

    def layer_loss(self, states: Tensor, before: Tensor, batch: Batch) -> Tensor:
        """The loss of one layer, from its states for all sentences and the original's for the source sentences."""
        options, arrays = self.options, batch.arrays
        source = unit_vectors(states[0::2], arrays["source_unit"])
        target = unit_vectors(states[1::2], arrays["target_unit"])
        original = unit_vectors(before, arrays["source_unit"])
        is_pair = (arrays["pair_source"] != IGNORE_INDEX).flatten()
        s, t = (
            _select_units(vectors, arrays[name]) for vectors, name in ((source, "pair_source"), (target, "pair_target"))
        )
        if options.normalise:
            bitext = arrays["bitext"].expand_as(arrays["pair_source"]).flatten()
            s, t = (z_normalise(side, bitext.where(is_pair, IGNORE_INDEX), self.bitexts) for side in (s, t))
        regularised = arrays["regularised"] == 1
        moved = (source - original)[:, : regularised.shape[1]]
        loss = options.pull * self._reduced((s - t).square().sum(1), is_pair, s.shape[1])
        loss = loss + options.hold * self._reduced(moved.square().sum(2), regularised, s.shape[1])
        if options.contrastive:
            contrastive = contrastive_loss(s, t, is_pair, options.temperature, strong=options.contrastive == "strong")
            loss = loss + options.contrastive_weight * self._reduced(contrastive, is_pair, 1)
        return loss

    def _reduced(self, values: Tensor, mask: Tensor, units: int) -> Tensor:
        total = values.where(mask, 0).sum()
        return total if self.options.reduction == "sum" else total / (mask.sum().clamp_min(1) * units)

    def _states(self, body: nn.Module, inputs: Mapping[str, Tensor]) -> list[Tensor]:
        """The states of the chosen layers, in fp32 or higher precision."""
        options = {"use_cache": False} if self.original.family.causal else {}
        model = replace(self.original, body=cast(PreTrainedModel, body))
        with capture_layers(model, self.layers, lambda states: states) as states:
            body(**inputs, **options)
        return [states[layer].to(torch.promote_types(states[layer].dtype, torch.float32)) for layer in self.layers]

    def _frozen(self, bf16: bool) -> nn.Module:
        """The original model in the precision of the network: at the first step their states are equal."""
        if not bf16:
            return self.original.body
        self._bf16_original = self._bf16_original or clone_in_bf16(self.original.body)
        return self._bf16_original


def resolve_layers(model: LoadedModel, layers: Layer | Sequence[Layer]) -> tuple[Layer, ...]:
    """Layer numbers or names; "last" is the output of the model's last norm."""
    listed = [layers] if isinstance(layers, int | str) else list(layers)
    named = tuple(dict.fromkeys(model.last_layer if layer == "last" else layer for layer in listed))
    if not named:
        raise UsageError("layers: expected at least one")
    return check_layers(model, named)


def unit_vectors(states: Tensor, unit: Tensor) -> Tensor:
    """`[sentence, unit, dimension]`: the mean of the tokens of each unit, zeros for units without tokens.

    `unit[sentence, token]` numbers each token's unit; negative numbers mean none.

    >>> unit_vectors(torch.tensor([[[2.0], [4.0], [7.0]]]), torch.tensor([[0, 0, IGNORE_INDEX]])).tolist()
    [[[3.0], [0.0], [0.0]]]
    """
    units = unit.shape[1]
    belongs = unit[:, None, :] == torch.arange(units, device=unit.device)[:, None]
    weights = belongs.to(states.dtype) / belongs.sum(2, keepdim=True).clamp_min(1)
    return weights @ states[:, :units]


def _select_units(vectors: Tensor, units: Tensor) -> Tensor:
    """`[pair, dimension]`: the vectors of the numbered units of each sentence, zeros for padding.

    A matrix product: indexing would sum gradients in random order, or synchronise with the device.
    """
    chosen = units[:, :, None] == torch.arange(vectors.shape[1], device=units.device)
    return (chosen.to(vectors.dtype) @ vectors).flatten(0, 1)


def z_normalise(vectors: Tensor, group: Tensor, groups: int) -> Tensor:
    """Vectors of zero mean and unit variance in every dimension, for each group; vectors without a group are unchanged.

    >>> z_normalise(torch.tensor([[1.0], [3.0], [9.0]]), torch.tensor([0, 0, IGNORE_INDEX]), 1).round().tolist()
    [[-1.0], [1.0], [9.0]]
    """
    belongs = (group[None] == torch.arange(groups, device=group.device)[:, None]).to(vectors.dtype)
    shares = belongs / belongs.sum(1, keepdim=True).clamp_min(1)
    mean, back = shares @ vectors, belongs.T
    centred = vectors - back @ mean
    spread = (shares @ centred.square() + VARIANCE_EPSILON).sqrt()
    outside = 1 - back.sum(1, keepdim=True)
    return centred / (back @ spread + outside)


def contrastive_loss(source: Tensor, target: Tensor, is_pair: Tensor, temperature: float, *, strong: bool) -> Tensor:
    """The contrastive loss of each pair among all words of the step, the mean of both directions."""
    s, t = functional.normalize(source), functional.normalize(target)
    pair_index = torch.arange(len(s), device=s.device)
    masked = float("-inf")
    if strong:
        words, present = torch.cat([s, t]), torch.cat([is_pair, is_pair])
        logits = (words @ words.T / temperature).masked_fill(~present, masked)
        logits = logits.masked_fill(torch.eye(len(words), dtype=torch.bool, device=s.device), masked)
        partner = torch.cat([pair_index + len(s), pair_index])
        losses = functional.cross_entropy(logits, partner, reduction="none").view(2, -1)
    else:
        logits = s @ t.T / temperature
        directions = [logits.masked_fill(~is_pair, masked), logits.T.masked_fill(~is_pair, masked)]
        losses = torch.stack(
            [functional.cross_entropy(direction, pair_index, reduction="none") for direction in directions]
        )
    return losses.mean(0).where(is_pair, 0)
