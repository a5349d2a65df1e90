"""Spans of a text in tokens and in characters, and the best-scored spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import Tensor
from torch.nn import functional

from isogloss.core.errors import UsageError
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import TEXTS_PER_CALL, check_texts, tokenize

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TokenSpans:
    """A text's tokens, and the characters `low` … `high - 1` of each.

    The bounds exclude spaces, so that a span of tokens neither begins nor ends with one.
    """

    ids: list[int]
    low: IntArray
    high: IntArray

    def tokens(self, start: int, stop: int) -> tuple[int, int]:
        """The first and the last token that share characters with `start` … `stop - 1`; crossed if there is none.

        >>> TokenSpans([7, 8, 9], np.array([0, 4, 8]), np.array([3, 7, 9])).tokens(5, 9)
        (1, 2)
        """
        first, last = np.searchsorted(self.high, start, side="right"), np.searchsorted(self.low, stop) - 1
        return int(first), int(last)


def token_spans(model: LoadedModel, texts: Sequence[str]) -> Iterator[TokenSpans]:
    """The tokens of each text, not truncated, without special tokens, with their characters."""
    if not model.tokenizer.is_fast:
        raise UsageError(f"the tokenizer of '{model.name}' does not give the position of tokens in the text")
    check_texts(texts)
    for start in range(0, len(texts), TEXTS_PER_CALL):
        tokens = tokenize(model, texts[start : start + TEXTS_PER_CALL], offsets=True)
        for text, ids, offsets in zip(texts[start:], tokens["input_ids"], tokens["offset_mapping"]):
            bounds = np.maximum.accumulate(np.array(offsets, dtype=np.int64).reshape(-1, 2))  # some point back
            forward, backward = _past_spaces(text)
            yield TokenSpans(ids, forward[bounds[:, 0]], backward[bounds[:, 1]])


def best_spans(start: Tensor, end: Tensor, n: int, max_length: int) -> tuple[Tensor, Tensor, Tensor]:
    """The `n` best spans of at most `max_length` tokens in each row, by `start[row, first] + end[row, last]`.

    Returns the sums, the first tokens and the last ones, best first; -inf excludes a token. The search is
    exhaustive: the table of all spans is small, because they are short.

    >>> import torch
    >>> sums, first, last = best_spans(torch.tensor([[1.0, 3.0]]), torch.tensor([[5.0, 1.0]]), n=2, max_length=2)
    >>> sums.tolist(), first.tolist(), last.tolist()
    ([[6.0, 4.0]], [[0, 1]], [[0, 1]])
    """
    ends = functional.pad(end, (0, max_length - 1), value=float("-inf")).unfold(1, max_length, 1)
    sums, index = (start[:, :, None] + ends).flatten(1).topk(min(n, start.shape[1] * max_length))
    first = index // max_length
    return sums, first, first + index % max_length


def _past_spaces(text: str) -> tuple[IntArray, IntArray]:
    """For each position in a text, the next non-space character, and the end of the last one before it.

    >>> [places.tolist() for places in _past_spaces("a  b")]
    [[0, 3, 3, 3, 4], [0, 1, 1, 1, 4]]
    """
    places = np.arange(len(text) + 1)
    space = np.array([character.isspace() for character in text], dtype=bool)
    forward = np.minimum.accumulate(np.append(np.where(space, len(text), places[:-1]), len(text))[::-1])[::-1]
    backward = np.maximum.accumulate(np.append(0, np.where(space, 0, places[1:])))
    return forward, backward
