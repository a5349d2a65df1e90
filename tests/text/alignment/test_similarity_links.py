from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from isogloss.text.alignment.similarity_links import best_partners, cosines, iterative_maximum


def slow_itermax(similarity: np.ndarray, rounds: int) -> np.ndarray:
    """SimAlign's Algorithm, one pair of sentences and one pair of words at a time."""
    m, n = similarity.shape
    worth = (similarity + 1) / 2
    links = np.zeros((m, n), bool)
    for round_ in range(rounds):
        source, target = links.any(1), links.any(0)  # words that have a link
        if round_ and (min(m, n) <= 2 or source.all() or target.all()):
            break
        weighted = np.full((m, n), -np.inf)
        for i in range(m):
            for j in range(n):
                if not (source[i] and target[j]):
                    weighted[i, j] = worth[i, j] * (0.9 if source[i] or target[j] else 1)
        for i in range(m):
            j = int(weighted[i].argmax())
            if np.isfinite(weighted[i, j]) and weighted[:, j].argmax() == i:
                links[i, j] = True
    return links


def tables(seed: int, sizes: list[tuple[int, int]]) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    return [random.uniform(-1, 1, size) for size in sizes]


def padded(parts: list[np.ndarray], extra: int = 0, filler: float = 5.0) -> tuple[torch.Tensor, torch.Tensor]:
    """The tables in one array, filled up with what would win if it were looked at."""
    shape = [max(part.shape[side] for part in parts) + extra for side in (0, 1)]
    values, present = np.full((len(parts), *shape), filler, np.float32), np.zeros((len(parts), *shape), bool)
    for number, part in enumerate(parts):
        values[number, : part.shape[0], : part.shape[1]] = part
        present[number, : part.shape[0], : part.shape[1]] = True
    return torch.from_numpy(values), torch.from_numpy(present)


SIZES = st.lists(st.tuples(st.integers(1, 7), st.integers(1, 7)), min_size=1, max_size=4)


@given(st.integers(0, 10**6), SIZES, st.integers(1, 4), st.integers(0, 2))
def test_iterative_maximum_is_the_slow_one(seed: int, sizes: list, rounds: int, extra: int) -> None:
    parts = tables(seed, sizes)
    links = iterative_maximum(*padded(parts, extra), rounds=rounds)
    for number, part in enumerate(parts):
        expected = slow_itermax(part, rounds)
        assert np.array_equal(links[number, : part.shape[0], : part.shape[1]].numpy(), expected)
        assert int(links[number].sum()) == int(expected.sum()), "a link outside the sentence"


@given(st.integers(0, 10**6), SIZES, st.integers(0, 2))
def test_best_partners_are_the_argmax(seed: int, sizes: list, extra: int) -> None:
    parts = tables(seed, sizes)
    forward, reverse = best_partners(*padded(parts, extra))
    for number, part in enumerate(parts):
        assert [tuple(link) for link in forward[number].nonzero().tolist()] == list(enumerate(part.argmax(1).tolist()))
        found = sorted((j, i) for i, j in reverse[number].nonzero().tolist())
        assert found == list(enumerate(part.argmax(0).tolist()))


@given(st.integers(0, 10**6), SIZES)
def test_more_rounds_only_add(seed: int, sizes: list) -> None:
    similarity, present = padded(tables(seed, sizes))
    forward, reverse = best_partners(similarity, present)
    fewer = forward & reverse
    for rounds in (1, 2, 3):
        more = iterative_maximum(similarity, present, rounds)
        assert bool((fewer <= more).all())
        fewer = more


def test_the_second_round_by_hand() -> None:
    """Source 1 prefers target 0, which prefers source 0: no link at first. Then 0.9 · 0.9 beats its other choices."""
    similarity = torch.tensor([[[0.9, 0.1, 0.0, 0.0], [0.8, 0.2, 0.1, 0.0], [0.0, 0.0, 0.9, 0.0]]])
    present = torch.ones_like(similarity, dtype=torch.bool)
    assert iterative_maximum(similarity, present, 1)[0].nonzero().tolist() == [[0, 0], [2, 2]]
    assert iterative_maximum(similarity, present, 2)[0].nonzero().tolist() == [[0, 0], [1, 0], [2, 2]]


def test_ties_go_to_the_first_even_where_rounding_hides_them() -> None:
    similarity = torch.tensor([[[0.5, 0.5 + 6e-8], [0.1, 0.2]]], dtype=torch.float64)
    forward, _ = best_partners(similarity, torch.ones_like(similarity, dtype=torch.bool))
    assert forward[0].int().tolist() == [[1, 0], [0, 1]]


def test_cosines_do_not_see_length() -> None:
    source, target = torch.randn(2, 3, 5), torch.randn(2, 4, 5)
    expected = torch.nn.functional.cosine_similarity(source[:, :, None], target[:, None], dim=3)
    assert torch.allclose(cosines(7 * source, 0.1 * target), expected.double(), atol=1e-6)
    assert cosines(torch.zeros(1, 1, 5), target[:1]).eq(0).all()
