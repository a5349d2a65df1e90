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
MAX_CACHED_CHARACTERS = (
    30_000_000  # characters of words that are kept: where nothing is written with spaces, a line is a word
)
WORD_LOCAL_NORMALIZERS = ("NoneType", "BertNormalizer", "NFC")  # none looks across a space


@dataclass(frozen=True)
class TokenIds:
    """The ids of several texts, one after the other, and how many each has."""

    ids: Ids
    sizes: IntArray


Encode = Callable[[Sequence[str]], TokenIds]


def text_encoder(tokenizer: Any) -> Encode:
    """A function from texts to their tokens, without special ones and uncut."""
    if not tokenizer.is_fast:
        return lambda texts: concatenate_ids(
            tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"]
        )
    compiled = tokenizer.backend_tokenizer

    def encode(texts: Sequence[str]) -> TokenIds:
        return concatenate_ids(
            encoding.ids for encoding in without_truncation(compiled).encode_batch_fast(texts, add_special_tokens=False)
        )

    return _CachedWordEncoder(encode) if tokenizes_by_word(compiled) else encode


def without_truncation(compiled: Any) -> Any:
    """The compiled tokenizer, without truncation or padding."""
    compiled.no_truncation()
    compiled.no_padding()
    return compiled


def concatenate_ids(lists: Iterable[list[int]]) -> TokenIds:
    """Lists of ids as arrays.

    >>> concatenate_ids([[5, 6], [], [7]]).sizes.tolist()
    [2, 0, 1]
    """
    rows = list(lists)
    sizes = np.fromiter(map(len, rows), np.int64, len(rows))
    return TokenIds(np.fromiter(chain.from_iterable(rows), np.int32, int(sizes.sum())), sizes)


def tokenizes_by_word(compiled: Any) -> bool:
    """Whether a text's tokens are those of its parts between spaces, one after the other."""
    return (
        type(compiled.pre_tokenizer).__name__ == "BertPreTokenizer"
        and type(compiled.normalizer).__name__ in WORD_LOCAL_NORMALIZERS
        and not any(" " in token.content for token in compiled.get_added_tokens_decoder().values())
    )


class _WordNumbers(dict[str, int]):
    """Numbers the words as they come, and keeps those that are new."""

    def __init__(self) -> None:
        self.new: list[str] = []

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        self.new.append(word)
        return number


@dataclass
class _CachedWordEncoder:
    """Tokens of texts from those of their words."""

    encode: Encode
    numbers: _WordNumbers = field(default_factory=_WordNumbers)
    word_ids: TokenIds = field(default_factory=lambda: concatenate_ids([]))
    characters: int = 0  # of the known words

    def __call__(self, texts: Sequence[str]) -> TokenIds:
        if self.characters > MAX_CACHED_CHARACTERS:
            self.numbers, self.word_ids, self.characters = _WordNumbers(), concatenate_ids([]), 0
        words = " ".join(texts).split(" ") if texts else []
        word_numbers = np.fromiter(map(self.numbers.__getitem__, words), np.int64, len(words))
        self._learn()
        sizes = self.word_ids.sizes[word_numbers]
        starts = np.cumsum(self.word_ids.sizes) - self.word_ids.sizes
        # the place of each token among the known ones: where its word starts there, and how far into the word it is
        positions = np.arange(sizes.sum()) + np.repeat(starts[word_numbers] - (np.cumsum(sizes) - sizes), sizes)
        word_ends = np.cumsum([text.count(" ") + 1 for text in texts], dtype=np.int64)
        ends = np.concatenate([[0], np.cumsum(sizes)])[np.concatenate([[0], word_ends])]
        return TokenIds(self.word_ids.ids[positions], np.diff(ends))

    def _learn(self) -> None:
        self.characters += sum(map(len, self.numbers.new))
        new, self.numbers.new = self.encode(self.numbers.new), []
        self.word_ids = TokenIds(
            np.concatenate([self.word_ids.ids, new.ids]), np.concatenate([self.word_ids.sizes, new.sizes])
        )
