"""Sets of vectors of shape `(samples, features)`: accepted types, checks and conversion to tensors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from isogloss.core.errors import UsageError

BLOCK_ROWS = 1024  # rows per block; limits memory, does not change the result
MAX_SAFE_EXPONENT = 200  # of two: numbers between 2⁻²⁰⁰ and 2²⁰⁰ can be squared twice and summed in float64


class Vectors(Protocol):
    """A NumPy array, a memory-mapped file, a torch tensor: anything with a shape and rows."""

    @property
    def shape(self) -> Sequence[int]: ...
    def __getitem__(self, key: Any, /) -> Any: ...  # arrays and tensors annotate their keys differently


class InvalidVectors(UsageError):
    """A sentence whose vector cannot be used; `row` counts from 0.

    >>> str(InvalidVectors("fr", 3, "NaN").at("layer 5, fr"))
    'layer 5, fr: expected finite numbers in every vector, got NaN in sentence 3 (counting from 0)'
    """

    def __init__(self, view: str, row: int, got: str, expected: str = "finite numbers in every vector"):
        self.view, self.row, self.got, self.expected = view, row, got, expected
        super().__init__(f"{view}: expected {expected}, got {got} in sentence {row} (counting from 0)")

    def at(self, view: str) -> InvalidVectors:
        """The same error with another name for the view."""
        return InvalidVectors(view, self.row, self.got, self.expected)


def check_shape(vectors: Vectors, view: str) -> tuple[int, int]:
    """The number of samples and of features, or an error if `vectors` is not a set of vectors."""
    if not hasattr(vectors, "shape"):
        raise UsageError(f"{view}: expected a NumPy array or a torch tensor, got a {type(vectors).__name__}")
    shape = tuple(int(size) for size in vectors.shape)
    if len(shape) != 2:
        raise UsageError(f"{view}: expected an array of shape (samples, features), got {len(shape)} dimensions")
    if 0 in shape:
        raise UsageError(f"{view}: expected at least one sample and one feature, got the shape {shape}")
    return shape[0], shape[1]


def check_parallel(x: Vectors, y: Vectors, names: tuple[str, str] = ("X", "Y"), minimum: int = 2) -> int:
    """The common number of samples of two parallel sets."""
    (n, _), (other, _) = check_shape(x, names[0]), check_shape(y, names[1])
    if n != other:
        raise UsageError(f"{names[0]} and {names[1]} must be parallel, got {n} and {other} samples")
    if n < minimum:
        raise UsageError(f"expected at least {minimum} samples to compare, got {n}")
    return n


def as_tensor(raw: object, view: str) -> Tensor:
    """Rows of an array as a tensor of the same numbers."""
    if not isinstance(raw, Tensor):
        array = np.asarray(raw)
        if array.dtype.kind not in "fiub":
            raise UsageError(f"{view}: expected real numbers, got values of type {array.dtype}")
        # a copy in native byte order: torch does not support read-only memory maps
        return torch.from_numpy(np.array(array, dtype=array.dtype.newbyteorder("="), order="C"))
    if raw.is_complex():
        raise UsageError(f"{view}: expected real numbers, got values of type {raw.dtype}")
    return raw.detach()


def take(vectors: Vectors, rows: slice | np.ndarray, view: str, device: torch.device | str | None = None) -> Tensor:
    """The rows as a float64 tensor, checked to be finite. A tensor stays on its device unless `device` is set."""
    raw = as_tensor(vectors[rows], view)
    values = raw.to(device=device or raw.device, dtype=torch.float64)
    # one pass: the column sums propagate every NaN and infinity
    if not bool(torch.isfinite(values.sum(0)).all()):
        _raise_for_row(values, rows, view)
    return values


class RescaledVectors:
    """Vectors multiplied by a power of two, which changes no digit of them."""

    def __init__(self, vectors: Vectors, factor: float):
        self.vectors, self.factor, self.shape = vectors, factor, vectors.shape

    def __getitem__(self, rows: slice | np.ndarray) -> Tensor:
        return as_tensor(self.vectors[rows], "").double() * self.factor


def rescaled(vectors: Vectors, view: str) -> Vectors:
    """The vectors, multiplied by a power of two if their squares could overflow or underflow in float64.

    For indexes that are invariant to isotropic scaling of either side. Numbers of 32 bits or fewer are never too large.
    """
    n, _ = check_shape(vectors, view)
    if as_tensor(vectors[:1], view).dtype != torch.float64:
        return vectors
    largest = max(float(take(vectors, rows, view).abs().max()) for rows in spans(n))
    exponent = math.frexp(largest)[1]
    if abs(exponent) <= MAX_SAFE_EXPONENT:
        return vectors
    # in two steps where the factor itself would overflow
    halves = exponent // 2, exponent - exponent // 2
    return RescaledVectors(RescaledVectors(vectors, 2.0 ** -halves[0]), 2.0 ** -halves[1])


def row_norms(values: Tensor) -> Tensor:
    """The length of each row, (rows, 1), without overflow or underflow of the squares."""
    exponents = torch.frexp(values.abs().amax(1, keepdim=True)).exponent
    scales = torch.exp2(exponents.clamp(-1000, 1000).double())
    norms: Tensor = (values / scales).square().sum(1, keepdim=True).sqrt() * scales
    return norms


def spans(n: int, block: int = BLOCK_ROWS) -> Iterator[slice]:
    """The slices that cut `n` rows into blocks.

    >>> list(spans(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, n, block):
        yield slice(start, min(start + block, n))


def _raise_for_row(values: Tensor, rows: slice | np.ndarray, view: str) -> None:
    finite = torch.isfinite(values)
    if bool(finite.all()):
        raise UsageError(f"{view}: the values overflow when summed in float64")
    first = int((~finite.all(dim=1)).nonzero()[0])
    number = float(values[first][~finite[first]][0])
    row = int((rows.start or 0) + first) if isinstance(rows, slice) else int(rows[first])
    raise InvalidVectors(view, row, "NaN" if number != number else "an infinite value")
