from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.tasks.examples import Shape
from isogloss.training.engine import batch_shapes as shapes
from isogloss.training.engine.batch_shapes import group_shapes, round_length_up

SHAPES = st.builds(
    lambda length, rows, width: Shape(8 * length, rows, rows, (width,)),
    st.integers(1, 5),
    st.integers(1, 3),
    st.integers(1, 9),
)


def price(batches: list[Shape], groups: dict[tuple[int, int], shapes.ShapeGroup]) -> float:
    """What a run costs by the constants: recordings, launches, padding."""
    chosen = [groups[batch.length, batch.rows] for batch in batches]
    recorded = {id(group.shape): group for group in chosen if group.recorded}
    cost = shapes.RECORDING_MS * len({group.shape for group in recorded.values()})
    for batch, group in zip(batches, chosen, strict=True):
        padding = group.shape.rows * group.shape.length - batch.rows * batch.length
        cost += shapes.TOKEN_MS * padding if group.recorded else shapes.LAUNCH_MS
    return cost


def all_groupings(keys: list[tuple[int, int]], joined: dict[tuple[int, int], Shape]) -> list[dict]:  # type: ignore[type-arg]
    """Every way to cut the sorted keys into groups, recorded or, where of one key, launched."""
    if not keys:
        return [{}]
    ways = []
    for size in range(1, len(keys) + 1):
        whole = joined[keys[0]]
        for key in keys[:size]:
            whole = whole | joined[key]
        kinds = [True, False] if size == 1 else [True]
        for rest in all_groupings(keys[size:], joined):
            ways += [{**dict.fromkeys(keys[:size], shapes.ShapeGroup(whole, kind)), **rest} for kind in kinds]
    return ways


@settings(max_examples=60)
@given(st.lists(SHAPES, min_size=1, max_size=6), st.integers(1, 200), st.sampled_from([0.01, 0.2, 3.0]))
def test_the_cheapest_of_all_groupings(kinds: list[Shape], times: int, token: float) -> None:
    batches = kinds * times
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shapes, "TOKEN_MS", token)
        groups = group_shapes(batches)
        joined: dict[tuple[int, int], Shape] = {}
        for shape in kinds:
            key = shape.length, shape.rows
            joined[key] = joined.get(key, shape) | shape
        least = min(price(batches, way) for way in all_groupings(sorted(joined), joined))
        assert price(batches, groups) == pytest.approx(least)


@given(st.lists(SHAPES, min_size=1, max_size=30))
@settings(max_examples=60)
def test_every_batch_fits_into_the_shape_of_its_group(batches: list[Shape]) -> None:
    groups = group_shapes(batches)
    for batch in batches:
        group = groups[batch.length, batch.rows]
        assert batch | group.shape == group.shape


def test_more_epochs_are_worth_more_recordings() -> None:
    lengths = [8 * n for n in range(1, 11)]
    numbers = []
    for epochs in (1, 40, 400):
        batches = [Shape(length, 32, 32, (length,)) for length in lengths for _ in range(3 * epochs)]
        groups = group_shapes(batches).values()
        numbers.append(len(Counter(group.shape for group in groups if group.recorded)))
    assert numbers == sorted(numbers)
    assert numbers[0] < numbers[-1] == 10


def test_lengths_are_not_rounded_beyond_the_model() -> None:
    assert [round_length_up(Shape(n, 1, 1, ()), 510).length for n in (1, 8, 9, 503, 505, 510)] == [
        8,
        8,
        16,
        504,
        510,
        510,
    ]
