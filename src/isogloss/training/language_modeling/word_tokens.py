"""Texts as token ids; where a tokenizer splits at spaces first, each word is tokenized once and then looked up.

A tokenizer with BERT's pre-tokenizer never joins characters across a space, so the tokens of a text are those of its
words. Most words are repeated: looking them up takes a fraction of the time of tokenizing them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase

from isogloss.models.tokenization.batching import IntArray

Ids = npt.NDArray[np.int32]
MAX_CACHED_CHARACTERS = 30_000_000  # of all cached words; in scripts without spaces, a whole line counts as a word
WORD_LOCAL_NORMALIZERS = ("NoneType", "BertNormalizer", "NFC")  # their result never depends on text across a space


@dataclass(frozen=True)
class TokenIds:
    """The concatenated ids of several texts, and the number of ids of each."""

    ids: Ids
    sizes: IntArray


Encode = Callable[[Sequence[str]], TokenIds]


def text_encoder(tokenizer: PreTrainedTokenizerBase) -> Encode:
    """A function from texts to their token ids, without special tokens and without truncation."""
    if not tokenizer.is_fast:
        return lambda texts: concatenate_ids(
            tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"]
        )
    backend: Tokenizer = tokenizer.backend_tokenizer

    def encode(texts: Sequence[str]) -> TokenIds:
        encodings = without_truncation(backend).encode_batch_fast(texts, add_special_tokens=False)
        return concatenate_ids(encoding.ids for encoding in encodings)

    return _CachedWordEncoder(encode) if tokenizes_by_word(backend) else encode


def without_truncation(backend: Tokenizer) -> Tokenizer:
    """The tokenizer with truncation and padding switched off."""
    backend.no_truncation()
    backend.no_padding()
    return backend


def concatenate_ids(lists: Iterable[list[int]]) -> TokenIds:
    """Lists of ids as arrays.

    >>> concatenate_ids([[5, 6], [], [7]]).sizes.tolist()
    [2, 0, 1]
    """
    rows = list(lists)
    sizes = np.fromiter(map(len, rows), np.int64, len(rows))
    return TokenIds(np.fromiter(chain.from_iterable(rows), np.int32, int(sizes.sum())), sizes)


def tokenizes_by_word(backend: Tokenizer) -> bool:
    """Whether the tokens of a text are the concatenated tokens of its parts between spaces."""
    return (
        type(backend.pre_tokenizer).__name__ == "BertPreTokenizer"
        and type(backend.normalizer).__name__ in WORD_LOCAL_NORMALIZERS
        and not any(" " in token.content for token in backend.get_added_tokens_decoder().values())
    )


class _WordNumbers(dict[str, int]):
    """Numbers words in order of their first lookup; `new` lists those that are not tokenized yet."""

    def __init__(self) -> None:
        self.new: list[str] = []

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        self.new.append(word)
        return number


@dataclass
class _CachedWordEncoder:
    """Encodes texts from the cached token ids of their words."""

    encode: Encode
    numbers: _WordNumbers = field(default_factory=_WordNumbers)
    word_ids: TokenIds = field(default_factory=lambda: concatenate_ids([]))
    characters: int = 0  # of all cached words

    def __call__(self, texts: Sequence[str]) -> TokenIds:
        if self.characters > MAX_CACHED_CHARACTERS:
            self.numbers, self.word_ids, self.characters = _WordNumbers(), concatenate_ids([]), 0
        words = " ".join(texts).split(" ") if texts else []
        word_numbers = np.fromiter(map(self.numbers.__getitem__, words), np.int64, len(words))
        self._encode_new_words()
        sizes = self.word_ids.sizes[word_numbers]
        starts = np.cumsum(self.word_ids.sizes) - self.word_ids.sizes
        # position of each token in the cache: start of its word there, plus its offset within the word
        positions = np.arange(sizes.sum()) + np.repeat(starts[word_numbers] - (np.cumsum(sizes) - sizes), sizes)
        word_ends = np.cumsum([text.count(" ") + 1 for text in texts], dtype=np.int64)
        ends = np.concatenate([[0], np.cumsum(sizes)])[np.concatenate([[0], word_ends])]
        return TokenIds(self.word_ids.ids[positions], np.diff(ends))

    def _encode_new_words(self) -> None:
        cached, new = self.word_ids, self.encode(self.numbers.new)
        self.word_ids = TokenIds(np.concatenate([cached.ids, new.ids]), np.concatenate([cached.sizes, new.sizes]))
        self.characters += sum(map(len, self.numbers.new))
        self.numbers.new = []
