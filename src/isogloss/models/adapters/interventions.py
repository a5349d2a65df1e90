"""Adapters as model changes: new ones to be trained while the model stays as it is, and saved ones put to use.

    language_adapter()       a new one, for `adapt(model, text, adapter=…)`
    task_adapter()           a new one, for `transfer(…, before=[…])`
    use_adapter("folder")    one that was trained before; several folders are an ensemble

All freeze the model: what is trained afterwards is the new adapter and, in fine-tuning, the task's head. A language's
adapter is exchanged by using another.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal

import torch

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.core.seeds import derive_seed
from isogloss.models.adapters.files import read_adapter, weights_hash
from isogloss.models.adapters.hooks import LANGUAGE, PLACEMENTS, TASK, Placement
from isogloss.models.adapters.lora import Lora, inject_lora
from isogloss.models.adapters.weights import LORA, Shape, copy_weights, fill, lora_weights, member_weights, train_only
from isogloss.models.loading.loaded_model import LoadedModel

LANGUAGE_REDUCTION, TASK_REDUCTION, COUPLING_REDUCTION = 2, 16, 2  # as in MAD-X
WEIGHTS = ("uniform", "entropy")


@dataclass(frozen=True)
class NewAdapter:
    """What `language_adapter` and `task_adapter` make: called with a model, it changes that model and returns it."""

    role: str
    reduction: int
    placement: Placement
    invertible: bool = False

    def __call__(self, model: LoadedModel, *, seed: int) -> LoadedModel:
        shape = Shape(max(1, model.hidden_size // self.reduction), COUPLING_REDUCTION if self.invertible else None)
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(derive_seed(seed, "adapter", self.role))
            fill(model, self.role, self.placement, [shape])
        return train_only(model, self.role)

    def __repr__(self) -> str:
        invertible = f", invertible={self.invertible}" if self.role == LANGUAGE else ""
        return f"{self.role}_adapter(reduction={self.reduction}, placement={self.placement!r}{invertible})"


def language_adapter(
    reduction: int = LANGUAGE_REDUCTION, *, placement: Placement = "pfeiffer", invertible: bool = True
) -> NewAdapter:
    """A new language adapter, the identity at first; its bottlenecks are `reduction` times narrower than the model.

    `placement`: "pfeiffer" (after each feed-forward, as in MAD-X) or "houlsby" (after attention too). `invertible`:
    with an adapter of the embeddings, undone before the output embeddings.

    >>> language_adapter(4)
    language_adapter(reduction=4, placement='pfeiffer', invertible=True)
    """
    return NewAdapter(LANGUAGE, _reduction(reduction), _placement(placement), invertible)


def task_adapter(reduction: int = TASK_REDUCTION, *, placement: Placement = "pfeiffer") -> NewAdapter:
    """A new task adapter, above the language's where there is one.

    >>> task_adapter()
    task_adapter(reduction=16, placement='pfeiffer')
    """
    return NewAdapter(TASK, _reduction(reduction), _placement(placement))


@dataclass(frozen=True)
class UseAdapter:
    """What `use_adapter` makes: called with a model, it puts the saved adapters in place of those of their role."""

    folders: tuple[str, ...]
    weights: str = "uniform"
    train: bool = False

    def __call__(self, model: LoadedModel, *, seed: int = 0) -> LoadedModel:
        saved = [read_adapter(folder, model) for folder in self.folders]
        role, placement = saved[0].role, saved[0].placement
        for other in saved[1:]:
            if (other.role, other.placement) != (role, placement) or role == LORA:
                raise UsageError(f"{self!r}: an ensemble is of bottleneck adapters of one role and placement")
        if role == LORA:
            inject_lora(model, saved[0].options)
            copy_weights(saved[0].weights, lora_weights(model.body), saved[0].folder)
        else:
            fill(model, role, placement, [Shape(**one.options) for one in saved])
            for number, one in enumerate(saved):
                copy_weights(one.weights, member_weights(model.body, role, number), one.folder)
        return train_only(model, role if self.train else None)

    def digest(self) -> str:
        """A hash of what is in the folders."""
        return " ".join(map(weights_hash, self.folders))

    def __repr__(self) -> str:
        options = ("" if self.weights == "uniform" else f", weights={self.weights!r}") + (
            ", train=True" if self.train else ""
        )
        return f"use_adapter({', '.join(map(repr, self.folders))}{options})"


def use_adapter(
    *folders: str | os.PathLike[str], weights: Literal["uniform", "entropy"] = "uniform", train: bool = False
) -> UseAdapter:
    """Saved adapters as a model change; several of them act as their weighted mean in every layer.

    `weights`: all the same, or, in `transfer(…, swap=…)`, for each batch those with which the task's predictions have
    least entropy (EMEA, Wang et al. 2021). `train`: go on training it; it is frozen otherwise.

    >>> use_adapter("adapters/fr", "adapters/es", weights="entropy")
    use_adapter('adapters/fr', 'adapters/es', weights='entropy')
    """
    check_name(weights, WEIGHTS, "weights")
    if not folders:
        raise UsageError("use_adapter: expected the folder of an adapter, or several")
    if (weights == "entropy" and len(folders) == 1) or (train and len(folders) > 1):
        raise UsageError("use_adapter: weights='entropy' is for several adapters, train=True for one")
    return UseAdapter(tuple(os.fspath(folder) for folder in folders), weights, train)


def _reduction(value: int) -> int:
    if not isinstance(value, int) or value < 1:
        raise UsageError(f"reduction: expected a whole number above 0, got {value!r}")
    return value


def _placement(value: str) -> Placement:
    found: Any = check_name(value, PLACEMENTS, "placement")
    return found  # type: ignore[no-any-return]


Adapter = NewAdapter | UseAdapter | Lora
