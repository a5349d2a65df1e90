"""Batches hold every sentence once, keep to the budget and waste little."""

from __future__ import annotations

import numpy as np
import pytest
from batch_padding import padding_share
from hypothesis import given
from hypothesis import strategies as st

from isogloss.models.tokenization.batching import pad, token_batches


@given(st.lists(st.integers(1, 60), max_size=60), st.integers(1, 300))
def test_every_sentence_once_and_no_batch_over_budget(lengths: list[int], budget: int) -> None:
    batches = token_batches(lengths, budget)
    assert sorted(np.concatenate([*batches, []]).astype(int).tolist()) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[i] for i in batch)
        assert len(batch) == 1 or longest * len(batch) <= budget
    assert [b.tolist() for b in batches] == [b.tolist() for b in token_batches(lengths, budget)]
    firsts = [lengths[batch[0]] for batch in batches]
    assert firsts == sorted(firsts, reverse=True)


@pytest.mark.parametrize(
    ("number", "budget", "waste"),
    [(1000, 2048, 0.05), (10_000, 2048, 0.02), (1000, 16384, 0.2), (10_000, 16384, 0.05), (100_000, 16384, 0.02)],
)
def test_realistic_lengths_waste_little(number: int, budget: int, waste: float) -> None:
    lengths = np.clip(np.random.default_rng(0).lognormal(3.2, 0.6, number), 3, 512).astype(int)
    batches = token_batches(lengths, budget)
    assert padding_share(lengths, batches) < waste
    small = [batch for batch in batches if lengths[batch].max() * len(batch) < budget // 4]
    assert len(small) <= 1, "batches that are worth their launch"


def test_padding_goes_to_the_right() -> None:
    assert pad([np.array([1, 2, 3]), np.array([4])], 9).tolist() == [[1, 2, 3], [4, 9, 9]]
    assert pad([], 0).shape == (0, 0)
