"""Layers of several networks as one: every weight has a first axis with one slice per network."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from isogloss.models.heads.biaffine import BiaffineParser


class StackedLinear(nn.Linear):
    def forward(self, states: Tensor) -> Tensor:
        rows, weight = states.reshape(len(self.weight), -1, self.in_features), self.weight.transpose(1, 2)
        bias: Tensor | None = self.bias
        product = rows @ weight if bias is None else torch.baddbmm(bias[:, None], rows, weight)
        return product.view(*states.shape[:-1], self.out_features)


class StackedLayerNorm(nn.LayerNorm):
    def forward(self, states: Tensor) -> Tensor:
        rows = functional.layer_norm(states, self.normalized_shape, eps=self.eps)
        rows = rows.view(len(self.weight), -1, *self.normalized_shape)
        return torch.addcmul(self.bias[:, None], rows, self.weight[:, None]).view(states.shape)


class StackedEmbedding(nn.Embedding):
    """Padding tokens are looked up like all others: nothing depends on their vectors, so their gradient is zero."""

    def forward(self, ids: Tensor) -> Tensor:
        networks, vocabulary_size, units = self.weight.shape
        offset = torch.arange(networks, device=ids.device)[:, None] * vocabulary_size
        rows = functional.embedding(ids.reshape(networks, -1) + offset, self.weight.flatten(0, 1))
        return rows.view(*ids.shape, units)


class StackedParser(BiaffineParser):
    def roots(self, sentences: int) -> Tensor:
        return self.root.repeat_interleave(sentences // len(self.root), 0)[:, None]

    def project_dependents(self, dependents: Tensor) -> Tensor:
        rows = dependents.reshape(len(self.root), -1, dependents.shape[-1]) @ self.arc_weight
        return rows.view(*dependents.shape[:-1], -1)

    def project_heads(self, heads: Tensor) -> Tensor:
        by_network = heads.view(len(self.root), -1, *heads.shape[1:])
        return torch.einsum("crij,cswj->cswri", self.relation_weight, by_network).flatten(0, 1)


STACKED_LAYERS: dict[type[nn.Module], type[nn.Module]] = {
    nn.Linear: StackedLinear,
    nn.LayerNorm: StackedLayerNorm,
    nn.Embedding: StackedEmbedding,
    BiaffineParser: StackedParser,
}
