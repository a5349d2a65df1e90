"""The adapters of a model: insertion, weights by name, and which of them are trained.

The configuration of the body describes them, so that a model saved with adapters can be loaded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from isogloss.core.errors import InputError, UsageError
from isogloss.models.adapters.hooks import LANGUAGE, Placement, get_or_add_stack, stack_of
from isogloss.models.adapters.modules import Bottleneck, Coupling, Mixture
from isogloss.models.loading.loaded_model import LoadedModel

Description = dict[str, Any]  # JSON
CONFIG_KEY = "isogloss_adapters"  # in the configuration of the body
LORA = "lora"  # a role in addition to those of bottleneck adapters


@dataclass(frozen=True)
class AdapterShape:
    """Sizes of an adapter: units of its bottlenecks, and the reduction of its invertible part, if any."""

    inner: int
    invertible: int | None = None


def insert_adapters(model: LoadedModel, role: str, placement: Placement, shapes: Sequence[AdapterShape]) -> None:
    """Replace the adapters of a role by new ones of these shapes, initialised as the identity."""
    invertible = [shape.invertible for shape in shapes if shape.invertible]
    if invertible and len(shapes) > 1 and model.network is not model.body:
        raise UsageError("an ensemble of invertible adapters has no inverse: load the model without its head")
    if invertible and len(invertible) < len(shapes):
        raise UsageError("expected an ensemble in which all adapters or none have an invertible part")
    stack = get_or_add_stack(model, placement)
    units, weight = model.hidden_size, next(model.body.parameters())
    with torch.random.fork_rng(devices=[]):
        sites = [Mixture([Bottleneck(units, shape.inner) for shape in shapes]) for _ in stack.sites]
        gate = Mixture([Coupling(units, reduction) for reduction in invertible]) if invertible else None
    stack.set_role(role, sites, gate)
    stack.to(device=weight.device, dtype=weight.dtype)
    stack.train(model.network.training)
    describe_adapters(model, {role: [asdict(shape) for shape in shapes], "placement": placement})


def member_weights(body: nn.Module, role: str, number: int = 0) -> dict[str, Tensor]:
    """The weights of one adapter of a role, by names that do not depend on other adapters."""
    stack = stack_of(body)
    if stack is None or not stack.parts(role):
        raise UsageError(f"the model has no {role} adapter")
    has_gate = role == LANGUAGE and stack.gate.language is not None
    names = [*(["gate"] if has_gate else []), *(f"sites.{i}" for i in range(len(stack.sites)))]
    return {
        f"{name}.{inner}": weight
        for name, part in zip(names, stack.parts(role), strict=True)
        for inner, weight in part.members[number].state_dict().items()
    }


def train_only(model: LoadedModel, role: str | None) -> LoadedModel:
    """Freeze the network except the adapters of a role."""
    model.network.requires_grad_(False)
    trained: list[Tensor] = []
    stack = stack_of(model.body)
    if role == LORA:
        trained = list(lora_weights(model.body).values())
    elif role and stack:
        trained = [weight for part in stack.parts(role) for weight in part.members.parameters()]
    for weight in trained:
        weight.requires_grad_(True)
    describe_adapters(model, {"trained": role})
    return model


def adapter_description(body: nn.Module) -> Description:
    """The description of the adapters in the configuration of a text stack; empty if there are none."""
    return dict(getattr(body.config, CONFIG_KEY, None) or {})


def describe_adapters(model: LoadedModel, entries: Mapping[str, object]) -> None:
    setattr(model.body.config, CONFIG_KEY, {**adapter_description(model.body), **entries})


def lora_weights(body: nn.Module) -> dict[str, Tensor]:
    return {name: weight for name, weight in body.named_parameters() if ".lora_" in name}


@torch.no_grad()
def copy_weights(source: Mapping[str, Tensor], target: Mapping[str, Tensor], where: str | os.PathLike[str]) -> None:
    """Copy tensors by name; all must exist in the same shapes."""
    for name, tensor in target.items():
        got = tuple(source[name].shape) if name in source else "none"
        if got != tuple(tensor.shape):
            raise InputError(where, f"the weights {name} of shape {tuple(tensor.shape)}", str(got))
        tensor.copy_(source[name])
