"""RANDOM-INIT: chosen layers lose what they learnt, because their weights are drawn anew before fine-tuning.

The experiment of "First Align, then Predict" (Muller et al. 2021): layers whose loss costs accuracy in other
languages, but little in the source's own, are those that align languages.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn

from isogloss.core.errors import UsageError, shown
from isogloss.core.registry import check_name
from isogloss.core.seeds import derive_seed
from isogloss.models.families.family import Family
from isogloss.models.loading.loaded_model import LoadedModel

ALL, EMBEDDINGS = "all", "embeddings"
RANGE = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,4}))?")
PARTS = {"attention": "attention", "feed-forward": "feed_forward"}  # → field of Family
SCHEMES = ("model", "pytorch")


@dataclass(frozen=True, repr=False)
class Reinit:
    """What `reinit` makes: called with a model, it changes the weights of that model in place and returns it."""

    layers: str
    parts: str | None = None
    keep_norms: bool = False
    scheme: str = "model"

    def __call__(self, model: LoadedModel, *, seed: int) -> LoadedModel:
        _redraw(model.body, self.chosen(model), self.scheme, seed)
        return model

    def __repr__(self) -> str:
        options = [(field.name, getattr(self, field.name), field.default) for field in fields(self)[1:]]
        said = [f"{name}={value!r}" for name, value, default in options if value != default]
        return f"reinit({', '.join([repr(self.layers), *said])})"

    def chosen(self, model: LoadedModel) -> list[nn.Parameter]:
        """The parameters that change. A final norm belongs to no layer, and output embeddings only where tied."""
        self._check(model)
        blocks, numbers = model.blocks, {n for item in self.layers.split(",") for n in _numbers(item, model.layers)}
        modules = [blocks[n - 1].get_submodule(name) for n in sorted(numbers) for name in self._within(model.family)]
        found = [weights for module in modules for weights in module.parameters()]
        if EMBEDDINGS in self.layers:
            tables = model.body.get_submodule(model.family.embeddings).parameters()
            # a table has two dimensions; what has one is the norm after them
            found += [weights for weights in tables if weights.ndim > 1 or not self.keep_norms]
        return found

    def _within(self, family: Family) -> tuple[str, ...]:
        """The modules of a block that change."""
        if self.parts:
            names: tuple[str, ...] = getattr(family, PARTS[self.parts])
            return names
        return family.attention + family.feed_forward if self.keep_norms else ("",)  # "" is the block itself

    def _check(self, model: LoadedModel) -> None:
        """An error where the model does not have what is named."""
        name, config = Path(model.name).name, cast(Any, model.body.config)
        if not model.family.blocks:
            raise UsageError(f"{self}: '{name}' has no pretrained layers")
        for item in self.layers.split(","):
            numbers = _numbers(item, model.layers)
            if numbers and (numbers[0] < 1 or numbers[-1] > model.layers):
                advice = f"; its embeddings are called {EMBEDDINGS}" if numbers[0] < 1 else ""
                raise UsageError(f"{self}: the layers of '{name}' are 1-{model.layers}, got {item}{advice}")
        if not model.family.norms and (self.parts or self.keep_norms or EMBEDDINGS in self.layers):
            raise UsageError(f"{self}: the family '{config.model_type}' is not described; only whole layers are known")


def reinit(
    layers: str | int,
    *,
    embeddings: bool = False,
    parts: Literal["attention", "feed-forward"] | None = None,
    keep_norms: bool = False,
    scheme: Literal["model", "pytorch"] = "model",
) -> Reinit:
    """A model change that draws layers anew: blocks counted from 1, as in "1-2" or "1,3,5-8", or "all" of them.

    `embeddings` stay unless asked for, here or as one more layer: "embeddings,1-2". `parts`: only the projections of
    attention or of the feed-forward, without norms. `keep_norms`: all but the norms (and learned scales). `scheme`:
    the model's own initialiser, or PyTorch's default (`reset_parameters`) for every module that has one.

    >>> reinit("1,3,5-8", keep_norms=True)
    reinit('1,3,5-8', keep_norms=True)
    >>> reinit(1, embeddings=True)
    reinit('embeddings,1')
    """
    items = [item.strip() for item in str(layers).split(",")]
    for item in items:
        ends = RANGE.fullmatch(item)
        if item not in (ALL, EMBEDDINGS) and (not ends or int(ends[1]) > int(ends[2] or ends[1])):
            expected = f"layers such as 1-2 or 1,3,5-8, {ALL}, or {EMBEDDINGS}"
            raise UsageError(f"reinit: expected {expected}, got {shown(str(layers))}")
    if parts is not None:
        check_name(parts, PARTS, "part of a layer")
    check_name(scheme, SCHEMES, "scheme")
    first = [EMBEDDINGS] if embeddings and EMBEDDINGS not in items else []
    return Reinit(",".join(first + items), parts, keep_norms, scheme)


def _numbers(item: str, layers: int) -> range:
    """
    >>> list(_numbers("5-7", 12)), list(_numbers("3", 12)), list(_numbers("all", 2)), list(_numbers("embeddings", 2))
    ([5, 6, 7], [3], [1, 2], [])
    """
    if item in (ALL, EMBEDDINGS):
        return range(1, layers + 1 if item == ALL else 1)
    first, _, last = item.partition("-")
    return range(int(first), int(last or first) + 1)


@torch.no_grad()
def _redraw(body: nn.Module, chosen: Sequence[nn.Parameter], scheme: str, seed: int) -> None:
    """New values for the chosen parameters of a text stack.

    They are drawn in a copy of the stack that holds no others: on the CPU in single precision, so that device and
    precision change nothing, and without the mark by which the model library's initialisers pass over loaded weights.
    """
    if any(weights.is_meta for weights in chosen):
        raise UsageError("reinit: these weights are kept outside the devices; load the model without device_map")
    new = {id(weights): _room(weights, "cpu").fill_(math.nan) for weights in chosen}
    kept = {id(weights): _room(weights, "meta") for weights in body.parameters() if id(weights) not in new}
    sketch: Any = copy.deepcopy(body, {**new, **kept})
    with torch.random.fork_rng(devices=[]):
        for initialise in (sketch._init_weights, *([_reset] if scheme == "pytorch" else [])):
            _initialise(sketch, initialise, seed)
    if any(weights.isnan().any() for weights in new.values()):
        raise UsageError(f"reinit: {type(body).__name__} does not say how these weights are initialised")
    for weights in chosen:
        weights.copy_(new[id(weights)])


def _room(weights: Tensor, device: str) -> nn.Parameter:
    return nn.Parameter(torch.empty_like(weights, dtype=torch.float32, device=device), requires_grad=False)


def _initialise(sketch: nn.Module, initialise: Callable[[nn.Module], None], seed: int) -> None:
    """Each module with a seed of its own, so that what is drawn elsewhere does not matter."""
    # outer modules last: some have the final word on the weights within them, as T5's attention
    for name, module in reversed(list(sketch.named_modules())):
        if not all(weights.is_meta for weights in module.parameters()):
            torch.default_generator.manual_seed(
                derive_seed(seed, "reinit", name)
            )  # `torch.manual_seed` is for GPUs too
            initialise(module)


def _reset(module: nn.Module) -> None:
    if callable(reset := getattr(module, "reset_parameters", None)):
        reset()
