"""Texts as tokens: text pairs as one input, positions of tokens in the text, and the best-scored spans of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import Tensor
from torch.nn import functional

from isogloss.core.errors import UsageError
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import TEXTS_PER_CALL, check_texts, padding_id, tokenize
from isogloss.tasks.examples import Ids

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PairFrame:
    """The special tokens around two texts.

    >>> PairFrame((101,), (102,), (102,), pad_token_id=0, has_segments=True).size
    3
    """

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    pad_token_id: int
    has_segments: bool  # the model has segment embeddings

    @property
    def size(self) -> int:
        return len(self.before) + len(self.between) + len(self.after)

    def join(self, first: Sequence[int], second: Sequence[int]) -> Ids:
        """The ids of one input; a single padding token if it would be empty (no special tokens, no text)."""
        ids = [*self.before, *first, *self.between, *second, *self.after]
        return np.array(ids or [self.pad_token_id], dtype=np.int32)

    def segments(self, first: Sequence[int], second: Sequence[int]) -> tuple[Ids, ...]:
        """Segment ids: 0 for the first text and the separator, 1 for the second text; () without segments."""
        if not self.has_segments:
            return ()
        sizes = [len(self.before) + len(first) + len(self.between), len(second) + len(self.after)]
        return (np.repeat(np.array([0, 1], dtype=np.int32), sizes),)


def pair_frame(model: LoadedModel) -> PairFrame:
    """The special tokens that the tokenizer adds to a pair; as separator its end token if it adds none."""
    tokenizer = model.tokenizer
    single = tokenizer("a", add_special_tokens=False)["input_ids"]
    pair = tokenizer("a", "a", return_token_type_ids=True)
    pair_ids = pair["input_ids"]
    places = [i for i in range(len(pair_ids)) if pair_ids[i : i + len(single)] == single]
    between = pair_ids[places[0] + len(single) : places[-1]] if len(places) > 1 else []
    separators = [id for id in (tokenizer.sep_token_id, tokenizer.eos_token_id) if id is not None]
    segmented = 1 in pair["token_type_ids"] and getattr(model.body.config, "type_vocab_size", 0) > 1
    return PairFrame(model.prefix, tuple(between or separators[:1]), model.suffix, padding_id(model), segmented)


def longest_first(first: int, second: int, max_tokens: int) -> tuple[int, int]:
    """The lengths to which two texts are truncated: the longer text first, until both have the same length.

    >>> longest_first(10, 3, 8), longest_first(10, 10, 9), longest_first(2, 3, 9)
    ((5, 3), (5, 4), (2, 3))
    """
    second_length = min(second, max(max_tokens - first, max_tokens // 2))
    return min(first, max_tokens - second_length), second_length


def token_ids(model: LoadedModel, texts: Sequence[str]) -> list[list[int]]:
    """The token ids of each text, not truncated, without special tokens."""
    return [ids for chunk in _chunks(texts) for ids in tokenize(model, chunk)["input_ids"]]


def _chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    check_texts(texts)
    for start in range(0, len(texts), TEXTS_PER_CALL):
        yield texts[start : start + TEXTS_PER_CALL]


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
    for chunk in _chunks(texts):
        tokens = tokenize(model, chunk, offsets=True)
        for text, ids, offsets in zip(chunk, tokens["input_ids"], tokens["offset_mapping"], strict=True):
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
