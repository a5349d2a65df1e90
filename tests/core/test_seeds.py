from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from isogloss.core.seeds import Chance, derive_seed


def test_the_sequence_is_the_same_on_every_machine() -> None:
    chance = Chance(7, "corpus", "en")
    assert [chance.below(1000) for _ in range(5)] == [942, 692, 108, 852, 608]
    assert derive_seed(7, "corpus", "en") != derive_seed(7, "corpusen")


@given(st.integers(), st.lists(st.integers(), max_size=30))
def test_shuffling_keeps_every_item(seed: int, items: list[int]) -> None:
    assert sorted(Chance(seed).shuffled(items)) == sorted(items)


def test_weighted_choice_follows_the_weights() -> None:
    chance = Chance(0)
    drawn = Counter(chance.choose_weighted("abc", [1, 0, 3]) for _ in range(8000))
    assert drawn["b"] == 0
    assert abs(drawn["c"] / 8000 - 0.75) < 0.02


def test_a_stream_passes_over_all_items_before_it_repeats() -> None:
    stream = Chance(1).stream([1, 2, 3])
    assert sorted(next(stream) for _ in range(3)) == [1, 2, 3] == sorted(next(stream) for _ in range(3))
