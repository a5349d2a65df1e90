"""Text as token ids: the one place where special tokens are added, told apart and counted.

Sub-words are those of running text (words are joined by spaces), cut to the model's length and put between
the model's special tokens. `Encoded.word` numbers the word of each token; special tokens have `SPECIAL`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from isogloss.core.errors import InputError, UsageError, shown
from isogloss.models.loading.loaded_model import LoadedModel

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
    check_texts(sentences)
    encoded, cut = [], 0
    for start in range(0, len(sentences), CHUNK):
        for ids in tokenize(model, sentences[start : start + CHUNK])["input_ids"]:
            encoded.append(_framed(model, ids, [0] * len(ids)))
            cut += len(ids) > room(model)
    check_ids(model, [text.ids for text in encoded])
    _warn_of_cut(model, cut, len(sentences))
    return encoded


def encode_words(model: LoadedModel, sentences: Sequence[Sequence[str]]) -> list[Encoded]:
    """The tokens of each sentence of words. A word may get no token: it is empty, or beyond the cut.

    A token that spans several words belongs to the first, a space to the word that follows.
    """
    encoded, cut = [], 0
    for ids, word in word_tokens(model, sentences):
        encoded.append(_framed(model, ids, word))
        cut += len(ids) > room(model)
    check_ids(model, [text.ids for text in encoded])
    _warn_of_cut(model, cut, len(sentences))
    return encoded


def encode_pieces(model: LoadedModel, sentences: Sequence[Sequence[str]]) -> list[Encoded]:
    """Sentences of the tokenizer's own tokens (`["ch", "##at"]`), each a word of its own."""
    ids = model.tokenizer.get_vocab()
    for piece in (piece for pieces in sentences for piece in pieces if piece not in ids):
        raise UsageError(f"expected tokens of '{model.name}', got {shown(piece)}, which its tokenizer does not have")
    encoded = [_framed(model, [ids[piece] for piece in pieces], list(range(len(pieces)))) for pieces in sentences]
    check_ids(model, [text.ids for text in encoded])
    _warn_of_cut(model, sum(len(pieces) > room(model) for pieces in sentences), len(sentences))
    return encoded


def word_tokens(model: LoadedModel, sentences: Sequence[Sequence[str]]) -> Iterator[tuple[list[int], list[int]]]:
    """The sub-words of each sentence, uncut and without special tokens, and the word of each."""
    if not model.tokenizer.is_fast:
        raise UsageError(f"the tokenizer of '{model.name}' cannot say which word a token belongs to")
    if any(isinstance(words, str) for words in sentences):
        raise UsageError("expected sentences as lists of words, got a string; split it first")
    texts = [" ".join(words) for words in sentences]
    check_texts(texts)
    for start in range(0, len(sentences), CHUNK):
        tokens = tokenize(model, texts[start : start + CHUNK], offsets=True)
        for words, ids, offsets in zip(sentences[start:], tokens["input_ids"], tokens["offset_mapping"]):
            at = _word_at(words)
            numbers = (at[min(low, len(at) - 1)] for low, _ in offsets)  # some trim a last space to beyond the end
            yield ids, list(accumulate(numbers, max))  # and some point back, which words do not


def tokenize(model: LoadedModel, texts: Sequence[str], offsets: bool = False) -> dict[str, list]:
    """What the tokenizer makes of each text, uncut and without special tokens: `input_ids`, `offset_mapping`."""
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
    space = room(model)
    before, after = [SPECIAL] * len(model.prefix), [SPECIAL] * len(model.suffix)
    return Encoded(
        np.array([*model.prefix, *ids[:space], *model.suffix], dtype=np.int32),
        np.array([*before, *word[:space], *after], dtype=np.int32),
    )


def room(model: LoadedModel) -> int:
    """How many tokens of text fit between the special ones."""
    return model.max_length - len(model.prefix) - len(model.suffix)


def _word_at(words: Sequence[str]) -> list[int]:
    """For each character of the joined words and for their end, the word; a space belongs to the next word.

    >>> _word_at(["a", "bc"])
    [0, 1, 1, 1, 1]
    """
    at = [number for number, word in enumerate(words) for _ in range(len(word) + (number > 0))]
    return [*at, len(words) - 1]


def padding_id(model: LoadedModel) -> int:
    """What fills up a batch, hidden by the mask: some families count positions by it, some find the last token."""
    tokenizer = model.tokenizer
    known = [id for id in (tokenizer.pad_token_id, tokenizer.eos_token_id) if id is not None]
    return int(known[0]) if known else 0


def check_texts(texts: Sequence[str]) -> None:
    """An error unless these are several texts that a tokenizer can take."""
    if isinstance(texts, str):
        raise UsageError("expected a list of sentences, got one string; put it in a list")
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise UsageError(f"sentence {number}: expected a string, got {type(text).__name__}")
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise UsageError(f"sentence {number}: expected Unicode text, got a lone surrogate in {shown(text)}")


def check_ids(model: LoadedModel, texts: Sequence[npt.NDArray[np.int32]]) -> None:
    """An error if a token id has no embedding."""
    rows = len(model.body.get_input_embeddings().get_parameter("weight"))
    highest = max((int(ids.max()) for ids in texts if len(ids)), default=0)
    if highest >= rows:
        advice = "this tokenizer belongs to another model"
        raise InputError(model.name, f"token ids below {rows}, the size of the embeddings", f"{highest}", advice=advice)


def _warn_of_cut(model: LoadedModel, cut: int, total: int) -> None:
    if cut:
        warnings.warn(
            f"{cut} of {total} sentences cut to {model.max_length} tokens, the longest input of '{model.name}'",
            stacklevel=3,
        )
