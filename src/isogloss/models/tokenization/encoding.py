"""Text as token ids: the only module that adds and identifies special tokens.

Sub-words are those of running text (words are joined by spaces), truncated to the maximum length and put between the
special tokens of the model. `Encoded.word` is the number of each token's word; special tokens have `SPECIAL_TOKEN`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from isogloss.core.errors import InputError, UsageError, shown
from isogloss.models.loading.loaded_model import LoadedModel

SPECIAL_TOKEN = -1
TEXTS_PER_CALL = 4096  # limits the memory of the tokenizer's output


@dataclass(frozen=True)
class Encoded:
    """One text: its token ids, and the word number of each token (0 for unsplit sentences) or `SPECIAL_TOKEN`."""

    ids: npt.NDArray[np.int32]
    word: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.ids)


def encode_sentences(model: LoadedModel, sentences: Sequence[str]) -> list[Encoded]:
    """The tokens of each sentence; one warning counts the truncated sentences."""
    check_texts(sentences)
    calls = (sentences[start : start + TEXTS_PER_CALL] for start in range(0, len(sentences), TEXTS_PER_CALL))
    texts = (ids for call in calls for ids in tokenize(model, call)["input_ids"])
    return _with_special_tokens(model, ((ids, [0] * len(ids)) for ids in texts))


def encode_words(model: LoadedModel, sentences: Sequence[Sequence[str]]) -> list[Encoded]:
    """The tokens of each sentence of words. An empty or truncated word has no token.

    A token that spans several words belongs to the first, a space to the next word.
    """
    return _with_special_tokens(model, word_tokens(model, sentences))


def encode_pieces(model: LoadedModel, sentences: Sequence[Sequence[str]]) -> list[Encoded]:
    """Sentences given as tokens of the tokenizer (`["ch", "##at"]`); each token counts as a word."""
    ids = model.tokenizer.get_vocab()
    for piece in (piece for pieces in sentences for piece in pieces if piece not in ids):
        raise UsageError(f"expected tokens of '{model.name}', got {shown(piece)}, which its tokenizer does not have")
    texts = (([ids[piece] for piece in pieces], list(range(len(pieces)))) for pieces in sentences)
    return _with_special_tokens(model, texts)


def word_tokens(model: LoadedModel, sentences: Sequence[Sequence[str]]) -> Iterator[tuple[list[int], list[int]]]:
    """The sub-words of each sentence, without truncation and special tokens, and the word number of each."""
    if not model.tokenizer.is_fast:
        raise UsageError(f"the tokenizer of '{model.name}' does not report which word a token belongs to")
    if any(isinstance(words, str) for words in sentences):
        raise UsageError("expected sentences as lists of words, got a string; split it first")
    texts = [" ".join(words) for words in sentences]
    check_texts(texts)
    for start in range(0, len(sentences), TEXTS_PER_CALL):
        tokens = tokenize(model, texts[start : start + TEXTS_PER_CALL], offsets=True)
        for words, ids, offsets in zip(sentences[start:], tokens["input_ids"], tokens["offset_mapping"]):
            word_of_character = _word_of_each_character(words)
            # some tokenizers report an offset after the end, and some offsets decrease, which word numbers must not
            numbers = (word_of_character[min(low, len(word_of_character) - 1)] for low, _ in offsets)
            yield ids, list(accumulate(numbers, max))


def tokenize(model: LoadedModel, texts: Sequence[str], offsets: bool = False) -> dict[str, list]:
    """`input_ids` and `offset_mapping` of each text, without truncation and special tokens."""
    tokens: dict[str, list] = model.tokenizer(
        list(texts),
        add_special_tokens=False,
        return_attention_mask=False,
        return_token_type_ids=False,
        return_offsets_mapping=offsets,
        verbose=False,
    )
    return tokens


def _with_special_tokens(model: LoadedModel, texts: Iterable[tuple[list[int], list[int]]]) -> list[Encoded]:
    """The tokens and word numbers of each text, truncated, between special tokens."""
    capacity = max_text_tokens(model)
    before, after = [SPECIAL_TOKEN] * len(model.prefix), [SPECIAL_TOKEN] * len(model.suffix)
    encoded, truncated = [], 0
    for ids, word in texts:
        tokens = np.array([*model.prefix, *ids[:capacity], *model.suffix], dtype=np.int32)
        encoded.append(Encoded(tokens, np.array([*before, *word[:capacity], *after], dtype=np.int32)))
        truncated += len(ids) > capacity
    check_ids(model, [text.ids for text in encoded])
    if truncated:
        total, limit = len(encoded), f"{model.max_length} tokens, the maximum of '{model.name}'"
        warnings.warn(f"{truncated} of {total} sentences truncated to {limit}", stacklevel=3)
    return encoded


def max_text_tokens(model: LoadedModel) -> int:
    """The maximum number of tokens of a text, special tokens excluded."""
    return model.max_length - len(model.prefix) - len(model.suffix)


def _word_of_each_character(words: Sequence[str]) -> list[int]:
    """The word number of each character of the joined words and of their end; a space belongs to the next word.

    >>> _word_of_each_character(["a", "bc"])
    [0, 1, 1, 1, 1]
    """
    word_numbers = [number for number, word in enumerate(words) for _ in range(len(word) + (number > 0))]
    return [*word_numbers, len(words) - 1]


def padding_id(model: LoadedModel) -> int:
    """The id for padding; some families compute positions from it, some find the last token by it."""
    tokenizer = model.tokenizer
    candidates = [id for id in (tokenizer.pad_token_id, tokenizer.eos_token_id) if id is not None]
    return int(candidates[0]) if candidates else 0


def check_texts(texts: Sequence[str]) -> None:
    """Raise an error unless the texts are a list of strings that a tokenizer accepts."""
    if isinstance(texts, str):
        raise UsageError("expected a list of sentences, got one string; put it in a list")
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise UsageError(f"sentence {number}: expected a string, got {type(text).__name__}")
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise UsageError(f"sentence {number}: expected Unicode text, got a lone surrogate in {shown(text)}")


def check_ids(model: LoadedModel, texts: Sequence[npt.NDArray[np.int32]]) -> None:
    """Raise an error if a token id has no embedding."""
    rows = len(model.body.get_input_embeddings().get_parameter("weight"))
    highest = max((int(ids.max()) for ids in texts if len(ids)), default=0)
    if highest >= rows:
        advice = "this tokenizer belongs to another model"
        raise InputError(model.name, f"token ids below {rows}, the size of the embeddings", f"{highest}", advice=advice)
