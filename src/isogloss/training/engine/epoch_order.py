"""Random order of training with batches of items of similar length; a pure function of the seed.

Each epoch is shuffled and split into pools of `POOL_BATCHES` batches; a pool is sorted by length, split into batches,
and the batches are shuffled. Batches stay random, with little padding (EWT, 32 sentences: 9 % instead of 67 %).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isogloss.core.seeds import Chance
from isogloss.models.tokenization.batching import IntArray

POOL_BATCHES = 50  # batches


def epoch_batches(lengths: IntArray, *, batch: int, tokens: int | None, seed: int, epoch: int) -> list[IntArray]:
    """The items of each step of an epoch, every item once.

    A batch holds `batch` items, or with `tokens` as many as stay within that number of tokens, padding included
    (a longer item is a batch by itself).

    >>> [b.tolist() for b in epoch_batches(np.array([3, 9, 3, 9]), batch=2, tokens=None, seed=0, epoch=0)]
    [[3, 1], [0, 2]]
    """
    rng = Chance(seed, "order", epoch)
    order = np.array(rng.shuffled(range(len(lengths))), dtype=np.int64)
    per_batch = batch if tokens is None else max(1, int(tokens / max(1.0, float(lengths.mean()))))
    batches: list[IntArray] = []
    for start in range(0, len(order), POOL_BATCHES * per_batch):
        pool = order[start : start + POOL_BATCHES * per_batch]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        ends = _batch_ends(lengths[pool].tolist(), tokens) if tokens else range(batch, len(pool), batch)
        batches += np.split(pool, list(ends))
    return rng.shuffled(batches)


def _batch_ends(lengths: Sequence[int], tokens: int) -> list[int]:
    """The ends of batches of items with rising lengths, so that no batch exceeds the budget."""
    ends, start = [], 0
    for i, length in enumerate(lengths):
        if i > start and length * (i - start + 1) > tokens:
            ends.append(i)
            start = i
    return ends
