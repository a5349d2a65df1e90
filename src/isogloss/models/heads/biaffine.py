"""A graph-based dependency parser on a model's word states: biaffine scores of heads and of relations.

Dozat & Manning (2017) without the LSTM, as in "First Align, then Predict": every word's state goes through four
small layers (as dependent and as head, for arcs and for relations), pairs are scored by a biaffine product.
Head 0 is the root, a learned state. Only words of the same sentence can be heads: not the other sub-words, not
padding, not the word itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from isogloss.models.heads.task_head import body_states, copied_body, head_dropout, labelled_config, rows_at
from isogloss.models.loading.loaded_model import LoadedModel

ARC_UNITS, RELATION_UNITS = 500, 200


@dataclass(frozen=True)
class ParserScores:
    """`arcs[sentence, dependent, head]`, -inf where there can be none, and what relations are scored from."""

    arcs: Tensor
    dependents: Tensor
    heads: Tensor


class BiaffineScorer(nn.Module):
    """Scores of heads and relations from the states of words."""

    def __init__(self, units: int, relations: int, dropout: float):
        super().__init__()
        self.root = nn.Parameter(torch.randn(units))
        self.arc_dependent, self.arc_head = (_layer(units, ARC_UNITS, dropout) for _ in range(2))
        self.relation_dependent, self.relation_head = (_layer(units, RELATION_UNITS, dropout) for _ in range(2))
        # zero at first, as published: every head and every relation starts out equally likely
        self.arc_weight = nn.Parameter(torch.zeros(ARC_UNITS + 1, ARC_UNITS))
        self.relation_weight = nn.Parameter(torch.zeros(relations, RELATION_UNITS + 1, RELATION_UNITS + 1))

    def scores(self, words: Tensor, known: Tensor) -> ParserScores:
        """Scores for the states `words[sentence, word, unit]`; `known` is False for padding."""
        candidates = torch.cat([self.roots(len(words)), words], 1)
        dependents, heads = with_one(self.arc_dependent(words)), self.arc_head(candidates)
        arcs = self.turned(dependents) @ heads.transpose(1, 2)
        arcs = arcs.float().masked_fill(~possible_heads(known), float("-inf"))
        return ParserScores(arcs, self.relation_dependent(words), self.relation_head(candidates))

    def relations(self, scores: ParserScores, heads: Tensor) -> Tensor:
        """`[sentence, dependent, relation]`: the scores of each word's relations, given its head."""
        index = heads[..., None].expand(-1, -1, scores.heads.shape[-1])
        chosen = with_one(scores.heads.gather(1, index))
        # the sum over i, j of dependent[i] weight[relation, i, j] head[j], without a table of all heads
        return torch.einsum("swri,swi->swr", self.offered(chosen), with_one(scores.dependents)).float()

    def roots(self, sentences: int) -> Tensor:
        """The state of the root in each sentence."""
        return self.root.expand(sentences, 1, -1)

    def turned(self, dependents: Tensor) -> Tensor:
        """Dependents, so that their products with heads are scores."""
        return dependents @ self.arc_weight

    def offered(self, heads: Tensor) -> Tensor:
        """Heads, so that their products with dependents are scores, of each relation."""
        return torch.einsum("rij,swj->swri", self.relation_weight, heads)


class BiaffineParser(BiaffineScorer):
    """A copy of the model's body with a parser on top, for the given relations."""

    def __init__(self, model: LoadedModel, relations: tuple[str, ...]):
        config: Any = labelled_config(model, relations)
        share = head_dropout(config)
        super().__init__(model.hidden_size, len(relations), share)
        self.config = config
        self.body = copied_body(model)
        self.dropout = nn.Dropout(share)
        self.to(device=model.device, dtype=next(model.body.parameters()).dtype)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, places: Tensor, known: Tensor, **inputs: Tensor
    ) -> ParserScores:
        """Scores for the words at `places[sentence, word]` among all tokens; `known` is False for padding."""
        states = body_states(self.body, input_ids, attention_mask, **inputs)
        return self.scores(self.dropout(rows_at(states.flatten(0, 1), places)), known)


def possible_heads(known: Tensor) -> Tensor:
    """`[sentence, dependent, head]`: the root and every other word.

    >>> possible_heads(torch.tensor([[True, True, False]]))[0].int().tolist()[:2]
    [[1, 0, 1, 0], [1, 1, 0, 0]]
    """
    words = known.shape[1]
    itself = torch.eye(words, words + 1, dtype=torch.bool, device=known.device).roll(1, 1)
    heads = torch.cat([torch.ones_like(known[:, :1]), known], 1)
    return heads[:, None] & ~itself


def with_one(states: Tensor) -> Tensor:
    """States with a last unit of 1, whose weights are the bias."""
    return torch.cat([states, torch.ones_like(states[..., :1])], -1)


def _layer(inputs: int, units: int, dropout: float) -> nn.Module:
    linear = nn.Linear(inputs, units)
    nn.init.orthogonal_(linear.weight)
    nn.init.zeros_(linear.bias)
    return nn.Sequential(linear, nn.LeakyReLU(0.1), nn.Dropout(dropout))
