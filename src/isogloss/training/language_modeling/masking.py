"""Dynamic masking for masked language modelling, on the device and with constant shapes.

Of the tokens that are not special, 15 % are chosen; of these 80 % become the mask, 10 % a random token and 10 % stay
(Devlin et al. 2019). The number chosen in a sequence is 0.15·n rounded up or down at random, so that its mean is
exact. Tokens are chosen one by one, by whole words, or by spans of 1 to 10 tokens (Joshi et al. 2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
import torch
from torch import Tensor

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.training.language_modeling.settings import MASK_SHARE, MaskingUnit

MASK_PROBABILITY, RANDOM_TOKEN_PROBABILITY = 0.8, 0.1
SPAN_STOP_PROBABILITY, MAX_SPAN_TOKENS = 0.2, 10  # truncated geometric distribution; its mean is 3.8 tokens
IGNORED_LABEL = -100  # label of a position that is not predicted


@dataclass(frozen=True)
class MaskingRules:
    """Tokens that may be masked, and their replacements."""

    mask: int
    special: Tensor  # for each id, whether it is a special token
    ordinary: Tensor  # the ids of all other tokens
    units: str = "tokens"
    share: float = MASK_SHARE


@dataclass(frozen=True)
class MaskedSequences:
    """Masked sequences and the positions to predict: the same number in every sequence, some of them ignored."""

    ids: Tensor
    positions: Tensor
    labels: Tensor


def masking_rules(model: LoadedModel, units: str = "tokens", share: float = MASK_SHARE) -> MaskingRules:
    """The rules of a model's vocabulary, on its device."""
    check_name(units, get_args(MaskingUnit), "unit of masking")
    tokenizer = model.tokenizer
    if tokenizer.mask_token_id is None:
        raise UsageError(f"the tokenizer of '{model.name}' has no mask token, so it cannot be trained by masking")
    if not 0 < share < 1:
        raise UsageError(f"share of masked tokens: expected a number between 0 and 1, got {share}")
    rows = max(len(tokenizer), max(tokenizer.get_vocab().values()) + 1)
    special = torch.zeros(rows, dtype=torch.bool)
    special[sorted({*tokenizer.all_special_ids, *model.prefix, *model.suffix})] = True
    ordinary = torch.tensor(sorted(set(tokenizer.get_vocab().values()) - set(special.nonzero()[:, 0].tolist())))
    return MaskingRules(tokenizer.mask_token_id, special.to(model.device), ordinary.to(model.device), units, share)


def mask_sequences(
    ids: Tensor, rules: MaskingRules, generator: torch.Generator, starts: Tensor | None = None
) -> MaskedSequences:
    """Mask sequences `ids[sequence, token]`; `starts` says where words begin, for masking by words."""
    rows, length = ids.shape
    maskable = ~rules.special[ids]
    number = (rules.share * maskable.sum(1) + _uniform(generator, rows)).floor().long()[:, None]
    positions_per_row = int(rules.share * length) + 1
    score = _uniform(generator, rows, length)
    if rules.units != "tokens":
        unit_starts = _span_starts(rows, length, generator) if rules.units == "spans" else starts
        if unit_starts is None:
            raise UsageError("masking by words needs to know where words begin")
        begins = _break_at_special(unit_starts, maskable)
        unit = begins.cumsum(1) - 1
        score = score.gather(1, unit)  # one score for the whole unit
    positions = score.masked_fill(~maskable, 2.0).argsort(dim=1, stable=True)[:, :positions_per_row]
    slot = torch.arange(positions_per_row, device=ids.device)
    chosen = slot < number
    if rules.units == "words":  # whole words only: a word that would exceed the number is left out
        chosen &= slot + _tokens_to_unit_end(begins, unit, positions) <= number
    before = ids.gather(1, positions)
    after = _replace_tokens(before, rules, generator)
    masked_ids = ids.scatter(1, positions, torch.where(chosen, after, before))
    return MaskedSequences(masked_ids, positions, before.masked_fill(~chosen, IGNORED_LABEL))


def _uniform(generator: torch.Generator, *shape: int) -> Tensor:
    return torch.rand(shape, generator=generator, device=generator.device)


def _replace_tokens(tokens: Tensor, rules: MaskingRules, generator: torch.Generator) -> Tensor:
    value, ordinary = _uniform(generator, *tokens.shape), rules.ordinary
    chosen = torch.randint(len(ordinary), tokens.shape, generator=generator, device=generator.device)
    replaced = torch.where(value < MASK_PROBABILITY + RANDOM_TOKEN_PROBABILITY, ordinary[chosen], tokens)
    return replaced.masked_fill(value < MASK_PROBABILITY, rules.mask)


def _span_starts(rows: int, length: int, generator: torch.Generator) -> Tensor:
    """Starts of spans when a sequence is split into spans of random length."""
    lengths = np.arange(MAX_SPAN_TOKENS)
    odds = SPAN_STOP_PROBABILITY * (1 - SPAN_STOP_PROBABILITY) ** lengths
    bounds = torch.tensor(np.cumsum(odds / odds.sum())[:-1], dtype=torch.float32, device=generator.device)
    ends = (torch.bucketize(_uniform(generator, rows, length), bounds) + 1).cumsum(1)
    starts = torch.zeros(rows, length + 1, dtype=torch.bool, device=generator.device)
    starts = starts.scatter(1, ends.clamp(max=length), True)[:, :length]  # the last column collects ends beyond it
    starts[:, 0] = True
    return starts


def _break_at_special(starts: Tensor, maskable: Tensor) -> Tensor:
    """Unit starts such that no unit extends over special tokens."""
    begins = starts | ~maskable
    begins[:, 1:] |= ~maskable[:, :-1]
    begins[:, 0] = True
    return begins


def _tokens_to_unit_end(begins: Tensor, unit: Tensor, positions: Tensor) -> Tensor:
    """For each position, the number of tokens from it to the end of its unit."""
    size = torch.zeros_like(unit).scatter_add(1, unit, torch.ones_like(unit))
    index = torch.arange(unit.shape[1], device=unit.device).expand_as(unit)
    first = index.masked_fill(~begins, 0).cummax(1).values
    return size.gather(1, unit.gather(1, positions)) - (positions - first.gather(1, positions))
