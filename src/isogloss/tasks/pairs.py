"""Text pairs as one input, with the special tokens and segment ids of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import TEXTS_PER_CALL, check_texts, padding_id, tokenize
from isogloss.tasks.examples import Ids


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


def token_ids(model: LoadedModel, texts: Sequence[str]) -> list[list[int]]:
    """The token ids of each text, not truncated, without special tokens."""
    check_texts(texts)
    chunks = [texts[start : start + TEXTS_PER_CALL] for start in range(0, len(texts), TEXTS_PER_CALL)]
    return [ids for chunk in chunks for ids in tokenize(model, chunk)["input_ids"]]


def longest_first(first: int, second: int, max_tokens: int) -> tuple[int, int]:
    """The lengths to which two texts are truncated: the longer text first, until both have the same length.

    >>> longest_first(10, 3, 8), longest_first(10, 10, 9), longest_first(2, 3, 9)
    ((5, 3), (5, 4), (2, 3))
    """
    second_length = min(second, max(max_tokens - first, max_tokens // 2))
    return min(first, max_tokens - second_length), second_length
