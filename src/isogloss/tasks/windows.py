"""Sentences of words as windows of tokens: every word has a token, for any tokenizer and any length.

A sentence longer than the model is read in windows that overlap by a quarter. Each word is taken from the window in
which it is most central. A word without sub-words (for example a zero-width character) is represented by the token
before it; a word longer than a window is truncated, but keeps its first sub-word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from isogloss.core.registry import check_name
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import check_ids, max_text_tokens, padding_id, word_tokens
from isogloss.tasks.examples import Example, Ids

IntArray = npt.NDArray[np.int64]
WINDOW_OVERLAP_SHARE = 0.25  # share of a window that the next one repeats
SUBWORDS = ("first", "last")


def encode_sentences(model: LoadedModel, sentences: Sequence[Sequence[str]], subword: str = "first") -> list[Example]:
    """The windows of each sentence, and the arrays `window` and `position` of the token of each word.

    `subword="last"` is for causal models, in which the first sub-word does not attend to the others.
    """
    check_name(subword, SUBWORDS, "sub-word")
    examples = [
        _example(
            model, np.array(ids, dtype=np.int32), word_token_index(np.array(word, dtype=np.int64), number, subword)
        )
        for (ids, word), number in zip(word_tokens(model, sentences), map(len, sentences), strict=True)
    ]
    check_ids(model, [window for example in examples for window in example.windows])
    return examples


def add_arrays(example: Example, arrays: Mapping[str, Sequence[int]]) -> Example:
    """The example with more arrays, such as gold labels of its words."""
    added = {name: np.array(values, dtype=np.int64) for name, values in arrays.items()}
    return replace(example, arrays={**example.arrays, **added})


def word_token_index(word: IntArray, words: int, subword: str = "first") -> IntArray:
    """The token of each of `words` words, given the word of each token in order; -1: no token before it.

    >>> word_token_index(np.array([0, 0, 2, 2]), 4).tolist(), word_token_index(np.array([1]), 2, "last").tolist()
    ([0, 1, 2, 3], [-1, 0])
    """
    last = np.searchsorted(word, np.arange(words), side="right") - 1  # of the words so far
    return last if subword == "last" else np.minimum(np.searchsorted(word, np.arange(words)), last)


def window_starts(tokens: int, size: int, step: int) -> IntArray:
    """First tokens of windows of `size` tokens: as few as possible, at most `step` apart, evenly spaced.

    >>> window_starts(5, 8, 6).tolist(), window_starts(20, 8, 6).tolist()
    ([0], [0, 6, 12])
    """
    overflow = max(tokens - size, 0)
    steps = -(-overflow // step)
    return np.arange(steps + 1) * overflow // max(steps, 1)


def most_central(token: IntArray, starts: IntArray, size: int) -> IntArray:
    """The window in which each token is farthest from both ends.

    >>> most_central(np.array([0, 6, 7, 19]), np.array([0, 6, 12]), 8).tolist()
    [0, 0, 1, 2]
    """
    before, after = token - starts[:, None], starts[:, None] + size - 1 - token
    inside = (before >= 0) & (after >= 0)
    central: IntArray = np.where(inside, np.minimum(before, after), -1).argmax(0)
    return central


def _example(model: LoadedModel, ids: Ids, token: IntArray) -> Example:
    size = max_text_tokens(model)
    starts = window_starts(len(ids), size, size - int(size * WINDOW_OVERLAP_SHARE))
    window = most_central(np.maximum(token, 0), starts, size)
    position = np.maximum(token - starts[window] + len(model.prefix), 0)
    windows = [np.array([*model.prefix, *ids[s : s + size], *model.suffix], dtype=np.int32) for s in starts]
    if not len(windows[0]):  # words without sub-words, and a model without special tokens
        windows = [np.array([padding_id(model)], dtype=np.int32)]
    return Example(tuple(windows), arrays={"window": window, "position": position})
