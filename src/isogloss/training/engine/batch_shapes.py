"""A few shapes for all batches of a run, so that steps are recorded once per shape and then replayed.

A batch is padded to the shape of its group. Few groups mean much padding, many groups mean many recordings, and rare
shapes are not recorded at all. All batches of a run are known in advance, so the cheapest grouping is computed
exactly. It depends on the batches only: a resumed run has the same shapes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

from isogloss.tasks.examples import Shape

LENGTH_MULTIPLE = 8  # tokens; suits the matrix units of a GPU and masked attention
# Milliseconds, measured on an H200 with a base-size tagger; they affect the speed of training only.
RECORDING_MS, LAUNCH_MS, TOKEN_MS = 60.0, 29.0, 0.0014


@dataclass(frozen=True)
class ShapeGroup:
    """A shape shared by several batches, and whether steps of this shape are recorded."""

    shape: Shape
    recorded: bool


Key = tuple[int, int]  # tokens per row and rows that the network reads


def group_shapes(shapes: Iterable[Shape], copies: int = 1) -> dict[Key, ShapeGroup]:
    """The group of each grid (tokens per row, rows) that occurs; `copies` multiplies the cost of padding.

    >>> groups = group_shapes([Shape(8, 4, 4, (3,))] * 900 + [Shape(8, 4, 4, (4,))] * 900 + [Shape(500, 4, 4, (9,))])
    >>> [(key, group.shape.widths, group.recorded) for key, group in groups.items()]
    [((8, 4), (4,), True), ((500, 4), (9,), False)]
    """
    counts: dict[Key, int] = {}
    joined: dict[Key, Shape] = {}
    for shape in shapes:
        key = shape.grid
        counts[key] = counts.get(key, 0) + 1
        joined[key] = joined.get(key, shape) | shape
    keys = sorted(joined)
    groups: dict[Key, ShapeGroup] = {}
    for start, stop, recorded in _cheapest_groups([(joined[key], counts[key]) for key in keys], TOKEN_MS * copies):
        shared_shape = reduce(or_, (joined[key] for key in keys[start:stop]))
        groups |= {key: ShapeGroup(shared_shape if recorded else joined[key], recorded) for key in keys[start:stop]}
    return groups


def round_length_up(shape: Shape, longest: int) -> Shape:
    """The shape with its length rounded up to a multiple of 8, but not beyond the longest input of the model.

    >>> round_length_up(Shape(11, 2, 2, ()), 512).length, round_length_up(Shape(11, 2, 2, ()), 12).length
    (16, 12)
    """

    def rounded(length: int) -> int:
        return max(length, min(-(-length // LENGTH_MULTIPLE) * LENGTH_MULTIPLE, longest))

    return replace(shape, length=rounded(shape.length), packed_length=rounded(shape.packed_length))


def _cheapest_groups(shapes: list[tuple[Shape, int]], token_ms: float) -> list[tuple[int, int, bool]]:
    """Split the sorted shapes, each with its number of batches, into groups: (start, stop, whether recorded).

    Dynamic programming over the start of the last group, which is either a single shape that is not recorded, or
    several shapes that are padded to the largest and recorded.
    """
    best: list[tuple[float, list[tuple[int, int, bool]]]] = [(0.0, [])]
    for stop in range(1, len(shapes) + 1):
        _, count = shapes[stop - 1]
        cost, groups = best[stop - 1]
        choices = [(cost + LAUNCH_MS * count, [*groups, (stop - 1, stop, False)])]
        joined, tokens, batches = shapes[stop - 1][0], 0, 0
        for start in range(stop - 1, -1, -1):
            shape, count = shapes[start]
            joined, batches = joined | shape, batches + count
            tokens += count * shape.tokens
            padding = batches * joined.tokens - tokens
            cost, groups = best[start]
            choices.append((cost + RECORDING_MS + token_ms * padding, [*groups, (start, stop, True)]))
        best.append(min(choices, key=lambda choice: choice[0]))
    return best[-1][1]
