"""`Index`: a similarity function, its derivative for confidence intervals, and its declared properties.

The contract tests check every registered index against its declared bounds, symmetry and invariances, and show
that it lacks the invariances it does not declare.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from torch import Tensor

from isogloss.core.errors import UsageError
from isogloss.indexes.moments import Moments
from isogloss.indexes.repeats import Repeats
from isogloss.indexes.vectors import Vectors

Map = Literal["rotation", "isotropic scaling", "invertible linear", "permutation", "translation"]
MAPS: tuple[Map, ...] = ("rotation", "isotropic scaling", "invertible linear", "permutation", "translation")
USUAL_INVARIANCES: frozenset[Map] = frozenset({"rotation", "isotropic scaling", "permutation", "translation"})


@dataclass(frozen=True)
class Gradient:
    """Derivative of an index with respect to the scatter matrices; a vector represents a diagonal matrix."""

    xx: Tensor
    yy: Tensor
    xy: Tensor


@dataclass(frozen=True)
class Sample:
    """The value of an index and its derivative with respect to the weight of each sentence."""

    value: float
    influence: Tensor
    note: str = ""
    replicates: np.ndarray | None = None  # recomputed, for an index that the derivative describes badly


def bounded(value: Tensor | float, low: float = 0.0, high: float = 1.0) -> float:
    """The value of an index within its bounds, which rounding may exceed; NaN is an error.

    >>> bounded(1.0 + 1e-16), bounded(-1e-17)
    (1.0, 0.0)
    """
    number = float(value)
    if not math.isfinite(number):
        raise UsageError(f"the vectors are too large or too small to compare: the similarity is {number}; scale them")
    return min(high, max(low, number))


@dataclass(frozen=True)
class Index:
    """One similarity index: X, Y → a number. All are 1 for identical inputs and higher is more similar.

    An index computed from second moments defines `of_moments` and `gradient`, and `recompute` if it depends on choices,
    such as a number of directions, that a derivative does not describe. An index that needs the vectors defines
    `of_vectors`, which may return tensors on the device of its input.
    """

    name: str
    summary: str
    cost: str
    reference: str
    bounds: tuple[float, float] = (0, 1)
    symmetric: bool = True
    invariances_per_side: frozenset[Map] = USUAL_INVARIANCES  # maps of one side (X or Y) that do not change the value
    joint_invariances: frozenset[Map] = USUAL_INVARIANCES  # maps applied to X and Y that do not change the value
    proportion: bool = False  # a share of the sentences
    of_moments: Callable[[Moments], float] | None = None
    gradient: Callable[[Moments], Gradient] | None = None
    recompute: Callable[[Moments, Vectors, Vectors, Iterable[Tensor]], np.ndarray] | None = None  # for sentence weights
    of_vectors: Callable[[Vectors, Vectors], Sample] | None = None
    of_sentences: Callable[[Vectors, Vectors, Repeats], Sample] | None = None  # `of_vectors` that recognises copies
    note: Callable[[Moments], str] | None = None  # a remark printed beside the value

    @property
    def free_scale(self) -> bool:
        """Whether each side may be multiplied by a number without changing the value."""
        return "isotropic scaling" in self.invariances_per_side

    @property
    def needs(self) -> Literal["moments", "vectors"]:
        return "vectors" if self.of_moments is None else "moments"
