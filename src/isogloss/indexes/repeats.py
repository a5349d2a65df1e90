"""Repeated sentences: rows of X, and rows of Y, that are copies of the same sentence.

Parallel text repeats sentences (XNLI has every premise three times; "Thank you." has many translations). A copy of the
translation is as correct an answer as the translation. Copies are recognised by their text: their vectors may differ in
the last digits, because sentences are computed in different batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from isogloss.core.errors import UsageError
from isogloss.indexes.vectors import Vectors, as_tensor, spans


@dataclass(frozen=True, eq=False)
class Repeats:
    """A number for the sentence of each row of X and of Y; rows of one side with the same number are copies."""

    x: Tensor
    y: Tensor
    count: int  # rows of X plus rows of Y that repeat an earlier one

    def to(self, device: torch.device) -> Repeats:
        return Repeats(self.x.to(device), self.y.to(device), self.count)


def repeated_sentences(x: Sequence[str], y: Sequence[str]) -> Repeats:
    """The copies among the sentences of two parallel texts.

    >>> repeated_sentences(["Thanks.", "Thank you.", "No."], ["Merci.", "Merci.", "Non."]).count
    1
    """
    if len(x) != len(y):
        raise UsageError(f"the sentences of X and Y must be parallel, got {len(x)} and {len(y)}")
    return _numbered(x, y)


def repeated_rows(x: Vectors, y: Vectors) -> Repeats:
    """Where there is no text: rows with the same numbers in X and in Y are copies of one pair."""
    pairs: list[int] = []  # 64-bit hashes: rows take memory, and equal ones are few
    for rows in spans(int(x.shape[0])):
        sides = [as_tensor(vectors[rows], view).double().cpu().numpy() for vectors, view in ((x, "X"), (y, "Y"))]
        pairs += [hash((a.tobytes(), b.tobytes())) for a, b in zip(*sides, strict=True)]
    return _numbered(pairs, pairs)


def _numbered(x: Sequence[object], y: Sequence[object]) -> Repeats:
    sides = []
    for sentences in (x, y):
        numbers: dict[object, int] = {}
        sides.append(torch.tensor([numbers.setdefault(sentence, len(numbers)) for sentence in sentences]))
    distinct = sum(int(side.max()) + 1 for side in sides)
    return Repeats(sides[0], sides[1], len(x) + len(y) - distinct)
