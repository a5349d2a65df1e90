"""Packed rows: a body reads several texts in one row, without padding, while its caller sees one text per row.

Texts of random lengths waste most of a padded batch (EWT, 32 sentences: 67 %). Inside `packed_body` the body's inputs
are rearranged into a few full rows, attention is limited to tokens of the same text, and positions start at 0 in each
text. The states are put back into one row per text, unless the caller finds its tokens in the packed rows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import ModelOutput

from isogloss.models.families.family import Family

NO_TOKEN = -1  # in place of an index
MASKED_ATTENTION = ("sdpa", "eager")  # implementations that take a mask per pair of tokens
# Short rows leave more space unused and need more shapes on a GPU; long rows compute attention that is masked.
MIN_ROW_TOKENS, MIN_ROW_TOKENS_GPU = 64, 128
IndexArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Packing:
    """Where each token of a padded batch is among the packed rows, and back; `NO_TOKEN` for padding.

    Both are indices into the flattened tokens of the other layout.
    """

    source: Tensor  # [packed row, token]: the token of the padded batch
    place: Tensor  # [row, token]: the token of the packed rows


def can_pack(body: nn.Module, family: Family) -> bool:
    """Whether texts can be packed: the family and its attention support it, and layers attend to the whole text."""
    config = getattr(body, "config", None)
    masked = getattr(config, "_attn_implementation", None) in MASKED_ATTENTION
    local = getattr(config, "sliding_window", None) and getattr(config, "use_sliding_window", True)
    return family.packs_texts and masked and not local


def min_row_tokens(device: torch.device, max_length: int) -> int:
    """The length of packed rows, unless a text is longer; at most the longest input of the model."""
    return min(MIN_ROW_TOKENS if device.type == "cpu" else MIN_ROW_TOKENS_GPU, max_length)


def pack_rows(lengths: Sequence[int], row_tokens: int) -> list[list[int]]:
    """The texts of each packed row: first-fit decreasing, at most `row_tokens` tokens in a row.

    >>> pack_rows([5, 9, 3, 2], 10)
    [[1], [0, 2, 3]]
    """
    rows: list[list[int]] = []
    free: list[int] = []
    for text in sorted(range(len(lengths)), key=lambda text: -lengths[text]):
        row = next((row for row, tokens in enumerate(free) if lengths[text] <= tokens), len(rows))
        if row == len(rows):
            rows.append([])
            free.append(row_tokens)
        rows[row].append(text)
        free[row] -= lengths[text]
    return rows


def packing_of(
    lengths: Sequence[int], rows: Sequence[Sequence[int]], shape: tuple[int, int], packed_shape: tuple[int, int]
) -> Packing:
    """The packing of texts into rows; `shape` and `packed_shape` are the rows and tokens of the two layouts."""
    source: IndexArray = np.full(packed_shape, NO_TOKEN, dtype=np.int64)
    place: IndexArray = np.full(shape, NO_TOKEN, dtype=np.int64)
    for row, texts in enumerate(rows):
        start = 0
        for text in texts:
            tokens = np.arange(lengths[text])
            source[row, start + tokens] = text * shape[1] + tokens
            place[text, tokens] = row * packed_shape[1] + start + tokens
            start += lengths[text]
    return Packing(torch.from_numpy(source), torch.from_numpy(place))


@contextlib.contextmanager
def packed_body(
    body: PreTrainedModel, packing: Packing, family: Family, *, unpack_states: bool = True
) -> Iterator[None]:
    """A context in which calls of the body read packed rows; its states stay packed without `unpack_states`."""

    def pack_inputs(
        module: nn.Module, arguments: tuple[Tensor, ...], inputs: dict[str, Any]
    ) -> tuple[tuple[()], dict[str, Any]]:
        inputs = {**inputs, **dict(zip(("input_ids",), arguments, strict=False))}
        dtype = next(module.parameters()).dtype
        return (), {**inputs, **packed_inputs(inputs, packing, family, _position_offset(body, family), dtype)}

    def unpack_output(module: nn.Module, arguments: object, output: ModelOutput) -> ModelOutput:
        output["last_hidden_state"] = unpack(output["last_hidden_state"], packing)
        return output

    def unpack_argument(module: nn.Module, arguments: tuple[Tensor, ...]) -> tuple[Tensor]:
        return (unpack(arguments[0], packing),)

    handles = [body.register_forward_pre_hook(pack_inputs, with_kwargs=True)]  # type: ignore[arg-type]
    if unpack_states:
        handles.append(body.register_forward_hook(unpack_output))
    if unpack_states and isinstance(pooler := getattr(body, "pooler", None), nn.Module):
        handles.append(pooler.register_forward_pre_hook(unpack_argument))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def packed_inputs(
    inputs: dict[str, Tensor], packing: Packing, family: Family, position_offset: int, dtype: torch.dtype
) -> dict[str, Tensor]:
    """Token ids, token types, positions and attention mask of the packed rows."""
    tokens_per_row = packing.place.shape[1]
    source = packing.source.clamp(min=0)
    text = (source // tokens_per_row).where(packing.source >= 0, NO_TOKEN)
    visible = text[:, None, :, None] == text[:, None, None, :]
    if family.causal:
        visible = visible & torch.ones(2 * (text.shape[1],), dtype=torch.bool, device=text.device).tril()
    mask = torch.zeros(visible.shape, dtype=dtype, device=text.device)
    packed = {
        "attention_mask": mask.masked_fill_(~visible, torch.finfo(dtype).min),
        "position_ids": source % tokens_per_row + position_offset,
    }
    for name in ("input_ids", "token_type_ids"):
        if inputs.get(name) is not None:
            packed[name] = inputs[name].flatten()[source]
    return packed


def unpack(states: Tensor, packing: Packing) -> Tensor:
    """States of packed rows as one row per text; the states of padding are arbitrary and have no gradient."""
    return cast(Tensor, _Unpack.apply(states, packing.source, packing.place))  # type: ignore[no-untyped-call]


class _Unpack(torch.autograd.Function):
    """A gather whose gradient is the opposite gather; PyTorch would add up gradients of indices one by one."""

    @staticmethod
    def forward(context: Any, states: Tensor, source: Tensor, place: Tensor) -> Tensor:
        context.save_for_backward(source)
        return states.flatten(0, 1)[place.clamp(min=0)]

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[override]
        (source,) = context.saved_tensors
        packed = gradient.flatten(0, 1)[source.clamp(min=0)]
        return packed.masked_fill((source < 0)[..., None], 0), None, None


def _position_offset(body: PreTrainedModel, family: Family) -> int:
    """The number of the first position: RoBERTa counts from the padding id + 1."""
    return int(body.config.pad_token_id or 0) + 1 if family.positions_after_padding else 0
