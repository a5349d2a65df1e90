"""Perplexity of held-out lines: exact for a causal model, over fixed masked positions for a masked model.

For a masked model it is exp of the mean loss at 15 % of the tokens, which the seed determines and which are replaced
as in training. It is comparable between models with the same tokenizer, and between steps of one training.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from isogloss.core.errors import UsageError
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.batching import token_batches
from isogloss.training.language_modeling.losses import causal_loss, masked_loss, next_tokens
from isogloss.training.language_modeling.masking import IGNORED_LABEL, mask_sequences, masking_rules
from isogloss.training.language_modeling.packing import Text, pack

BATCH_TOKENS = 8192


@torch.no_grad()
def perplexity(model: LoadedModel, lines: Sequence[Text], *, length: int = 128, seed: int = 0) -> float:
    """exp of the mean loss per predicted token; lines longer than `length` tokens are split."""
    if model.network is model.body:
        raise UsageError(f"'{model.name}' was loaded without its head; load_model(…, head='mlm' or 'clm')")
    sequences = pack(model, {"held-out": lines}, length, by_line=True)
    ids = torch.from_numpy(sequences.ids).long()
    lengths = torch.full((len(ids),), length) if sequences.lengths is None else torch.from_numpy(sequences.lengths)
    present = torch.arange(length) < lengths[:, None]
    positions: Tensor | None = None
    if model.family.causal:
        labels = next_tokens(ids, present)
    else:
        rules = masking_rules(model)
        rules = replace(rules, special=rules.special.cpu(), ordinary=rules.ordinary.cpu())  # same draws on any device
        masked = mask_sequences(ids, rules, torch.Generator().manual_seed(seed))
        ids, positions, labels = masked.ids, masked.positions, masked.labels
    terms = int((labels != IGNORED_LABEL).sum())
    if not terms:
        raise UsageError("too little text for a perplexity: no token is predicted")
    return math.exp(_total_loss(model, ids, positions, labels, lengths, present) / terms)


def _total_loss(
    model: LoadedModel, ids: Tensor, positions: Tensor | None, labels: Tensor, lengths: Tensor, present: Tensor
) -> float:
    total, training = 0.0, model.network.training
    model.network.eval()
    for batch in token_batches(lengths.numpy(), BATCH_TOKENS):
        rows, longest = torch.from_numpy(batch), int(lengths[batch].max())
        inputs, attention = (x[rows, :longest].to(model.device) for x in (ids, present))
        if positions is None:
            value = causal_loss(model.network, inputs, attention, labels[rows, :longest].to(model.device))
        else:
            chosen = positions[rows].clamp(max=longest - 1).to(model.device)  # those beyond are ignored
            value = masked_loss(model.network, inputs, attention, chosen, labels[rows].to(model.device))
        total += float(value)
    model.network.train(training)
    return total
