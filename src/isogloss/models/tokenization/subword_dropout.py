"""BPE-dropout and its kin: a tokenizer that now and then cuts words into smaller pieces, for training only.

- BPE: each merge is skipped with the probability p (Provilkov et al. 2020, "BPE-Dropout").
- WordPiece: each piece longer than a character is passed over with the probability p while the longest is looked
  for (Hiraoka 2022, "MaxMatch-Dropout").
- Unigram: each piece longer than a character is left out of the lattice with the probability p, and the best path
  through the rest is taken: the same idea for a model that has no merges.

With p = 0 all three are the tokenizer itself. The `tokenizers` library has a dropout of its own for BPE, but draws from
a generator that cannot be seeded; here the same seed gives the same pieces.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from tokenizers import PreTokenizedString, Token

from isogloss.core.errors import UsageError
from isogloss.core.seeds import Chance
from isogloss.models.loading.loaded_model import LoadedModel

Drop = Callable[[], bool]
Part = tuple[str, str]  # a piece of the vocabulary, or UNKNOWN, and the text that it stands for
Cut = Callable[[str, Drop], list[Part]]
UNKNOWN = "\0"
UNKNOWN_PENALTY = 10.0  # below the least likely piece, as in SentencePiece


def with_subword_dropout(model: LoadedModel, probability: float, seed: int) -> LoadedModel:
    """The model with a tokenizer that drops pieces; weights and everything else are shared."""
    if not 0 <= probability < 1:
        raise UsageError(f"sub-word dropout: expected a probability from 0 to below 1, got {probability}")
    return replace(model, tokenizer=DroppingTokenizer(model.tokenizer, probability, seed, model.name))  # type: ignore[arg-type]


class DroppingTokenizer:
    """A fast tokenizer's own normalisation and words, cut anew; all else is asked of the tokenizer itself."""

    def __init__(self, tokenizer: Any, probability: float, seed: int, name: str):
        if not getattr(tokenizer, "is_fast", False):
            raise UsageError(f"sub-word dropout needs a fast tokenizer, which '{name}' does not have")
        self._tokenizer, self._probability, self._seed = tokenizer, probability, seed
        told = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
        kind = told.get("type") or ("BPE" if "merges" in told else "WordPiece")
        if kind not in CUTTERS:
            raise UsageError(
                f"sub-word dropout knows BPE, WordPiece and Unigram, not the tokenizer of '{name}' ({kind})"
            )
        vocabulary = told["vocab"]
        self._ids = vocabulary if isinstance(vocabulary, dict) else {p: i for i, (p, _) in enumerate(vocabulary)}
        self._cut: Cut = CUTTERS[kind](told)
        unknown = told.get("unk_token")
        self._unknown = self._ids.get(unknown) if unknown else told.get("unk_id")
        self._bytes = bool(told.get("byte_fallback"))  # unknown characters are spelt in bytes
        self._fuses = kind == "Unigram" or bool(told.get("fuse_unk"))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    def __call__(self, texts: Sequence[str], *, return_offsets_mapping: bool = False, **_: Any) -> dict[str, list[Any]]:
        """Ids and places of each text's pieces, without special tokens."""
        encodings = [self._encoded(text, Chance(self._seed, "sub-words", i, text)) for i, text in enumerate(texts)]
        result: dict[str, list[Any]] = {"input_ids": [one.ids for one in encodings]}
        if return_offsets_mapping:
            result["offset_mapping"] = [one.offsets for one in encodings]
        return result

    def _encoded(self, text: str, chance: Chance) -> Any:
        backend = self._tokenizer.backend_tokenizer
        parts = PreTokenizedString(text)
        if backend.normalizer:
            parts.normalize(lambda part: backend.normalizer.normalize(part))
        if backend.pre_tokenizer:
            backend.pre_tokenizer.pre_tokenize(parts)
        parts.tokenize(lambda word: self._tokens(word, lambda: chance.happens(self._probability)))
        return parts.to_encoding()

    def _tokens(self, word: str, drop: Drop) -> list[Token]:
        """A word's pieces, with their places counted in bytes."""
        tokens: list[Token] = []
        place, last = 0, 0  # last: where the last token is a run of unknown characters, its start
        for piece, text in self._cut(word, drop) if word else []:
            end = place + len(text.encode())
            spelt = [f"<0x{byte:02X}>" for byte in text.encode()] if self._bytes and piece == UNKNOWN else [piece]
            if all(one in self._ids for one in spelt):
                tokens += [Token(self._ids[one], one, (place, end)) for one in spelt]
            elif self._unknown is not None:
                if self._fuses and tokens and tokens[-1].value == UNKNOWN:
                    tokens.pop()
                else:
                    last = place
                tokens.append(Token(self._unknown, UNKNOWN, (last, end)))
            place = end
        return tokens


def bpe(told: dict[str, Any]) -> Cut:
    """Merges in the order of their ranks, each skipped now and then."""
    merges = [tuple(merge.split(" ")) if isinstance(merge, str) else tuple(merge) for merge in told["merges"]]
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    prefix, suffix = told.get("continuing_subword_prefix") or "", told.get("end_of_word_suffix") or ""
    vocabulary, whole = told["vocab"], bool(told.get("ignore_merges"))  # a word that is a piece needs no merges

    def cut(word: str, drop: Drop) -> list[Part]:
        if whole and word in vocabulary and not drop():
            return [(word, word)]
        symbols = [prefix + char if i else char for i, char in enumerate(word)]
        symbols[-1] += suffix
        parts = [
            (symbol if symbol in vocabulary else UNKNOWN, char) for symbol, char in zip(symbols, word, strict=True)
        ]
        while True:
            known = [(ranks[a[0], b[0]], i) for i, (a, b) in enumerate(pairwise(parts)) if (a[0], b[0]) in ranks]
            kept = [one for one in known if not drop()]
            if not kept:
                return parts
            i = min(kept)[1]
            (first, before), (second, after) = parts[i : i + 2]
            parts[i : i + 2] = [(first + second[len(prefix) :], before + after)]

    return cut


def wordpiece(told: dict[str, Any]) -> Cut:
    """The longest piece that fits, from the left, unless it is passed over."""
    vocabulary, prefix, longest = told["vocab"], told["continuing_subword_prefix"], told["max_input_chars_per_word"]

    def droppable(text: str, start: int) -> bool:
        return len(text) > 1 and all((prefix if start + i else "") + char in vocabulary for i, char in enumerate(text))

    def cut(word: str, drop: Drop) -> list[Part]:
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

    return cut


def unigram(told: dict[str, Any]) -> Cut:
    """The likeliest pieces out of those that are not left out."""
    scores = dict(map(tuple, told["vocab"]))
    longest = max(map(len, scores))
    unlikely = min(scores.values()) - UNKNOWN_PENALTY

    def cut(word: str, drop: Drop) -> list[Part]:
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

    return cut


CUTTERS: dict[str, Callable[[dict[str, Any]], Cut]] = {"BPE": bpe, "WordPiece": wordpiece, "Unigram": unigram}
