"""What a similarity index is: a function, its derivative for confidence intervals, and facts about it as data.

The contract tests read the facts: every registered index is checked against the bounds, the symmetry and
the invariances that it declares, and shown to lack those that it does not declare.
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


@dataclass(frozen=True)
class Gradient:
    """Derivative of an index by the scatter matrices; a vector stands for a diagonal matrix."""

    xx: Tensor
    yy: Tensor
    xy: Tensor


@dataclass(frozen=True)
class Sample:
    """The value of an index and how much each sentence moves it: its derivative by the sentence's weight."""

    value: float
    influence: Tensor
    note: str = ""


@dataclass(frozen=True)
class Index:
    """One similarity index: X, Y → a number. All are 1 for identical inputs and higher is more similar.

    An index of moments gives `of_moments` and `gradient`; one that needs the vectors gives `of_vectors`,
    which may keep its results on the device of the vectors it is handed.
    """

    name: str
    summary: str
    bounds: tuple[float, float]
    symmetric: bool
    alone: frozenset[Map]  # maps of X alone, or of Y alone, that leave the value as it is
    together: frozenset[Map]  # one map applied to X and Y alike that leaves the value as it is
    cost: str
    reference: str
    of_moments: Callable[[Moments], float] | None = None
    gradient: Callable[[Moments], Gradient] | None = None
    of_vectors: Callable[[Vectors, Vectors], Sample] | None = None
    note: Callable[[Moments], str] | None = None  # what a reader of the value should know, if anything

    @property
    def needs(self) -> Literal["moments", "vectors"]:
        return "vectors" if self.of_moments is None else "moments"
