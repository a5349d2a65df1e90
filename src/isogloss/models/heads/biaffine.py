"""A graph-based dependency parser over word states: biaffine scores of heads and of relations.

Dozat & Manning (2017) without the LSTM, as in Muller et al. (2021): the state of every word goes through four small
layers (as dependent and as head, for arcs and for relations), and pairs are scored by a biaffine product. Head 0 is the
root, a learned state. Heads are the other words of the same sentence: not their later sub-words and not padding.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from isogloss.models.heads.task_head import body_states, copied_body, head_dropout, labelled_config, rows_at
from isogloss.models.loading.loaded_model import LoadedModel

ARC_UNITS, RELATION_UNITS = 500, 200


@dataclass(frozen=True)
class ParserScores:
    """`arcs[sentence, dependent, head]`, -inf for impossible heads, and the inputs of the relation scores."""

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
        # initialised with zeros, as published: all heads and relations are equally likely
        self.arc_weight = nn.Parameter(torch.zeros(ARC_UNITS + 1, ARC_UNITS))
        self.relation_weight = nn.Parameter(torch.zeros(relations, RELATION_UNITS + 1, RELATION_UNITS + 1))

    def scores(self, words: Tensor, word_mask: Tensor) -> ParserScores:
        """Scores for the states `words[sentence, word, unit]`; `word_mask` is False for padding."""
        candidates = torch.cat([self.roots(len(words)), words], 1)
        dependents, heads = append_ones(self.arc_dependent(words)), self.arc_head(candidates)
        arcs = self.project_dependents(dependents) @ heads.transpose(1, 2)
        arcs = arcs.float().masked_fill(~possible_heads(word_mask), float("-inf"))
        return ParserScores(arcs, self.relation_dependent(words), self.relation_head(candidates))

    def relations(self, scores: ParserScores, heads: Tensor) -> Tensor:
        """`[sentence, dependent, relation]`: scores of the relations of each word, given its head."""
        index = heads[..., None].expand(-1, -1, scores.heads.shape[-1])
        chosen = append_ones(scores.heads.gather(1, index))
        # the sum over i, j of dependent[i] weight[relation, i, j] head[j], without computing all heads
        return torch.einsum("swri,swi->swr", self.project_heads(chosen), append_ones(scores.dependents)).float()

    def roots(self, sentences: int) -> Tensor:
        """The state of the root in each sentence."""
        return self.root.expand(sentences, 1, -1)

    def project_dependents(self, dependents: Tensor) -> Tensor:
        """Dependents, projected so that their dot products with heads are arc scores."""
        return dependents @ self.arc_weight

    def project_heads(self, heads: Tensor) -> Tensor:
        """Heads, projected so that their dot products with dependents are scores of each relation."""
        return torch.einsum("rij,swj->swri", self.relation_weight, heads)


class BiaffineParser(BiaffineScorer):
    """A copy of the model's body with a parser for the given relations."""

    def __init__(self, model: LoadedModel, relations: tuple[str, ...]):
        config = labelled_config(model, relations)
        dropout = head_dropout(config)
        super().__init__(model.hidden_size, len(relations), dropout)
        self.config = config
        self.body = copied_body(model)
        self.dropout = nn.Dropout(dropout)
        self.to(device=model.device, dtype=next(model.body.parameters()).dtype)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, places: Tensor, word_mask: Tensor, **inputs: Tensor
    ) -> ParserScores:
        """Scores for the words at `places[sentence, word]` among all tokens; `word_mask` is False for padding."""
        states = body_states(self.body, input_ids, attention_mask, **inputs)
        return self.scores(self.dropout(rows_at(states.flatten(0, 1), places)), word_mask)


def possible_heads(word_mask: Tensor) -> Tensor:
    """`[sentence, dependent, head]`: the root and every other word.

    >>> possible_heads(torch.tensor([[True, True, False]]))[0].int().tolist()[:2]
    [[1, 0, 1, 0], [1, 1, 0, 0]]
    """
    words = word_mask.shape[1]
    itself = torch.eye(words, words + 1, dtype=torch.bool, device=word_mask.device).roll(1, 1)
    heads = torch.cat([torch.ones_like(word_mask[:, :1]), word_mask], 1)
    return heads[:, None] & ~itself


def append_ones(states: Tensor) -> Tensor:
    """States with a constant last unit of 1, whose weights are the bias."""
    return torch.cat([states, torch.ones_like(states[..., :1])], -1)


def _layer(inputs: int, units: int, dropout: float) -> nn.Module:
    linear = nn.Linear(inputs, units)
    nn.init.orthogonal_(linear.weight)
    nn.init.zeros_(linear.bias)
    return nn.Sequential(linear, nn.LeakyReLU(0.1), nn.Dropout(dropout))
