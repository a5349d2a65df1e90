"""RANDOM-INIT: the weights of chosen layers are re-initialised before fine-tuning.

The experiment of Muller et al. (2021), "First Align, then Predict": layers whose re-initialisation costs accuracy in
other languages, but little in the source language, are the layers that align languages.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from isogloss.core.errors import UsageError, shown
from isogloss.core.registry import check_name
from isogloss.core.seeds import derive_seed
from isogloss.models.families.family import Family
from isogloss.models.loading.loaded_model import LoadedModel

ALL_LAYERS, EMBEDDINGS = "all", "embeddings"
RANGE = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,4}))?")
PARTS = {"attention": "attention", "feed-forward": "feed_forward"}  # → field of Family
SCHEMES = ("model", "pytorch")


@dataclass(frozen=True, repr=False)
class Reinit:
    """The intervention of `reinit`: re-initialises weights of the model in place and returns it."""

    layers: str
    parts: str | None = None
    keep_norms: bool = False
    scheme: str = "model"

    def __call__(self, model: LoadedModel, *, seed: int) -> LoadedModel:
        _reinitialise(model.body, self.parameters_of(model), self.scheme, seed)
        return model

    def __repr__(self) -> str:
        options = [(field.name, getattr(self, field.name), field.default) for field in fields(self)[1:]]
        arguments = [f"{name}={value!r}" for name, value, default in options if value != default]
        return f"reinit({', '.join([repr(self.layers), *arguments])})"

    def parameters_of(self, model: LoadedModel) -> list[nn.Parameter]:
        """The parameters that change: no final norm, and output embeddings only if they are tied."""
        self.check(model)
        blocks, numbers = model.blocks, {n for item in self.layers.split(",") for n in _numbers(item, model.layers)}
        modules = [blocks[n - 1].get_submodule(name) for n in sorted(numbers) for name in self._within(model.family)]
        parameters = [weights for module in modules for weights in module.parameters()]
        if EMBEDDINGS in self.layers:
            tables = model.body.get_submodule(model.family.embeddings).parameters()
            # tables have two dimensions, norms one
            parameters += [weights for weights in tables if weights.ndim > 1 or not self.keep_norms]
        return parameters

    def _within(self, family: Family) -> tuple[str, ...]:
        """The modules of a block that are re-initialised."""
        if self.parts:
            names: tuple[str, ...] = getattr(family, PARTS[self.parts])
            return names
        return family.attention + family.feed_forward if self.keep_norms else ("",)  # "" is the whole block

    def check(self, model: LoadedModel) -> None:
        """Raise an error if the model does not have the named layers or parts; weights are not read."""
        name, model_type = Path(model.name).name, model.body.config.model_type
        if not model.family.blocks:
            raise UsageError(f"{self}: '{name}' has no pretrained layers")
        for item in self.layers.split(","):
            numbers = _numbers(item, model.layers)
            if numbers and (numbers[0] < 1 or numbers[-1] > model.layers):
                advice = f"; its embeddings are called {EMBEDDINGS}" if numbers[0] < 1 else ""
                raise UsageError(f"{self}: the layers of '{name}' are 1-{model.layers}, got {item}{advice}")
        if not model.family.norms and (self.parts or self.keep_norms or EMBEDDINGS in self.layers):
            raise UsageError(
                f"{self}: the family '{model_type}' is not listed; only whole layers can be re-initialised"
            )


def reinit(
    layers: str | int,
    *,
    embeddings: bool = False,
    parts: Literal["attention", "feed-forward"] | None = None,
    keep_norms: bool = False,
    scheme: Literal["model", "pytorch"] = "model",
) -> Reinit:
    """An intervention that re-initialises layers.

    Args:
        layers: Blocks counted from 1, such as "1-2" or "1,3,5-8", or "all"; "embeddings" may be one of them.
        embeddings: Re-initialise the embeddings, too.
        parts: Only the projections of "attention" or of the "feed-forward", without norms.
        keep_norms: Keep the norms and learned scales.
        scheme: "model" for the model's initialiser, "pytorch" for PyTorch's default (`reset_parameters`).

    >>> reinit("1,3,5-8", keep_norms=True)
    reinit('1,3,5-8', keep_norms=True)
    >>> reinit(1, embeddings=True)
    reinit('embeddings,1')
    """
    items = [item.strip() for item in str(layers).split(",")]
    for item in items:
        ends = RANGE.fullmatch(item)
        if item not in (ALL_LAYERS, EMBEDDINGS) and (not ends or int(ends[1]) > int(ends[2] or ends[1])):
            expected = f"layers such as 1-2 or 1,3,5-8, {ALL_LAYERS}, or {EMBEDDINGS}"
            raise UsageError(f"reinit: expected {expected}, got {shown(str(layers))}")
    if parts is not None:
        check_name(parts, PARTS, "part of a layer")
    check_name(scheme, SCHEMES, "scheme")
    first = [EMBEDDINGS] if embeddings and EMBEDDINGS not in items else []
    return Reinit(",".join(first + items), parts, keep_norms, scheme)


def reinitialise_all(model: LoadedModel, *, seed: int) -> LoadedModel:
    """Re-initialise every weight of a model's text stack in place: an untrained network of the same architecture."""
    _reinitialise(model.body, list(model.body.parameters()), "model", seed)
    return model


def _numbers(item: str, layers: int) -> range:
    """
    >>> list(_numbers("5-7", 12)), list(_numbers("3", 12)), list(_numbers("all", 2)), list(_numbers("embeddings", 2))
    ([5, 6, 7], [3], [1, 2], [])
    """
    if item in (ALL_LAYERS, EMBEDDINGS):
        return range(1, layers + 1 if item == ALL_LAYERS else 1)
    first, _, last = item.partition("-")
    return range(int(first), int(last or first) + 1)


@torch.no_grad()
def _reinitialise(body: PreTrainedModel, chosen: Sequence[nn.Parameter], scheme: str, seed: int) -> None:
    """Re-initialise the chosen parameters of a text stack.

    The new values are computed in a copy of the stack without other weights: on the CPU in single precision, so that
    they do not depend on device and precision, and without the flag by which transformers skips loaded weights.
    """
    if any(weights.is_meta for weights in chosen):
        raise UsageError("reinit: these weights are offloaded; load the model without device_map")
    fresh = {id(weights): _empty_like(weights, "cpu").fill_(math.nan) for weights in chosen}
    placeholders = {
        id(weights): _empty_like(weights, "meta") for weights in body.parameters() if id(weights) not in fresh
    }
    copied = copy.deepcopy(body, {**fresh, **placeholders})
    with torch.random.fork_rng(devices=[]):
        for initialise in (copied._init_weights, *([_reset] if scheme == "pytorch" else [])):
            _initialise(copied, initialise, seed)
    if any(weights.isnan().any() for weights in fresh.values()):
        raise UsageError(f"reinit: {type(body).__name__} does not initialise these weights")
    for weights in chosen:
        weights.copy_(fresh[id(weights)])


def _empty_like(weights: Tensor, device: str) -> nn.Parameter:
    return nn.Parameter(torch.empty_like(weights, dtype=torch.float32, device=device), requires_grad=False)


def _initialise(body: nn.Module, initialise: Callable[[nn.Module], None], seed: int) -> None:
    """Initialise each module with a seed derived from its name, independent of other modules."""
    # outer modules last: some initialise the weights inside them, such as the attention of T5
    for name, module in reversed(list(body.named_modules())):
        if not all(weights.is_meta for weights in module.parameters()):
            # `torch.manual_seed` would seed GPUs, too
            torch.default_generator.manual_seed(derive_seed(seed, "reinit", name))
            initialise(module)


def _reset(module: nn.Module) -> None:
    """PyTorch's default for the weights of one module.

    Norms and scales of model libraries without such a default keep the model's (1 and 0), which is PyTorch's, too.
    """
    if callable(reset := getattr(module, "reset_parameters", None)):
        reset()
    elif isinstance(module, Conv1D):  # the projections of GPT-2: a linear layer with transposed weights
        bound = module.weight.shape[0] ** -0.5
        for weights in (module.weight, module.bias):
            nn.init.uniform_(weights, -bound, bound)
    elif any(weights.ndim > 1 for weights in module.parameters(recurse=False)):
        raise UsageError(
            f"reinit: PyTorch has no default for the weights of {type(module).__name__}; use scheme='model'"
        )
