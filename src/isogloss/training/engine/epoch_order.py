"""Random order of training, as a pure function of the seed.

Each epoch is shuffled and split into batches. Batches of items of similar length would need less padding, but they
cost accuracy: words of short sentences weigh more, and gradients vary more from step to step (docs/performance.md).
Where padding is avoided by packing (`models/states/packing.py`), random batches cost no time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isogloss.core.seeds import Chance
from isogloss.models.tokenization.batching import IntArray


def epoch_batches(
    lengths: IntArray, *, batch: int, tokens: int | None, seed: int, epoch: int, pool_batches: int = 1
) -> list[IntArray]:
    """The items of each step of an epoch, every item once.

    A batch holds `batch` items, or with `tokens` as many as have at most that number of tokens (a longer item is a
    batch by itself). With `pool_batches` > 1, pools of this number of batches are sorted by length before they are
    split, and `tokens` includes padding.

    >>> [b.tolist() for b in epoch_batches(np.array([3, 9, 3, 9]), batch=2, tokens=None, seed=0, epoch=0)]
    [[3, 0], [1, 2]]
    """
    rng = Chance(seed, "order", epoch)
    order = np.array(rng.shuffled(range(len(lengths))), dtype=np.int64)
    if pool_batches == 1:
        return np.split(order, _batch_ends(lengths[order].tolist(), batch, tokens, padded=False))
    per_batch = batch if tokens is None else max(1, int(tokens / max(1.0, float(lengths.mean()))))
    batches: list[IntArray] = []
    for start in range(0, len(order), pool_batches * per_batch):
        pool = order[start : start + pool_batches * per_batch]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += np.split(pool, _batch_ends(lengths[pool].tolist(), batch, tokens, padded=True))
    return rng.shuffled(batches)


def _batch_ends(lengths: Sequence[int], batch: int, tokens: int | None, *, padded: bool) -> list[int]:
    """The ends of all batches but the last; `padded`: every item counts as long as the last of its batch."""
    if tokens is None:
        return list(range(batch, len(lengths), batch))
    ends, start, total = [], 0, 0
    for i, length in enumerate(lengths):
        total += length
        if i > start and (length * (i - start + 1) if padded else total) > tokens:
            ends.append(i)
            start, total = i, length
    return ends
