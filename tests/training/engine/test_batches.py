from __future__ import annotations

import numpy as np
import pytest
from batch_padding import padding_share
from hypothesis import given
from hypothesis import strategies as st

from isogloss.training.engine.epoch_order import epoch_batches

LENGTHS = st.lists(st.integers(1, 60), min_size=1, max_size=200).map(np.array)


@given(LENGTHS, st.integers(1, 20), st.none() | st.integers(1, 200), st.integers(0, 5), st.integers(0, 3))
def test_every_item_once_and_no_batch_too_large(
    lengths: np.ndarray, batch: int, tokens: int | None, seed: int, epoch: int
) -> None:
    batches = epoch_batches(lengths, batch=batch, tokens=tokens, seed=seed, epoch=epoch)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    assert min(map(len, batches)) > 0
    if tokens is None:
        assert len(batches) == -(-len(lengths) // batch)
        assert max(map(len, batches)) <= batch
    else:
        assert all(len(b) == 1 or lengths[b].sum() <= tokens for b in batches)
    again = epoch_batches(lengths, batch=batch, tokens=tokens, seed=seed, epoch=epoch)
    assert [b.tolist() for b in again] == [b.tolist() for b in batches]


def test_seeds_and_epochs_have_orders_of_their_own() -> None:
    lengths = np.arange(1, 101)
    orders = {
        tuple(np.concatenate(epoch_batches(lengths, batch=4, tokens=None, seed=seed, epoch=epoch)).tolist())
        for seed in range(3)
        for epoch in range(3)
    }
    assert len(orders) == 9


def test_who_meets_whom_changes_from_epoch_to_epoch() -> None:
    lengths = np.random.default_rng(0).integers(5, 40, 5000)
    pairs = []
    for epoch in range(2):
        batches = epoch_batches(lengths, batch=16, tokens=None, seed=0, epoch=epoch)
        pairs.append({(a, b) for batch in batches for a in batch.tolist() for b in batch.tolist() if a < b})
    assert len(pairs[0] & pairs[1]) < 0.1 * len(pairs[0])


def test_batches_are_independent_of_length() -> None:
    """The mean length of a random batch varies as that of independent draws; sorted batches vary much more."""
    lengths = np.random.default_rng(0).lognormal(3.05, 0.71, 12_000).astype(int) + 1
    batches = epoch_batches(lengths, batch=32, tokens=None, seed=0, epoch=0)
    spread = np.std([lengths[batch].mean() for batch in batches if len(batch) == 32])
    assert spread == pytest.approx(lengths.std() / 32**0.5, rel=0.1)
    pooled = epoch_batches(lengths, batch=32, tokens=None, seed=0, epoch=0, pool_batches=50)
    assert np.std([lengths[batch].mean() for batch in pooled]) > 4 * spread


@pytest.mark.parametrize(("batch", "tokens"), [(16, None), (32, None), (32, 1024)])
def test_pools_leave_little_padding_on_lengths_like_those_of_text(batch: int, tokens: int | None) -> None:
    """Log-normal lengths of mean 27 and deviation 22: English-EWT cut into WordPieces has 27 and 19."""
    lengths = np.random.default_rng(0).lognormal(3.05, 0.71, 12_000).astype(int) + 1
    pooled = epoch_batches(lengths, batch=batch, tokens=tokens, seed=0, epoch=0, pool_batches=50)
    assert sorted(np.concatenate(pooled).tolist()) == list(range(len(lengths)))
    assert padding_share(lengths, pooled) < 0.1
    if tokens:
        assert all(lengths[items].max() * len(items) <= tokens for items in pooled)
