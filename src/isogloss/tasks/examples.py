"""Corpus items as a network takes them: windows of token ids, and integer arrays of places and gold labels.

A sentence longer than the model becomes several overlapping windows; `window` and `position` say, for each of
its words, which window and which token there stand for it, so that what follows sees whole sentences again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from isogloss.models.heads.task_head import rows_at
from isogloss.models.tokenization.batching import IntArray

IGNORE = -100  # padding of every array that is not token ids: what PyTorch's losses leave out
Ids = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Example:
    """One corpus item: at least one window, its segments where the family has them, and the task's arrays."""

    windows: tuple[Ids, ...]
    segments: tuple[Ids, ...] = ()
    arrays: Mapping[str, npt.NDArray[np.integer]] = field(default_factory=dict)  # one-dimensional

    @property
    def tokens(self) -> int:
        """Tokens that the network reads for it."""
        return sum(map(len, self.windows))


@dataclass(frozen=True)
class Batch:
    """Several examples as padded tensors: one row per window, one line of each array per example."""

    ids: Tensor
    mask: Tensor
    segments: Tensor | None
    first_row: Tensor  # of each example
    arrays: Mapping[str, Tensor]
    parts: int = 1  # batches of one shape that are one below the other here

    def __len__(self) -> int:
        return len(self.first_row)

    def map(self, change: Callable[[Tensor], Tensor]) -> Batch:
        """The batch with every tensor changed, always in the same order."""
        segments = None if self.segments is None else change(self.segments)
        arrays = {name: change(value) for name, value in self.arrays.items()}
        return Batch(change(self.ids), change(self.mask), segments, change(self.first_row), arrays, self.parts)

    @property
    def tensors(self) -> list[Tensor]:
        """All of them, in the order of `map`."""
        found: list[Tensor] = []
        self.map(lambda tensor: found.append(tensor) or tensor)  # type: ignore[func-returns-value]
        return found

    def below(self, *others: Batch) -> Batch:
        """This batch and others of its shape, one below the other, as a stack of networks reads them."""
        tensors = [iter(batch.tensors) for batch in (self, *others)]
        joined = self.map(lambda _: torch.cat([next(own) for own in tensors]))
        parts = len(tensors)
        shift = torch.arange(parts, device=self.ids.device).repeat_interleave(len(self.first_row)) * len(self.ids)
        return replace(joined, first_row=joined.first_row + shift, parts=parts)

    def to(self, device: torch.device) -> Batch:
        return self.map(lambda tensor: tensor.to(device, non_blocking=True))

    @property
    def inputs(self) -> dict[str, Tensor]:
        """What a Hugging Face network is called with."""
        inputs = {"input_ids": self.ids, "attention_mask": self.mask}
        return inputs if self.segments is None else {**inputs, "token_type_ids": self.segments}

    @property
    def known(self) -> Tensor:
        """`[example, word]`: True for words, False for padding."""
        return self.arrays["position"] != IGNORE

    @property
    def places(self) -> Tensor:
        """`[example, word]`: where the token of each word is among all tokens of all windows; 0 for padding."""
        row = self.first_row[:, None] + self.arrays["window"]
        return (row * self.ids.shape[1] + self.arrays["position"]).where(self.known, 0)

    def words(self, states: Tensor) -> Tensor:
        """The rows of `states[window, token, unit]` that stand for words, as `[example, word, unit]`."""
        return rows_at(states.flatten(0, 1), self.places)


@dataclass(frozen=True, order=True)
class Shape:
    """The sizes of a batch's tensors."""

    length: int  # tokens of a row
    rows: int
    examples: int
    widths: tuple[int, ...]  # of the arrays, in their order

    def __or__(self, other: Shape) -> Shape:
        """The least shape that holds both.

        >>> Shape(8, 2, 2, (3,)) | Shape(4, 3, 2, (5,))
        Shape(length=8, rows=3, examples=2, widths=(5,))
        """
        widths = tuple(map(max, self.widths, other.widths))
        return Shape(
            max(self.length, other.length), max(self.rows, other.rows), max(self.examples, other.examples), widths
        )


class Sizes:
    """The sizes of many examples, from which the shape of any batch of them follows at once."""

    def __init__(self, examples: Sequence[Example]):
        self.longest = np.array([max(map(len, example.windows)) for example in examples])
        self.windows = np.array([len(example.windows) for example in examples])
        self.widths = np.array([[len(array) for array in example.arrays.values()] for example in examples])

    def shape(self, items: IntArray) -> Shape:
        """The least shape that holds these examples."""
        widths = tuple(self.widths[items].max(0).tolist())
        return Shape(int(self.longest[items].max()), int(self.windows[items].sum()), len(items), widths)


def collate(examples: Sequence[Example], filler: int, shape: Shape | None = None) -> Batch:
    """Examples side by side; `filler` is the padding token's id.

    A `shape` larger than they need is filled up: with texts of one padding token, so that attention has something to
    look at, and with examples that have no words and no gold labels, so that no loss sees them.
    """
    shape = shape or Sizes(examples).shape(np.arange(len(examples)))
    windows = [window for example in examples for window in example.windows]
    segments = [segment for example in examples for segment in example.segments]
    first_row = np.zeros(shape.examples, dtype=np.int64)
    first_row[1 : len(examples)] = np.cumsum([len(example.windows) for example in examples])[:-1]
    lengths = np.ones(shape.rows, dtype=np.int64)
    lengths[: len(windows)] = list(map(len, windows))
    mask = (np.arange(shape.length) < lengths[:, None]).astype(np.int64)
    return Batch(
        ids=_padded(windows, filler, shape.rows, shape.length),
        mask=torch.from_numpy(mask),
        segments=_padded(segments, 0, shape.rows, shape.length) if segments else None,
        first_row=torch.from_numpy(first_row),
        arrays={
            name: _padded([example.arrays[name] for example in examples], IGNORE, shape.examples, width)
            for name, width in zip(examples[0].arrays, shape.widths, strict=True)
        },
    )


def _padded(rows: Sequence[npt.NDArray[np.integer]], value: int, height: int, width: int) -> Tensor:
    padded = np.full((height, width), value, dtype=np.int64)
    for row, values in zip(padded, rows, strict=False):
        row[: len(values)] = values
    return torch.from_numpy(padded)
