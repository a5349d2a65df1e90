"""`Index`: a similarity function, its derivative for confidence intervals, and its declared properties.

The contract tests check every registered index against its declared bounds, symmetry and invariances, and show
that it lacks the invariances it does not declare.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from isogloss.indexes.moments import Moments
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


@dataclass(frozen=True)
class Index:
    """One similarity index: X, Y → a number. All are 1 for identical inputs and higher is more similar.

    An index computed from second moments defines `of_moments` and `gradient`. An index that needs the vectors
    defines `of_vectors`, which may return tensors on the device of its input.
    """

    name: str
    summary: str
    cost: str
    reference: str
    bounds: tuple[float, float] = (0, 1)
    symmetric: bool = True
    invariances_per_side: frozenset[Map] = USUAL_INVARIANCES  # maps of one side (X or Y) that do not change the value
    joint_invariances: frozenset[Map] = USUAL_INVARIANCES  # maps applied to X and Y that do not change the value
    of_moments: Callable[[Moments], float] | None = None
    gradient: Callable[[Moments], Gradient] | None = None
    of_vectors: Callable[[Vectors, Vectors], Sample] | None = None
    note: Callable[[Moments], str] | None = None  # a remark printed beside the value

    @property
    def needs(self) -> Literal["moments", "vectors"]:
        return "vectors" if self.of_moments is None else "moments"
