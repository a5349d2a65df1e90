"""Pooled hidden states of chosen layers from one forward pass.

Every pooling except the maximum is the product of a small matrix (rows: sentences or words, columns: tokens) with the
states. It is computed by hooks during the forward pass, on the device of each block: token states are not stored, sums
are in float32, and the vectors of each layer are copied to the host as soon as they are computed.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from isogloss.core.errors import InputError, UsageError
from isogloss.models.loading.loaded_model import FINAL, Layer, LayerOutput, LoadedModel
from isogloss.models.tokenization.batching import IntArray, pad, token_batches
from isogloss.models.tokenization.encoding import Encoded, padding_id

T = TypeVar("T")
FloatArray = npt.NDArray[np.float32]
Progress = Callable[[int, int], None]  # sentences done, sentences in all
CAST_CHUNK_ELEMENTS = 1 << 22  # elements that are cast from half to single precision at a time


@dataclass(frozen=True)
class Extraction:
    """The inputs of an extraction: texts, a model, its layers and the tokens per batch."""

    model: LoadedModel
    encoded: Sequence[Encoded]
    layers: tuple[Layer, ...]
    budget: int
    progress: Progress | None


def run_batches(
    extraction: Extraction,
    weights: Callable[[IntArray], FloatArray],
    maximum: bool = False,
    chosen: IntArray | None = None,
) -> Iterator[tuple[IntArray, FloatArray]]:
    """`(indices, array[layer, text, row, unit])` for each batch of all or the chosen texts; empty ones are skipped."""
    lengths = np.array([len(text) for text in extraction.encoded], dtype=np.int64)
    nonempty = np.flatnonzero(lengths) if chosen is None else chosen[lengths[chosen] > 0]
    batches = [nonempty[batch] for batch in token_batches(lengths[nonempty], extraction.budget)]

    def start(indices: IntArray) -> tuple[IntArray, Pooled]:
        texts = [extraction.encoded[i] for i in indices]
        return indices, pooled_states(extraction.model, texts, extraction.layers, weights(indices), maximum)

    done = 0
    for indices, pooled in prefetch_one(map(start, batches)):
        states = pooled.fetch()
        check_finite(extraction.model, states, extraction.layers, indices)
        yield indices, states
        done += len(indices)
        if extraction.progress:
            extraction.progress(done, len(nonempty))


def prefetch_one(items: Iterable[T]) -> Iterator[T]:
    """Each item after the next one has been started: a GPU computes that one meanwhile.

    >>> list(prefetch_one("abc"))
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
    """The states of one batch by layer; the copies to the host are complete when the events are."""

    layers: Sequence[Tensor]
    events: Sequence[torch.cuda.Event]

    def fetch(self) -> FloatArray:
        for event in self.events:
            event.synchronize()
        array: FloatArray = torch.stack(list(self.layers)).numpy()
        return array


def pooled_states(
    model: LoadedModel, texts: Sequence[Encoded], layers: Sequence[Layer], weights: FloatArray, maximum: bool = False
) -> Pooled:
    """The states of one batch as `array[layer, text, row, unit]`, for `weights[text, row, token]`.

    A row is the sum of the tokens times their weights; with `maximum`, the maximum over tokens of weight > 0.
    On a GPU this returns before the computation is complete.
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
        return copy_async(pool(states, matrix))

    capture = capture_layers(model, layers, reduce)
    with torch.inference_mode(), evaluation_mode(model.body), capture as pooled:
        model.body(input_ids=ids, attention_mask=mask, **options)
        missing = [layer for layer in layers if layer not in pooled]
        if missing:
            raise UsageError(f"the forward pass of '{model.name}' does not use its layer {missing[0]}")
        return Pooled(
            [pooled[layer] for layer in layers], [record_event(device) for device in devices if device.type == "cuda"]
        )


def copy_async(vectors: Tensor) -> Tensor:
    """The vectors in host memory; from a GPU they are copied asynchronously to pinned memory."""
    if not vectors.is_cuda:
        return vectors.cpu()
    pinned = torch.empty(vectors.shape, dtype=vectors.dtype, pin_memory=True)
    return pinned.copy_(vectors, non_blocking=True)


def record_event(gpu: torch.device) -> torch.cuda.Event:
    """An event that is complete when the GPU has finished all work queued so far."""
    event = torch.cuda.Event()  # type: ignore[no-untyped-call]
    event.record(torch.cuda.current_stream(gpu))
    return event


def check_layers(model: LoadedModel, layers: Sequence[Layer] | None) -> tuple[Layer, ...]:
    """The validated layers, 0 … L by default."""
    if layers is None:
        return tuple(range(model.layers + 1))
    for layer in layers:
        if layer == FINAL and model.final_norm is None:
            raise UsageError(f"'{model.name}' has no final norm: its layer {model.layers} is already normalised")
        if layer not in model.layer_names:
            raise UsageError(f"'{model.name}' has the layers 0 … {model.layers}, not {layer!r}")
    return tuple(layers)


def check_finite(model: LoadedModel, states: FloatArray, layers: Sequence[Layer], indices: IntArray) -> None:
    """Raise an error that names the first layer and sentence with NaN or infinite states."""
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
def capture_layers(
    model: LoadedModel, layers: Sequence[Layer], pool: Callable[[Tensor], Tensor]
) -> Iterator[dict[Layer, Tensor]]:
    """The output of `pool` for the states of each layer, set by forward passes inside the context."""
    pooled: dict[Layer, Tensor] = {}
    blocks, norm = model.blocks, model.final_norm

    def before(_module: nn.Module, args: tuple[Tensor, ...], kwargs: dict[str, Tensor]) -> None:
        pooled[0] = pool(args[0] if args else kwargs["hidden_states"])

    def after(layer: Layer) -> Callable[..., None]:
        def capture(_module: nn.Module, _args: object, output: LayerOutput) -> None:
            pooled[layer] = pool(output[0] if isinstance(output, tuple) else output)

        return capture

    with contextlib.ExitStack() as hooks:
        if 0 in layers:  # the input of the first block: embeddings with positions, norm and projection
            hooks.callback(blocks[0].register_forward_pre_hook(before, with_kwargs=True).remove)
        for number, block in enumerate(blocks, 1):
            if number in layers:
                hooks.callback(block.register_forward_hook(after(number)).remove)
        if norm is not None and FINAL in layers:
            hooks.callback(norm.register_forward_hook(after(FINAL)).remove)
        yield pooled


@contextlib.contextmanager
def evaluation_mode(network: nn.Module) -> Iterator[None]:
    """A context in which the network is in evaluation mode, without dropout."""
    training = network.training
    network.eval()
    try:
        yield
    finally:
        network.train(training)


def _weighted_sum(states: Tensor, weights: Tensor) -> Tensor:
    weights = weights.to(states.device)
    size = len(states) if states.dtype == torch.float32 else max(1, CAST_CHUNK_ELEMENTS // states[0].numel())
    pieces = zip(torch.split(weights, size), torch.split(states, size), strict=True)
    return torch.cat([torch.bmm(row_weights, row_states.float()) for row_weights, row_states in pieces])


def _maximum(states: Tensor, weights: Tensor) -> Tensor:
    included = (weights > 0).transpose(1, 2).to(states.device)
    return states.masked_fill(~included, float("-inf")).amax(1, keepdim=True).float()
