"""Texts as token ids, one after the other; each word is tokenized once where a tokenizer knows no more than words.

BERT's kind cuts text at every space before it looks for pieces, so that a text's tokens are those of its words. Text
repeats its words: looking them up takes a fraction of the time of tokenizing them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.models.tokenization.batching import IntArray

Ids = npt.NDArray[np.int32]
MOST = 30_000_000  # characters of words that are kept: where nothing is written with spaces, a line is a word
NORMALIZERS = ("NoneType", "BertNormalizer", "NFC")  # none looks across a space


@dataclass(frozen=True)
class Tokens:
    """The ids of several texts, one after the other, and how many each has."""

    ids: Ids
    sizes: IntArray


Encode = Callable[[Sequence[str]], Tokens]


def encoder(tokenizer: Any) -> Encode:
    """A function from texts to their tokens, without special ones and uncut."""
    if not tokenizer.is_fast:
        return lambda texts: gathered(tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"])
    compiled = tokenizer.backend_tokenizer

    def encode(texts: Sequence[str]) -> Tokens:
        return gathered(encoding.ids for encoding in uncut(compiled).encode_batch_fast(texts, add_special_tokens=False))

    return _WordByWord(encode) if knows_words_only(compiled) else encode


def uncut(compiled: Any) -> Any:
    """The compiled tokenizer, without truncation or padding."""
    compiled.no_truncation()
    compiled.no_padding()
    return compiled


def gathered(lists: Iterable[list[int]]) -> Tokens:
    """Lists of ids as arrays.

    >>> gathered([[5, 6], [], [7]]).sizes.tolist()
    [2, 0, 1]
    """
    kept = list(lists)
    sizes = np.fromiter(map(len, kept), np.int64, len(kept))
    return Tokens(np.fromiter(chain.from_iterable(kept), np.int32, int(sizes.sum())), sizes)


def knows_words_only(compiled: Any) -> bool:
    """Whether a text's tokens are those of its parts between spaces, one after the other."""
    return (
        type(compiled.pre_tokenizer).__name__ == "BertPreTokenizer"
        and type(compiled.normalizer).__name__ in NORMALIZERS
        and not any(" " in token.content for token in compiled.get_added_tokens_decoder().values())
    )


class _Numbers(dict[str, int]):
    """Numbers the words as they come, and keeps those that are new."""

    def __init__(self) -> None:
        self.new: list[str] = []

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        self.new.append(word)
        return number


@dataclass
class _WordByWord:
    """Tokens of texts from those of their words."""

    encode: Encode
    numbers: _Numbers = field(default_factory=_Numbers)
    known: Tokens = field(default_factory=lambda: gathered([]))
    characters: int = 0  # of the known words

    def __call__(self, texts: Sequence[str]) -> Tokens:
        if self.characters > MOST:
            self.numbers, self.known, self.characters = _Numbers(), gathered([]), 0
        words = " ".join(texts).split(" ") if texts else []
        found = np.fromiter(map(self.numbers.__getitem__, words), np.int64, len(words))
        self._learn()
        sizes = self.known.sizes[found]
        starts = np.cumsum(self.known.sizes) - self.known.sizes
        # the place of each token among the known ones: where its word starts there, and how far into the word it is
        places = np.arange(sizes.sum()) + np.repeat(starts[found] - (np.cumsum(sizes) - sizes), sizes)
        last = np.cumsum([text.count(" ") + 1 for text in texts], dtype=np.int64)
        ends = np.concatenate([[0], np.cumsum(sizes)])[np.concatenate([[0], last])]
        return Tokens(self.known.ids[places], np.diff(ends))

    def _learn(self) -> None:
        self.characters += sum(map(len, self.numbers.new))
        new, self.numbers.new = self.encode(self.numbers.new), []
        self.known = Tokens(np.concatenate([self.known.ids, new.ids]), np.concatenate([self.known.sizes, new.sizes]))
