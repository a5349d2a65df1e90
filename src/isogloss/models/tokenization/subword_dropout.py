"""Sub-word dropout: a tokenizer that randomly segments words into smaller pieces, for training only.

- BPE: each merge is skipped with probability p (Provilkov et al. 2020, "BPE-Dropout").
- WordPiece: in the search for the longest piece, each piece longer than a character is skipped with probability p
  (Hiraoka 2022, "MaxMatch-Dropout").
- Unigram: each piece longer than a character is removed from the lattice with probability p, and the best remaining
  path is taken: the same idea for a model without merges.

With p = 0 all three are the original tokenizer. The dropout of the `tokenizers` library for BPE cannot be seeded; here
the same seed gives the same pieces.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from tokenizers import Encoding, PreTokenizedString, Token
from transformers import PreTrainedTokenizerBase

from isogloss.core.errors import UsageError
from isogloss.core.seeds import Chance
from isogloss.models.loading.loaded_model import LoadedModel

Drop = Callable[[], bool]
Part = tuple[str, str]  # a piece of the vocabulary or UNKNOWN, and its text
Segmenter = Callable[[str, Drop], list[Part]]
ModelSpec = dict[str, Any]  # `model` in tokenizer.json
UNKNOWN = "\0"
UNKNOWN_PENALTY = 10.0  # below the least likely piece, as in SentencePiece


def with_subword_dropout(model: LoadedModel, probability: float, seed: int) -> LoadedModel:
    """The model with a tokenizer that drops pieces; the network is shared."""
    if not 0 <= probability < 1:
        raise UsageError(f"sub-word dropout: expected a probability from 0 to below 1, got {probability}")
    return replace(model, tokenizer=DroppingTokenizer(model.tokenizer, probability, seed, model.name))  # type: ignore[arg-type]


class DroppingTokenizer:
    """The normalisation and pre-tokenisation of a fast tokenizer with another segmentation of words.

    Other attributes are those of the tokenizer.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, probability: float, seed: int, name: str):
        if not getattr(tokenizer, "is_fast", False):
            raise UsageError(f"sub-word dropout needs a fast tokenizer, which '{name}' does not have")
        self._tokenizer, self._probability, self._seed = tokenizer, probability, seed
        model_spec = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
        kind = model_spec.get("type") or ("BPE" if "merges" in model_spec else "WordPiece")
        if kind not in SEGMENTERS:
            raise UsageError(
                f"sub-word dropout supports BPE, WordPiece and Unigram, not the tokenizer of '{name}' ({kind})"
            )
        vocabulary = model_spec["vocab"]
        self._ids = vocabulary if isinstance(vocabulary, dict) else {p: i for i, (p, _) in enumerate(vocabulary)}
        self._segment: Segmenter = SEGMENTERS[kind](model_spec)
        unknown = model_spec.get("unk_token")
        self._unknown = self._ids.get(unknown) if unknown else model_spec.get("unk_id")
        self._bytes = bool(model_spec.get("byte_fallback"))  # unknown characters are encoded as bytes
        self._fuses = kind == "Unigram" or bool(model_spec.get("fuse_unk"))

    def __getattr__(self, name: str) -> Any:  # of the tokenizer
        return getattr(self._tokenizer, name)

    def __call__(self, texts: Sequence[str], *, return_offsets_mapping: bool = False, **_: object) -> dict[str, list]:
        """Ids and offsets of the pieces of each text, without special tokens."""
        encodings = [self._encoded(text, Chance(self._seed, "sub-words", i, text)) for i, text in enumerate(texts)]
        result: dict[str, list] = {"input_ids": [encoding.ids for encoding in encodings]}
        if return_offsets_mapping:
            result["offset_mapping"] = [encoding.offsets for encoding in encodings]
        return result

    def _encoded(self, text: str, chance: Chance) -> Encoding:
        backend = self._tokenizer.backend_tokenizer
        parts = PreTokenizedString(text)
        if backend.normalizer:
            parts.normalize(lambda part: backend.normalizer.normalize(part))
        if backend.pre_tokenizer:
            backend.pre_tokenizer.pre_tokenize(parts)
        parts.tokenize(lambda word: self._tokens(word, lambda: chance.happens(self._probability)))
        return parts.to_encoding()

    def _tokens(self, word: str, drop: Drop) -> list[Token]:
        """The pieces of a word, with offsets in bytes."""
        tokens: list[Token] = []
        place, last = 0, 0  # last: the start of a run of unknown characters
        for piece, text in self._segment(word, drop) if word else []:
            end = place + len(text.encode())
            spelled = [f"<0x{byte:02X}>" for byte in text.encode()] if self._bytes and piece == UNKNOWN else [piece]
            if all(token in self._ids for token in spelled):
                tokens += [Token(self._ids[token], token, (place, end)) for token in spelled]
            elif self._unknown is not None:
                if self._fuses and tokens and tokens[-1].value == UNKNOWN:
                    tokens.pop()
                else:
                    last = place
                tokens.append(Token(self._unknown, UNKNOWN, (last, end)))
            place = end
        return tokens


def bpe(model_spec: ModelSpec) -> Segmenter:
    """Merges in the order of their ranks, each skipped at random."""
    merges = [tuple(merge.split(" ")) if isinstance(merge, str) else tuple(merge) for merge in model_spec["merges"]]
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    prefix, suffix = model_spec.get("continuing_subword_prefix") or "", model_spec.get("end_of_word_suffix") or ""
    vocabulary = model_spec["vocab"]
    keeps_known_words = bool(model_spec.get("ignore_merges"))  # a word in the vocabulary needs no merges

    def segment(word: str, drop: Drop) -> list[Part]:
        if keeps_known_words and word in vocabulary and not drop():
            return [(word, word)]
        symbols = [prefix + char if i else char for i, char in enumerate(word)]
        symbols[-1] += suffix
        parts = [
            (symbol if symbol in vocabulary else UNKNOWN, char) for symbol, char in zip(symbols, word, strict=True)
        ]
        while True:
            applicable = [(ranks[a[0], b[0]], i) for i, (a, b) in enumerate(pairwise(parts)) if (a[0], b[0]) in ranks]
            retained = [merge for merge in applicable if not drop()]
            if not retained:
                return parts
            i = min(retained)[1]
            (first, before), (second, after) = parts[i : i + 2]
            parts[i : i + 2] = [(first + second[len(prefix) :], before + after)]

    return segment


def wordpiece(model_spec: ModelSpec) -> Segmenter:
    """The longest matching piece from the left that is not dropped."""
    vocabulary, prefix = model_spec["vocab"], model_spec["continuing_subword_prefix"]
    longest = model_spec["max_input_chars_per_word"]

    def droppable(text: str, start: int) -> bool:
        return len(text) > 1 and all((prefix if start + i else "") + char in vocabulary for i, char in enumerate(text))

    def segment(word: str, drop: Drop) -> list[Part]:
        parts: list[Part] = []
        start = 0
        while start < len(word) <= longest:
            for end in range(len(word), start, -1):
                text = word[start:end]
                piece = (prefix if start else "") + text
                if piece in vocabulary and not (droppable(text, start) and drop()):
                    parts.append((piece, text))
                    start = end
                    break
            else:
                break
        return parts if start == len(word) else [(UNKNOWN, word)]

    return segment


def unigram(model_spec: ModelSpec) -> Segmenter:
    """The most likely segmentation into pieces that are not dropped."""
    scores = dict(map(tuple, model_spec["vocab"]))
    longest = max(map(len, scores))
    unlikely = min(scores.values()) - UNKNOWN_PENALTY

    def segment(word: str, drop: Drop) -> list[Part]:
        best: list[tuple[float, Part]] = [(0.0, ("", "")), *[(-math.inf, (UNKNOWN, ""))] * len(word)]
        for start in range(len(word)):
            for end in range(start + 1, min(len(word), start + longest) + 1):
                text = word[start:end]
                score = scores.get(text, unlikely if end == start + 1 else -math.inf)
                dropped = len(text) > 1 and text in scores and all(char in scores for char in text) and drop()
                if not dropped and best[start][0] + score > best[end][0]:
                    best[end] = (best[start][0] + score, (text if text in scores else UNKNOWN, text))
        parts: list[Part] = []
        end = len(word)
        while end:
            parts.append(best[end][1])
            end -= len(parts[-1][1])
        return parts[::-1]

    return segment


SEGMENTERS: dict[str, Callable[[ModelSpec], Segmenter]] = {"BPE": bpe, "WordPiece": wordpiece, "Unigram": unigram}
