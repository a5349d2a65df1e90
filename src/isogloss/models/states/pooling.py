"""Pooled hidden states of chosen layers from one forward pass.

Every pooling but the maximum is the product of a small matrix (rows: sentences or words, columns: tokens)
with the states, taken inside the model's own forward pass, on whichever device a block is: no layer's token states
are kept, sums are in float32, and each layer's vectors leave the device as soon as they are there.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from isogloss.core.errors import InputError, UsageError
from isogloss.models.loading.loaded_model import FINAL, Layer, LoadedModel
from isogloss.models.tokenization.batching import IntArray, pad, token_batches
from isogloss.models.tokenization.encoding import Encoded, padding_id

T = TypeVar("T")
FloatArray = npt.NDArray[np.float32]
Progress = Callable[[int, int], None]  # sentences done, sentences in all
PIECE = 1 << 22  # states that are turned from half into single precision at a time


class Extraction(Protocol):
    """What to run: texts through a model, up to `budget` tokens at a time, for the states of `layers`."""

    @property
    def model(self) -> LoadedModel: ...
    @property
    def encoded(self) -> Sequence[Encoded]: ...
    @property
    def layers(self) -> tuple[Layer, ...]: ...
    @property
    def budget(self) -> int: ...
    @property
    def progress(self) -> Progress | None: ...


def run_batches(
    work: Extraction, weights: Callable[[IntArray], FloatArray], maximum: bool = False
) -> Iterator[tuple[IntArray, FloatArray]]:
    """`(indices, array[layer, text, row, unit])` for each batch; texts without tokens are in none."""
    lengths = np.array([len(text) for text in work.encoded], dtype=np.int64)
    filled = np.flatnonzero(lengths)
    batches = [filled[batch] for batch in token_batches(lengths[filled], work.budget)]

    def start(indices: IntArray) -> tuple[IntArray, Pooled]:
        texts = [work.encoded[i] for i in indices]
        return indices, pooled_states(work.model, texts, work.layers, weights(indices), maximum)

    done = 0
    for indices, pooled in _one_ahead(map(start, batches)):
        states = pooled.fetch()
        check_finite(work.model, states, work.layers, indices)
        yield indices, states
        done += len(indices)
        if work.progress:
            work.progress(done, len(filled))


def _one_ahead(items: Iterable[T]) -> Iterator[T]:
    """Each item once the next has been asked for: a GPU works on that while this one is used.

    >>> list(_one_ahead("abc"))
    ['a', 'b', 'c']
    """
    waiting: deque[T] = deque()
    for item in items:
        waiting.append(item)
        if len(waiting) > 1:
            yield waiting.popleft()
    yield from waiting


@dataclass(frozen=True)
class Pooled:
    """The states of one batch, layer by layer, perhaps still on their way from the devices."""

    layers: Sequence[Tensor]
    arrived: Sequence[torch.cuda.Event]

    def fetch(self) -> FloatArray:
        for event in self.arrived:
            event.synchronize()
        array: FloatArray = torch.stack(list(self.layers)).numpy()
        return array


def pooled_states(
    model: LoadedModel, texts: Sequence[Encoded], layers: Sequence[Layer], weights: FloatArray, maximum: bool = False
) -> Pooled:
    """The states of one batch as `array[layer, text, row, unit]`, for `weights[text, row, token]`.

    A row is the sum of the tokens times their weights; with `maximum`, the maximum over tokens of weight > 0.
    On a GPU this returns before the work is done.
    """
    ids = torch.from_numpy(pad([text.ids for text in texts], padding_id(model))).to(model.device)
    lengths = np.array([len(text) for text in texts])
    mask = torch.from_numpy((np.arange(ids.shape[1]) < lengths[:, None]).astype(np.int64)).to(model.device)
    matrix = torch.from_numpy(weights).to(model.device)
    pool = _maximum if maximum else _weighted_sum
    options = {"use_cache": False} if model.family.causal else {}
    devices: set[torch.device] = set()

    def reduce(states: Tensor) -> Tensor:
        devices.add(states.device)
        return _on_its_way(pool(states, matrix))

    at_work = at_layers(model, layers, reduce)
    with torch.inference_mode(), evaluating(model.body), at_work as pooled:
        model.body(input_ids=ids, attention_mask=mask, **options)
        missing = [layer for layer in layers if layer not in pooled]
        if missing:
            raise UsageError(f"the forward pass of '{model.name}' does not go through its layer {missing[0]}")
        return Pooled(
            [pooled[layer] for layer in layers], [_now(device) for device in devices if device.type == "cuda"]
        )


def _on_its_way(vectors: Tensor) -> Tensor:
    """Vectors in the host's memory, or soon: into pages that are pinned a GPU copies while the host goes on."""
    if not vectors.is_cuda:
        return vectors.cpu()
    there = torch.empty(vectors.shape, dtype=vectors.dtype, pin_memory=True)
    return there.copy_(vectors, non_blocking=True)


def _now(gpu: torch.device) -> torch.cuda.Event:
    """The moment at which a GPU has done what was asked of it so far."""
    event = torch.cuda.Event()  # type: ignore[no-untyped-call]
    event.record(torch.cuda.current_stream(gpu))
    return event


def check_layers(model: LoadedModel, layers: Sequence[Layer] | None) -> tuple[Layer, ...]:
    """The layers asked for, 0 … L by default."""
    if layers is None:
        return tuple(range(model.layers + 1))
    for layer in layers:
        if layer == FINAL and model.final_norm is None:
            raise UsageError(f"'{model.name}' has no final norm: its layer {model.layers} is already normalised")
        if layer not in model.layer_names:
            raise UsageError(f"'{model.name}' has the layers 0 … {model.layers}, not {layer!r}")
    return tuple(layers)


def check_finite(model: LoadedModel, states: FloatArray, layers: Sequence[Layer], indices: IntArray) -> None:
    """Raises an error that names the first layer and sentence whose states are NaN or infinite."""
    if np.isfinite(states).all():
        return
    layer, text = np.argwhere(~np.isfinite(states))[0][:2]
    raise InputError(
        model.name,
        "finite states",
        f"NaN or infinity in layer {layers[layer]} of sentence {indices[text]}",
        advice='the weights are damaged, or dtype="float32" is needed',
    )


@contextlib.contextmanager
def at_layers(
    model: LoadedModel, layers: Sequence[Layer], pool: Callable[[Tensor], Tensor]
) -> Iterator[dict[Layer, Tensor]]:
    """What `pool` makes of the states of each layer, filled in by the forward passes inside the context."""
    pooled: dict[Layer, Tensor] = {}
    blocks, norm = model.blocks, model.final_norm

    def before(_module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        pooled[0] = pool(args[0] if args else kwargs["hidden_states"])

    def after(layer: Layer) -> Callable[..., None]:
        def keep(_module: nn.Module, _args: Any, output: Any) -> None:
            pooled[layer] = pool(output[0] if isinstance(output, tuple) else output)

        return keep

    with contextlib.ExitStack() as hooks:
        if 0 in layers:  # what enters the first block: embeddings with positions, norm and projection
            hooks.callback(blocks[0].register_forward_pre_hook(before, with_kwargs=True).remove)
        for number, block in enumerate(blocks, 1):
            if number in layers:
                hooks.callback(block.register_forward_hook(after(number)).remove)
        if norm is not None and FINAL in layers:
            hooks.callback(norm.register_forward_hook(after(FINAL)).remove)
        yield pooled


@contextlib.contextmanager
def evaluating(network: nn.Module) -> Iterator[None]:
    """Within, the network is in evaluation mode: no dropout."""
    training = network.training
    network.eval()
    try:
        yield
    finally:
        network.train(training)


def _weighted_sum(states: Tensor, weights: Tensor) -> Tensor:
    weights = weights.to(states.device)
    size = len(states) if states.dtype == torch.float32 else max(1, PIECE // states[0].numel())
    pieces = zip(torch.split(weights, size), torch.split(states, size), strict=True)
    return torch.cat([torch.bmm(some, part.float()) for some, part in pieces])


def _maximum(states: Tensor, weights: Tensor) -> Tensor:
    kept = (weights > 0).transpose(1, 2).to(states.device)
    return states.masked_fill(~kept, float("-inf")).amax(1, keepdim=True).float()
