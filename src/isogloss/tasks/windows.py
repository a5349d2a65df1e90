"""Sentences of words as windows of tokens: every word has its place, whatever the tokenizer and the length.

A sentence longer than the model is read in windows that overlap by a quarter; each word is taken from the one
where it is most central, that is, where the nearest cut is farthest. A word without sub-words (a zero-width
character, say) takes the token before it; a word longer than a window is cut by it, but keeps its first sub-word.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from isogloss.core.registry import check_name
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import check_ids, padding_id, room, word_tokens
from isogloss.tasks.examples import Example, Ids

IntArray = npt.NDArray[np.int64]
WINDOW_OVERLAP_SHARE = 0.25  # share of a window that the next one repeats
SUBWORDS = ("first", "last")


def encode_sentences(model: LoadedModel, sentences: Sequence[Sequence[str]], subword: str = "first") -> list[Example]:
    """Each sentence's windows, and the arrays `window` and `position`: where the token of each word is.

    `subword="last"` is for causal models, where the first sub-word has not seen the rest of its word.
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


def word_token_index(word: IntArray, words: int, subword: str = "first") -> IntArray:
    """The token of each of `words` words, given the word of each token in order; -1: no token so far.

    >>> word_token_index(np.array([0, 0, 2, 2]), 4).tolist(), word_token_index(np.array([1]), 2, "last").tolist()
    ([0, 1, 2, 3], [-1, 0])
    """
    last = np.searchsorted(word, np.arange(words), side="right") - 1  # of the words so far
    return last if subword == "last" else np.minimum(np.searchsorted(word, np.arange(words)), last)


def window_starts(tokens: int, size: int, step: int) -> IntArray:
    """Where windows of `size` tokens begin: as few as are at most `step` apart, evenly spread over all tokens.

    >>> window_starts(5, 8, 6).tolist(), window_starts(20, 8, 6).tolist()
    ([0], [0, 6, 12])
    """
    overflow = max(tokens - size, 0)
    steps = -(-overflow // step)
    return np.arange(steps + 1) * overflow // max(steps, 1)


def most_central(token: IntArray, starts: IntArray, size: int) -> IntArray:
    """The window of each token in which it is farthest from both ends; at the sentence's own ends there is but one.

    >>> most_central(np.array([0, 6, 7, 19]), np.array([0, 6, 12]), 8).tolist()
    [0, 0, 1, 2]
    """
    before, after = token - starts[:, None], starts[:, None] + size - 1 - token
    inside = (before >= 0) & (after >= 0)
    central: IntArray = np.where(inside, np.minimum(before, after), -1).argmax(0)
    return central


def _example(model: LoadedModel, ids: Ids, token: IntArray) -> Example:
    size = room(model)
    starts = window_starts(len(ids), size, size - int(size * WINDOW_OVERLAP_SHARE))
    window = most_central(np.maximum(token, 0), starts, size)
    position = np.maximum(token - starts[window] + len(model.prefix), 0)
    windows = [np.array([*model.prefix, *ids[s : s + size], *model.suffix], dtype=np.int32) for s in starts]
    if not len(windows[0]):  # words without sub-words, and a model without special tokens
        windows = [np.array([padding_id(model)], dtype=np.int32)]
    return Example(tuple(windows), arrays={"window": window, "position": position})
