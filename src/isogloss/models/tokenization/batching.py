"""Batches of sentences of similar length under a token budget: little padding, bounded memory, deterministic."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]

MAX_PADDING_SHARE = 0.04  # a batch with more padding is closed …
MIN_BATCH_DIVISOR = 4  # … unless it has less than budget / 4 tokens: small batches cost more than padding


def token_batches(lengths: Sequence[int] | IntArray, budget: int) -> list[IntArray]:
    """Indices of the sentences of each batch, longest first: out-of-memory errors occur in the first batch or never.

    A batch has at most `budget` tokens, padding included; a longer sentence is a separate batch.

    >>> [batch.tolist() for batch in token_batches([5, 2, 9, 5, 2], budget=10)]
    [[2], [0, 3], [1, 4]]
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    order = np.argsort(-lengths, kind="stable")
    batches, start, tokens, smallest = [], 0, 0, budget // MIN_BATCH_DIVISOR
    for end, length in enumerate(lengths[order].tolist()):
        longest = int(lengths[order[start]])
        padded = longest * (end - start + 1)
        too_much_padding = padded - tokens - length > MAX_PADDING_SHARE * padded and padded - longest >= smallest
        if end > start and (padded > budget or too_much_padding):
            batches.append(order[start:end])
            start, tokens = end, 0
        tokens += length
    return [*batches, order[start:]] if len(order) else []


def pad(rows: Sequence[npt.NDArray[np.integer]], value: int) -> IntArray:
    """Rows of different lengths as one array, padded on the right.

    >>> pad([np.array([1, 2]), np.array([3])], 0).tolist()
    [[1, 2], [3, 0]]
    """
    padded = np.full((len(rows), max(map(len, rows), default=0)), value, dtype=np.int64)
    for row, values in zip(padded, rows, strict=True):
        row[: len(values)] = values
    return padded
