"""Interventions that insert adapters: new ones to be trained, and saved ones.

    language_adapter()       a new adapter for `adapt(model, text, adapter=…)`
    task_adapter()           a new adapter for `transfer(…, before=[…])`
    use_adapter("folder")    a saved adapter; several folders are an ensemble

All freeze the model: afterwards the new adapter and, in fine-tuning, the head of the task are trained. Using another
language adapter replaces the current one.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

import torch

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.core.seeds import derive_seed
from isogloss.models.adapters.files import read_adapter, weights_hash
from isogloss.models.adapters.hooks import LANGUAGE, PLACEMENTS, TASK, Placement
from isogloss.models.adapters.lora import Lora, inject_lora
from isogloss.models.adapters.weights import (
    LORA,
    AdapterShape,
    copy_weights,
    insert_adapters,
    lora_weights,
    member_weights,
    train_only,
)
from isogloss.models.loading.loaded_model import LoadedModel

LANGUAGE_REDUCTION, TASK_REDUCTION, COUPLING_REDUCTION = 2, 16, 2  # as in MAD-X
ENSEMBLE_WEIGHTS = ("uniform", "entropy")


@dataclass(frozen=True)
class NewAdapter:
    """The intervention of `language_adapter` and `task_adapter`: changes the model in place and returns it."""

    role: str
    reduction: int
    placement: Placement
    invertible: bool = False

    def __post_init__(self) -> None:
        check_name(self.placement, PLACEMENTS, "placement")
        if not isinstance(self.reduction, int) or self.reduction < 1:
            raise UsageError(f"reduction: expected a whole number above 0, got {self.reduction!r}")

    def __call__(self, model: LoadedModel, *, seed: int) -> LoadedModel:
        shape = AdapterShape(
            max(1, model.hidden_size // self.reduction), COUPLING_REDUCTION if self.invertible else None
        )
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(derive_seed(seed, "adapter", self.role))
            insert_adapters(model, self.role, self.placement, [shape])
        return train_only(model, self.role)

    def __repr__(self) -> str:
        invertible = f", invertible={self.invertible}" if self.role == LANGUAGE else ""
        return f"{self.role}_adapter(reduction={self.reduction}, placement={self.placement!r}{invertible})"


def language_adapter(
    reduction: int = LANGUAGE_REDUCTION, *, placement: Placement = "pfeiffer", invertible: bool = True
) -> NewAdapter:
    """An intervention that adds a language adapter, initialised as the identity.

    Args:
        reduction: Hidden size divided by the size of the bottlenecks.
        placement: "pfeiffer" (after each feed-forward, as in MAD-X) or "houlsby" (after attention, too).
        invertible: Add an invertible adapter after the embeddings, inverted before the output embeddings.

    >>> language_adapter(4)
    language_adapter(reduction=4, placement='pfeiffer', invertible=True)
    """
    return NewAdapter(LANGUAGE, reduction, placement, invertible)


def task_adapter(reduction: int = TASK_REDUCTION, *, placement: Placement = "pfeiffer") -> NewAdapter:
    """An intervention that adds a task adapter after the language adapter, if there is one.

    Args:
        reduction: Hidden size divided by the size of the bottlenecks.
        placement: "pfeiffer" (after each feed-forward) or "houlsby" (after attention, too).

    >>> task_adapter()
    task_adapter(reduction=16, placement='pfeiffer')
    """
    return NewAdapter(TASK, reduction, placement)


@dataclass(frozen=True)
class UseAdapter:
    """The intervention of `use_adapter`: replaces the adapters of a role by saved ones."""

    folders: tuple[str, ...]
    weights: str = "uniform"
    train: bool = False

    def __call__(self, model: LoadedModel, *, seed: int = 0) -> LoadedModel:
        saved = [read_adapter(folder, model) for folder in self.folders]
        role, placement = saved[0].role, saved[0].placement
        for other in saved[1:]:
            if (other.role, other.placement) != (role, placement) or role == LORA:
                raise UsageError(f"{self!r}: expected an ensemble of bottleneck adapters of one role and placement")
        if role == LORA:
            inject_lora(model, Lora(**saved[0].options))
            copy_weights(saved[0].weights, lora_weights(model.body), saved[0].folder)
        else:
            insert_adapters(model, role, placement, [AdapterShape(**adapter.options) for adapter in saved])
            for number, adapter in enumerate(saved):
                copy_weights(adapter.weights, member_weights(model.body, role, number), adapter.folder)
        return train_only(model, role if self.train else None)

    def digest(self) -> str:
        """A hash of the weights in the folders."""
        return " ".join(map(weights_hash, self.folders))

    def __repr__(self) -> str:
        weights = "" if self.weights == "uniform" else f", weights={self.weights!r}"
        return f"use_adapter({', '.join(map(repr, self.folders))}{weights}{', train=True' if self.train else ''})"


def use_adapter(
    *folders: str | os.PathLike[str], weights: Literal["uniform", "entropy"] = "uniform", train: bool = False
) -> UseAdapter:
    """An intervention that inserts saved adapters; several act as their weighted mean in every layer.

    Args:
        folders: Folders of saved adapters.
        weights: "uniform", or "entropy" to minimise the entropy of the predictions for each batch in
            `transfer(…, swap=…)` (EMEA, Wang et al. 2021).
        train: Continue training the adapter instead of freezing it.

    >>> use_adapter("adapters/fr", "adapters/es", weights="entropy")
    use_adapter('adapters/fr', 'adapters/es', weights='entropy')
    """
    check_name(weights, ENSEMBLE_WEIGHTS, "weights")
    if not folders:
        raise UsageError("use_adapter: expected at least one folder of an adapter")
    if (weights == "entropy" and len(folders) == 1) or (train and len(folders) > 1):
        raise UsageError("use_adapter: weights='entropy' is for several adapters, train=True for one")
    return UseAdapter(tuple(os.fspath(folder) for folder in folders), weights, train)


Adapter = NewAdapter | UseAdapter | Lora
