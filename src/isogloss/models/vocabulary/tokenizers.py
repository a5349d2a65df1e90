"""New pieces for WordPiece, BPE and unigram tokenizers, through their JSON serialisation.

The segmentation of a text stays the same, except that neighbouring old pieces may become one new piece: new merges of
BPE come after all old ones, and a new unigram piece scores just above the best segmentation of its text, so that it
replaces only that. WordPiece takes the longest known piece; there a new piece may also end where no old piece did.
"""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase

from isogloss.core.errors import UsageError
from isogloss.models.vocabulary.merges import MIN_PAIR_COUNT, frequent_pairs

TokenizerJson = dict[str, Any]  # the content of tokenizer.json
SPACE = "▁"
BYTE_TOKEN = re.compile("<0x[0-9A-F]{2}>")
MAX_SCORE_MARGIN = 0.5  # of the first new unigram piece over its parts; decreases to about 0 for the last


@dataclass(frozen=True)
class ExtendedTokenizer:
    """A tokenizer with new pieces in the order of their ids; `parts` are the old pieces of each."""

    tokenizer: PreTrainedTokenizerBase
    parts: dict[str, tuple[str, ...]]
    first: int  # the first new id


def extend_tokenizer(tokenizer: PreTrainedTokenizerBase, text: Iterable[str], size: int) -> ExtendedTokenizer:
    """A copy of the tokenizer with at most `size` new pieces for the words of `text`."""
    if not tokenizer.is_fast:
        raise UsageError("expected a fast tokenizer (package 'tokenizers'), got a slow one, which cannot be extended")
    form = json.loads(tokenizer.backend_tokenizer.to_str())
    kind = form["model"].get("type") or ("Unigram" if isinstance(form["model"]["vocab"], list) else "BPE")
    if kind not in BUILDERS:
        raise UsageError(f"expected a tokenizer of the kind {', '.join(BUILDERS)}, got {kind}")
    words = word_counts(tokenizer.backend_tokenizer, text)
    if not words:
        raise UsageError("there is no text to learn new sub-words from")
    first = max(tokenizer.get_vocab().values()) + 1
    builder = BUILDERS[kind](form, first)
    remaining = size - builder.add_characters(words, size)
    pairs = frequent_pairs(_segment_words(_from_json(form), words, builder), builder.joined)
    while remaining > 0 and (pair := next(pairs, None)):
        remaining -= builder.add(*pair)
    builder.finish()
    if not builder.parts:
        raise UsageError("no new sub-word: every frequent word of the text is already one piece")
    extended = copy.deepcopy(tokenizer)
    extended._tokenizer = _from_json(form)
    return ExtendedTokenizer(extended, builder.parts, first)


def word_counts(backend: Tokenizer, text: Iterable[str]) -> Counter[str]:
    """The pre-tokenised words of a text; if the tokenizer does not split sentences, they are split at spaces."""
    lines: Counter[str] = Counter()
    for line in text:
        clean = backend.normalizer.normalize_str(line) if backend.normalizer else line
        chunks = backend.pre_tokenizer.pre_tokenize_str(clean) if backend.pre_tokenizer else [(clean, None)]
        lines.update(chunk for chunk, _ in chunks)
    words: Counter[str] = Counter()
    for chunk, count in lines.items():
        begins = [0, *(i for i, c in enumerate(chunk) if i and c == SPACE and chunk[i - 1] != SPACE), len(chunk)]
        for begin, end in pairwise(begins):
            words[chunk[begin:end]] += count
    return words


def _segment_words(
    backend: Tokenizer, words: Counter[str], builder: TokenizerBuilder
) -> dict[tuple[str | None, ...], int]:
    segmented: Counter[tuple[str | None, ...]] = Counter()
    for word, count in words.items():
        tokens = backend.model.tokenize(word)
        segmented[tuple(None if token.id in builder.unknown else token.value for token in tokens)] += count
    return segmented


def _from_json(form: TokenizerJson) -> Tokenizer:
    return Tokenizer.from_str(json.dumps(form, ensure_ascii=False))


class TokenizerBuilder:
    """The JSON form of a tokenizer to which pieces are added; this class is for WordPiece."""

    def __init__(self, form: TokenizerJson, first: int):
        self.model, self.next = form["model"], first
        self.vocabulary: dict[str, int] = self.model["vocab"]
        self.parts: dict[str, tuple[str, ...]] = {}
        self.special_tokens = {token["content"] for token in form["added_tokens"]}
        self.prefix: str = self.model.get("continuing_subword_prefix") or ""
        # tokens for unknown characters: one for all, or one for each byte
        self.unknown = {number for piece, number in self.vocabulary.items() if BYTE_TOKEN.fullmatch(piece)}
        self.unknown |= {self.model.get("unk_id"), self.vocabulary.get(self.model.get("unk_token") or "")} - {None}

    def add_characters(self, words: Counter[str], limit: int) -> int:
        """Add unknown characters, the most frequent first, and return their number."""
        frequencies: Counter[str] = Counter()
        for word, count in words.items():
            for place, character in enumerate(word):
                frequencies[(self.prefix if place else "") + character] += count
        missing = [
            piece for piece, count in frequencies.items() if count >= MIN_PAIR_COUNT and not self.has_piece(piece)
        ]
        for piece in sorted(missing, key=lambda piece: (-frequencies[piece], piece))[:limit]:
            self.new(piece, ())
        return len(self.parts)

    def has_piece(self, piece: str) -> bool:
        return piece in self.vocabulary

    def new(self, piece: str, parts: tuple[str, ...]) -> None:
        self.vocabulary[piece] = self.next
        self.next += 1
        self.parts[piece] = parts

    def joined(self, left: str, right: str) -> str | None:
        """The merged piece; None for special tokens and for pieces that exist but are not used."""
        piece = left + right.removeprefix(self.prefix)
        return None if self.has_piece(piece) or {left, right} & self.special_tokens else piece

    def add(self, pair: tuple[str, str], piece: str) -> int:
        """Add a pair and return the number of new pieces."""
        self.new(piece, tuple(old for part in pair for old in self.parts.get(part, (part,))))
        return 1

    def finish(self) -> None:
        """Complete the tokenizer after the last piece."""


class BpeBuilder(TokenizerBuilder):
    """Adds each pair as the last merge; its piece may exist already."""

    def joined(self, left: str, right: str) -> str | None:
        return None if {left, right} & self.special_tokens else left + right.removeprefix(self.prefix)

    def add(self, pair: tuple[str, str], piece: str) -> int:
        merges = self.model["merges"]
        merges.append(" ".join(pair) if merges and isinstance(merges[0], str) else list(pair))
        return 0 if self.has_piece(piece) else super().add(pair, piece)


class UnigramBuilder(TokenizerBuilder):
    """The id of a piece is its index in the list; its score decides whether it is used."""

    def __init__(self, form: TokenizerJson, first: int):
        listed = form["model"]["vocab"]
        self.scores: dict[str, float] = dict(listed)
        self.lowest = min(self.scores.values())
        indexed = {**form, "model": {**form["model"], "vocab": {piece: i for i, (piece, _) in enumerate(listed)}}}
        super().__init__(indexed, first)
        self.listed = listed
        numbers = {token["id"]: token["content"] for token in form["added_tokens"]}
        for number in range(len(listed), first):  # ids of added tokens are not available for new pieces
            listed.append([numbers.get(number, f"<isogloss-unused-{number}>"), self.lowest])

    def add_characters(self, words: Counter[str], limit: int) -> int:
        number = super().add_characters(words, limit)
        self.scores |= dict.fromkeys(self.parts, self.lowest)
        self.listed += [[piece, self.lowest] for piece in self.parts]
        return number

    def finish(self) -> None:
        """Set scores in the order of the pieces, because a long piece may consist of other new pieces."""
        longest = max(map(len, self.scores))
        new_pieces = [piece for piece in self.parts if piece not in self.scores]
        for number, piece in enumerate(new_pieces):
            best = _best_score(piece, self.scores, min(longest, len(piece)), self.lowest)
            self.scores[piece] = best + MAX_SCORE_MARGIN * (1 - number / len(new_pieces))
            self.listed.append([piece, self.scores[piece]])


def _best_score(text: str, scores: dict[str, float], longest: int, lowest: float) -> float:
    """The score of the best segmentation of a text.

    >>> _best_score("abc", {"a": -1.0, "b": -1.0, "c": -1.0, "bc": -1.5}, 2, -9.0)
    -2.5
    """
    best = [0.0]
    for end in range(1, len(text) + 1):
        begins: Sequence[int] = range(max(0, end - longest), end)
        scores_of_cuts = [best[begin] + scores[text[begin:end]] for begin in begins if text[begin:end] in scores]
        best.append(max(scores_of_cuts, default=best[end - 1] + lowest - 10))
    return best[-1]


BUILDERS = {"WordPiece": TokenizerBuilder, "BPE": BpeBuilder, "Unigram": UnigramBuilder}
