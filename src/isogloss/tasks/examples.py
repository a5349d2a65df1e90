"""Corpus items as a network takes them: windows of token ids, and integer arrays of places and gold labels.

A sentence longer than the model becomes several overlapping windows; `window` and `position` say, for each of
its words, which window and which token there stand for it, so that what follows sees whole sentences again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from isogloss.models.batching import pad

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

    def __len__(self) -> int:
        return len(self.first_row)

    def to(self, device: torch.device) -> Batch:
        moved = {name: value.to(device, non_blocking=True) for name, value in self.arrays.items()}
        segments = None if self.segments is None else self.segments.to(device, non_blocking=True)
        ids, mask, rows = (x.to(device, non_blocking=True) for x in (self.ids, self.mask, self.first_row))
        return Batch(ids, mask, segments, rows, moved)

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
        return states.flatten(0, 1)[self.places]


def collate(examples: Sequence[Example], filler: int) -> Batch:
    """Examples side by side; `filler` is the padding token's id."""
    windows = [window for example in examples for window in example.windows]
    segments = [segment for example in examples for segment in example.segments]
    counts = np.array([0, *(len(example.windows) for example in examples)])
    return Batch(
        ids=torch.from_numpy(pad(windows, filler)),
        mask=torch.from_numpy(pad([np.ones(len(window), dtype=np.int64) for window in windows], 0)),
        segments=torch.from_numpy(pad(segments, 0)) if segments else None,
        first_row=torch.from_numpy(counts.cumsum()[:-1]),
        arrays={
            name: torch.from_numpy(pad([example.arrays[name] for example in examples], IGNORE))
            for name in examples[0].arrays
        },
    )
