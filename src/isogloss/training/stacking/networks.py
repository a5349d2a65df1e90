"""Several networks of one shape as one, whose kernels do the work of all of them.

A small step of training is a thousand kernels, each too small to fill a GPU. Networks that read the same batches, such
as a model and the same model with layers re-initialised, can take their steps together: every weight gets a first axis,
one slice for each network, and every product becomes a product of stacks. All else in a network (attention, dropout,
activations) treats the rows of a batch one by one, so that the rows of all networks, the first one's first, are one
batch to it. By hand, because `torch.vmap` does not get along with the model library's masks.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers.models.bert.modeling_bert import BertEmbeddings

from isogloss.models.families.table import FAMILIES
from isogloss.models.heads.biaffine import BiaffineParser
from isogloss.models.heads.task_head import body_of

STACKABLE_MODEL_TYPES = {model_type for model_type, family in FAMILIES.items() if family.stackable}
IGNORED_CONFIG_KEYS = {
    "_name_or_path",
    "architectures",
    "dtype",
    "transformers_version",
}  # where weights come from, and no more


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
    """Padding is looked up like any token: nothing follows from its vectors, so that their gradient is zero anyway."""

    def forward(self, ids: Tensor) -> Tensor:
        number, words, units = self.weight.shape
        shift = torch.arange(number, device=ids.device)[:, None] * words
        rows = functional.embedding(ids.reshape(number, -1) + shift, self.weight.flatten(0, 1))
        return rows.view(*ids.shape, units)


class StackedParser(BiaffineParser):
    def roots(self, sentences: int) -> Tensor:
        return self.root.repeat_interleave(sentences // len(self.root), 0)[:, None]

    def project_dependents(self, dependents: Tensor) -> Tensor:
        rows = dependents.reshape(len(self.root), -1, dependents.shape[-1]) @ self.arc_weight
        return rows.view(*dependents.shape[:-1], -1)

    def project_heads(self, heads: Tensor) -> Tensor:
        apart = heads.view(len(self.root), -1, *heads.shape[1:])
        return torch.einsum("crij,cswj->cswri", self.relation_weight, apart).flatten(0, 1)


STACKED_LAYERS: dict[type[nn.Module], type[nn.Module]] = {
    nn.Linear: StackedLinear,
    nn.LayerNorm: StackedLayerNorm,
    nn.Embedding: StackedEmbedding,
    BiaffineParser: StackedParser,
}


def stackable(networks: Sequence[nn.Module]) -> bool:
    """Whether the networks can be one: of the same shape, all trained, and of parts that can be stacked."""
    first = networks[0]
    config: Any = getattr(first, "config", None)
    return getattr(config, "model_type", None) in STACKABLE_MODEL_TYPES and all(
        type(network) is type(first)
        and _architecture(network) == _architecture(first)
        and _shapes(network) == _shapes(first)
        and all(weight.requires_grad for weight in network.parameters())
        and all(type(part) in STACKED_LAYERS for part in network.modules() if part._parameters)
        for network in networks
    )


def stack_networks(networks: Sequence[nn.Module]) -> nn.Module:
    """One network with the weights of all, which are copied; it reads their batches, one below the other."""
    stack = copy.deepcopy(networks[0])
    for name, part in stack.named_modules():
        if not part._parameters:
            continue
        part.__class__ = STACKED_LAYERS[type(part)]
        for key, weight in part._parameters.items():
            if weight is not None:
                slices = [network.get_submodule(name).get_parameter(key).detach() for network in networks]
                part._parameters[key] = nn.Parameter(torch.stack(slices))
    embeddings: Any = body_of(stack).embeddings
    if isinstance(embeddings, BertEmbeddings):
        embeddings.register_forward_pre_hook(_add_position_ids, with_kwargs=True)
    return stack


@torch.no_grad()
def copy_weights_back(whole: nn.Module, networks: Sequence[nn.Module]) -> None:
    """The networks get the weights that they have in the stack."""
    for number, network in enumerate(networks):
        for weight, stack in zip(network.parameters(), whole.parameters(), strict=True):
            weight.copy_(stack[number])


def _add_position_ids(embeddings: nn.Module, arguments: Any, inputs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The places of the tokens of every row; BERT, left to itself, has one row of them for all."""
    ids = inputs["input_ids"]
    return arguments, {**inputs, "position_ids": torch.arange(ids.shape[1], device=ids.device).expand(ids.shape)}


def _architecture(network: Any) -> dict[str, Any]:
    """All that a configuration says of how a network computes."""
    return {name: value for name, value in network.config.to_dict().items() if name not in IGNORED_CONFIG_KEYS}


def _shapes(network: nn.Module) -> list[torch.Size]:
    return [weight.shape for weight in network.parameters()]
