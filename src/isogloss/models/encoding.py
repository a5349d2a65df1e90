"""Text as token ids: the one place where special tokens are added, told apart and counted.

Sub-words are those of running text (words are joined by spaces), cut to the model's length and put between
the model's special tokens. `Encoded.word` numbers the word of each token; special tokens have `SPECIAL`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from isogloss.core.errors import InputError, UsageError, shown
from isogloss.models.load import LoadedModel

IntArray = npt.NDArray[np.int64]
SPECIAL = -1
CHUNK = 4096  # texts per call of the tokenizer, whose own records are large


@dataclass(frozen=True)
class Encoded:
    """One text: its token ids, and for each token its word (sentences without words: 0) or `SPECIAL`."""

    ids: npt.NDArray[np.int32]
    word: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.ids)


def encode_sentences(model: LoadedModel, sentences: Sequence[str]) -> list[Encoded]:
    """The tokens of each sentence; sentences that had to be cut are counted in one warning."""
    _check_texts(sentences)
    encoded, cut = [], 0
    for start in range(0, len(sentences), CHUNK):
        for ids in _tokenize(model, sentences[start : start + CHUNK])["input_ids"]:
            encoded.append(_framed(model, ids, [0] * len(ids)))
            cut += len(ids) > _room(model)
    _check_ids(model, encoded)
    _warn_of_cut(model, cut, len(sentences))
    return encoded


def encode_words(model: LoadedModel, sentences: Sequence[Sequence[str]]) -> list[Encoded]:
    """The tokens of each sentence of words. A word may get no token: it is empty, or beyond the cut.

    A token that spans several words belongs to the first, a space to the word that follows.
    """
    if not model.tokenizer.is_fast:
        raise UsageError(f"the tokenizer of '{model.name}' cannot say which word a token belongs to")
    if any(isinstance(words, str) for words in sentences):
        raise UsageError("expected sentences as lists of words, got a string; split it first")
    texts = [" ".join(words) for words in sentences]
    _check_texts(texts)
    encoded, cut = [], 0
    for start in range(0, len(sentences), CHUNK):
        tokens = _tokenize(model, texts[start : start + CHUNK], offsets=True)
        for words, ids, offsets in zip(sentences[start:], tokens["input_ids"], tokens["offset_mapping"]):
            at = _word_at(words)
            encoded.append(_framed(model, ids, [at[low] for low, _ in offsets]))
            cut += len(ids) > _room(model)
    _check_ids(model, encoded)
    _warn_of_cut(model, cut, len(sentences))
    return encoded


def _tokenize(model: LoadedModel, texts: Sequence[str], offsets: bool = False) -> dict[str, list]:
    tokens: dict[str, list] = model.tokenizer(
        list(texts),
        add_special_tokens=False,
        return_attention_mask=False,
        return_token_type_ids=False,
        return_offsets_mapping=offsets,
        verbose=False,
    )
    return tokens


def _framed(model: LoadedModel, ids: list[int], word: list[int]) -> Encoded:
    room = _room(model)
    before, after = [SPECIAL] * len(model.prefix), [SPECIAL] * len(model.suffix)
    return Encoded(
        np.array([*model.prefix, *ids[:room], *model.suffix], dtype=np.int32),
        np.array([*before, *word[:room], *after], dtype=np.int32),
    )


def _room(model: LoadedModel) -> int:
    return model.max_length - len(model.prefix) - len(model.suffix)


def _word_at(words: Sequence[str]) -> list[int]:
    """For each character of the joined words, the word it belongs to; a space belongs to the next word.

    >>> _word_at(["a", "bc"])
    [0, 1, 1, 1]
    """
    at = [number for number, word in enumerate(words) for _ in range(len(word) + (number > 0))]
    return at or [SPECIAL]


def _check_texts(texts: Sequence[str]) -> None:
    if isinstance(texts, str):
        raise UsageError("expected a list of sentences, got one string; put it in a list")
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise UsageError(f"sentence {number}: expected a string, got {type(text).__name__}")
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise UsageError(f"sentence {number}: expected Unicode text, got a lone surrogate in {shown(text)}")


def _check_ids(model: LoadedModel, encoded: Sequence[Encoded]) -> None:
    rows = model.body.get_input_embeddings().num_embeddings  # type: ignore[operator]
    highest = max((int(text.ids.max()) for text in encoded if len(text)), default=0)
    if highest >= rows:
        advice = "this tokenizer belongs to another model"
        raise InputError(model.name, f"token ids below {rows}, the size of the embeddings", f"{highest}", advice=advice)


def _warn_of_cut(model: LoadedModel, cut: int, total: int) -> None:
    if cut:
        warnings.warn(
            f"{cut} of {total} sentences cut to {model.max_length} tokens, the longest input of '{model.name}'",
            stacklevel=3,
        )
