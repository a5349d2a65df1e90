"""Model inputs: examples (windows of token ids with integer arrays of positions and gold labels) and padded batches.

Texts of a batch may be packed: the network reads several in one row (see `models/states/packing.py`), while arrays,
heads and losses see one window per row. A sentence longer than the model becomes several overlapping windows. The
arrays `window` and `position` give, for each word, the window and the token that represent it, so heads and losses see
whole sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from isogloss.models.heads.task_head import rows_at
from isogloss.models.states.packing import NO_TOKEN, Packing, pack_rows, packing_of
from isogloss.models.tokenization.batching import IntArray

IGNORE_INDEX = -100  # padding of all arrays except token ids; ignored by PyTorch losses
Ids = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Example:
    """One corpus item: its windows (at least one), their segment ids if the model uses them, and the task's arrays."""

    windows: tuple[Ids, ...]
    segments: tuple[Ids, ...] = ()
    arrays: Mapping[str, npt.NDArray[np.integer]] = field(default_factory=dict)  # one-dimensional

    @property
    def tokens(self) -> int:
        """Number of tokens in all windows."""
        return sum(map(len, self.windows))


@dataclass(frozen=True)
class Batch:
    """Examples as padded tensors: one row per window, and one row of each array per example."""

    input_ids: Tensor
    attention_mask: Tensor
    token_type_ids: Tensor | None
    first_row: Tensor  # of each example
    arrays: Mapping[str, Tensor]
    packing: Packing | None = None  # how the network reads the rows
    stack_size: int = 1  # number of batches of equal shape concatenated along the first axis

    def __len__(self) -> int:
        return len(self.first_row)

    def map(self, function: Callable[[Tensor], Tensor]) -> Batch:
        """Apply a function to every tensor, always in the same order."""
        return Batch(
            input_ids=function(self.input_ids),
            attention_mask=function(self.attention_mask),
            token_type_ids=None if self.token_type_ids is None else function(self.token_type_ids),
            first_row=function(self.first_row),
            arrays={name: function(value) for name, value in self.arrays.items()},
            packing=self.packing and Packing(function(self.packing.source), function(self.packing.place)),
            stack_size=self.stack_size,
        )

    @property
    def tensors(self) -> list[Tensor]:
        """All tensors, in the order of `map`."""
        tensors: list[Tensor] = []
        self.map(lambda tensor: tensors.append(tensor) or tensor)  # type: ignore[func-returns-value]
        return tensors

    def stack(self, *others: Batch) -> Batch:
        """Concatenate batches of one shape along the first axis, as stacked networks read them."""
        columns = zip(*(batch.tensors for batch in (self, *others)), strict=True)
        joined = self.map(lambda _: torch.cat(next(columns)))
        size, packing = 1 + len(others), joined.packing
        first_row = _shifted(joined.first_row, size, len(self.input_ids))
        if packing and self.packing:
            source = _shifted(packing.source, size, self.packing.place.numel())
            packing = Packing(source, _shifted(packing.place, size, self.packing.source.numel()))
        return replace(joined, first_row=first_row, packing=packing, stack_size=size)

    def to(self, device: torch.device) -> Batch:
        return self.map(lambda tensor: tensor.to(device, non_blocking=True))

    @property
    def inputs(self) -> dict[str, Tensor]:
        """Keyword arguments of a Hugging Face network."""
        inputs = {"input_ids": self.input_ids, "attention_mask": self.attention_mask}
        return inputs if self.token_type_ids is None else {**inputs, "token_type_ids": self.token_type_ids}

    @property
    def has_words(self) -> bool:
        """Whether losses read single words, by `token_index`, and not whole windows."""
        return "position" in self.arrays

    @property
    def word_mask(self) -> Tensor:
        """`[example, word]`: True for words, False for padding."""
        return self.arrays["position"] != IGNORE_INDEX

    @property
    def token_index(self) -> Tensor:
        """`[example, word]`: the index of each word's token among all tokens that the network reads; 0 for padding."""
        row = self.first_row[:, None] + self.arrays["window"]
        index = (row * self.input_ids.shape[1] + self.arrays["position"]).where(self.word_mask, 0)
        return index if self.packing is None else self.packing.place.flatten()[index]

    def words(self, states: Tensor) -> Tensor:
        """Select the rows of `states[window, token, unit]` that represent words: `[example, word, unit]`."""
        return rows_at(states.flatten(0, 1), self.token_index)


@dataclass(frozen=True, order=True)
class Shape:
    """The sizes of a batch's tensors."""

    length: int  # tokens per row
    rows: int
    examples: int
    widths: tuple[int, ...]  # of the arrays, in order
    packed_length: int = 0  # tokens per packed row; 0 if texts are not packed
    packed_rows: int = 0

    def __or__(self, other: Shape) -> Shape:
        """The smallest shape that contains both.

        >>> Shape(8, 2, 2, (3,)) | Shape(4, 3, 2, (5,))
        Shape(length=8, rows=3, examples=2, widths=(5,), packed_length=0, packed_rows=0)
        """
        widths = tuple(map(max, self.widths, other.widths))
        return Shape(
            max(self.length, other.length),
            max(self.rows, other.rows),
            max(self.examples, other.examples),
            widths,
            max(self.packed_length, other.packed_length),
            max(self.packed_rows, other.packed_rows),
        )

    @property
    def grid(self) -> tuple[int, int]:
        """The tokens per row and the rows that the network reads."""
        return (self.packed_length, self.packed_rows) if self.packed_rows else (self.length, self.rows)

    @property
    def tokens(self) -> int:
        """The tokens that the network reads, padding included."""
        length, rows = self.grid
        return length * rows


class ExampleSizes:
    """Sizes of many examples, to compute the shape of any batch of them quickly.

    `packed_row`: texts are packed into rows of this number of tokens, or of their longest; None: they are not packed.
    """

    def __init__(self, examples: Sequence[Example], packed_row: int | None = None):
        self.packed_row = packed_row
        self.window_lengths = [[len(window) for window in example.windows] for example in examples]
        self.longest = np.array([max(map(len, example.windows)) for example in examples])
        self.windows = np.array([len(example.windows) for example in examples])
        self.widths = np.array([[len(array) for array in example.arrays.values()] for example in examples])

    def shape(self, items: IntArray) -> Shape:
        """The smallest shape that contains these examples."""
        widths = tuple(self.widths[items].max(0).tolist())
        longest, rows = int(self.longest[items].max()), int(self.windows[items].sum())
        packed_length = packed_rows = 0
        if self.packed_row:
            lengths = [length for item in items for length in self.window_lengths[item]]
            packed_length = max(longest, self.packed_row)
            packed_rows = len(pack_rows(lengths, packed_length))
        return Shape(longest, rows, len(items), widths, packed_length, packed_rows)


def collate(examples: Sequence[Example], pad_token_id: int, shape: Shape | None = None) -> Batch:
    """Pad examples into a batch.

    A `shape` larger than necessary is filled with rows of one padding token (attention over no tokens is undefined)
    and with examples without words and gold labels, which do not enter the loss.
    """
    shape = shape or ExampleSizes(examples).shape(np.arange(len(examples)))
    windows = [window for example in examples for window in example.windows]
    segments = [segment for example in examples for segment in example.segments]
    first_row = np.zeros(shape.examples, dtype=np.int64)
    first_row[1 : len(examples)] = np.cumsum([len(example.windows) for example in examples])[:-1]
    lengths = np.ones(shape.rows, dtype=np.int64)
    lengths[: len(windows)] = list(map(len, windows))
    mask = (np.arange(shape.length) < lengths[:, None]).astype(np.int64)
    packing = None
    if shape.packed_rows:
        texts = lengths[: len(windows)].tolist()
        row_lengths = range(shape.packed_length, max(texts) - 1, -1)  # longer rows can, in rare cases, need more rows
        candidates = (pack_rows(texts, length) for length in row_lengths)
        rows = next(rows for rows in candidates if len(rows) <= shape.packed_rows)
        packing = packing_of(texts, rows, (shape.rows, shape.length), (shape.packed_rows, shape.packed_length))
    return Batch(
        input_ids=_pad(windows, pad_token_id, shape.rows, shape.length),
        attention_mask=torch.from_numpy(mask),
        token_type_ids=_pad(segments, 0, shape.rows, shape.length) if segments else None,
        first_row=torch.from_numpy(first_row),
        arrays={
            name: _pad([example.arrays[name] for example in examples], IGNORE_INDEX, shape.examples, width)
            for name, width in zip(examples[0].arrays, shape.widths, strict=True)
        },
        packing=packing,
    )


def _shifted(indices: Tensor, size: int, step: int) -> Tensor:
    """Indices of `size` equal parts, those of each part counted from its beginning; `NO_TOKEN` stays."""
    number = torch.arange(size, device=indices.device).repeat_interleave(len(indices) // size)
    shifted = indices + step * number.view(-1, *[1] * (indices.ndim - 1))
    return shifted.where(indices != NO_TOKEN, NO_TOKEN)


def _pad(rows: Sequence[npt.NDArray[np.integer]], value: int, height: int, width: int) -> Tensor:
    padded = np.full((height, width), value, dtype=np.int64)
    for row, values in zip(padded, rows, strict=False):
        row[: len(values)] = values
    return torch.from_numpy(padded)
