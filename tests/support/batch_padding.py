from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def padding_share(lengths: Sequence[int] | np.ndarray, batches: Sequence[np.ndarray]) -> float:
    """The share of positions that are padding."""
    lengths = np.asarray(lengths, dtype=np.int64)
    padded = sum(int(lengths[batch].max()) * len(batch) for batch in batches)
    return 1 - int(lengths.sum()) / padded if padded else 0.0
