"""Tokenizers that learn new pieces: WordPiece, BPE and unigram, read and rewritten through their JSON form.

What was cut in one way before is cut in the same way afterwards, but that neighbouring old pieces may now be one new
piece: new merges of BPE come after all old ones, and a unigram's new piece scores just above the best way to cut it,
so that it wins against its own parts and against nothing else. WordPiece takes the longest piece it knows, and there
a new one may also end where no old piece did.
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

from isogloss.core.errors import UsageError
from isogloss.models.vocabulary.merges import LEAST, frequent_pairs

SPACE = "▁"
BYTE = re.compile("<0x[0-9A-F]{2}>")
MARGIN = 0.5  # how much the first new piece of a unigram scores above its parts; the last nothing to speak of


@dataclass(frozen=True)
class Grown:
    """A tokenizer with new pieces, in the order of their ids; `parts` are the old pieces that each is made of."""

    tokenizer: Any
    parts: dict[str, tuple[str, ...]]
    first: int  # the first new id


def grow(tokenizer: Any, text: Iterable[str], size: int) -> Grown:
    """A copy of the tokenizer with at most `size` pieces more for the words of `text`."""
    if not tokenizer.is_fast:
        raise UsageError("only tokenizers of the package 'tokenizers' can learn new pieces; this one is none")
    form = json.loads(tokenizer.backend_tokenizer.to_str())
    kind = form["model"].get("type") or ("Unigram" if isinstance(form["model"]["vocab"], list) else "BPE")
    if kind not in GROWING:
        raise UsageError(f"expected a tokenizer of the kind {', '.join(GROWING)}, got {kind}")
    words = word_counts(tokenizer.backend_tokenizer, text)
    if not words:
        raise UsageError("there is no text to learn new sub-words from")
    first = max(tokenizer.get_vocab().values()) + 1
    growing = GROWING[kind](form, first)
    room = size - growing.add_characters(words, size)
    pairs = frequent_pairs(_cut_words(_rebuilt(form), words, growing), growing.joined)
    while room > 0 and (found := next(pairs, None)):
        room -= growing.add(*found)
    growing.finish()
    if not growing.parts:
        raise UsageError("the text has nothing that the tokenizer would need a new sub-word for")
    return Grown(_with_backend(tokenizer, _rebuilt(form)), growing.parts, first)


def word_counts(backend: Tokenizer, text: Iterable[str]) -> Counter[str]:
    """The words of a text as the tokenizer's model gets them; where it gets sentences, they are cut at spaces."""
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


def _cut_words(backend: Tokenizer, words: Counter[str], growing: Growing) -> dict[tuple[str | None, ...], int]:
    cut: Counter[tuple[str | None, ...]] = Counter()
    for word, count in words.items():
        tokens = backend.model.tokenize(word)
        cut[tuple(None if token.id in growing.unknown else token.value for token in tokens)] += count
    return cut


def _rebuilt(form: dict[str, Any]) -> Tokenizer:
    return Tokenizer.from_str(json.dumps(form, ensure_ascii=False))


def _with_backend(tokenizer: Any, backend: Tokenizer) -> Any:
    grown = copy.deepcopy(tokenizer)
    grown._tokenizer = backend
    return grown


class Growing:
    """The JSON form of a tokenizer while it grows; a kind says how a piece is written and what else comes with it."""

    def __init__(self, form: dict[str, Any], first: int):
        self.model, self.next = form["model"], first
        self.vocabulary: dict[str, int] = self.model["vocab"]
        self.parts: dict[str, tuple[str, ...]] = {}
        self.marks = {token["content"] for token in form["added_tokens"]}
        self.prefix: str = self.model.get("continuing_subword_prefix") or ""
        # what stands for characters that are not known: a token for all, or one for each byte
        self.unknown = {number for piece, number in self.vocabulary.items() if BYTE.fullmatch(piece)}
        self.unknown |= {self.model.get("unk_id"), self.vocabulary.get(self.model.get("unk_token") or "")} - {None}

    def add_characters(self, words: Counter[str], most: int) -> int:
        """Take up the characters that the tokenizer does not know, the most frequent first; how many."""
        seen: Counter[str] = Counter()
        for word, count in words.items():
            for place, character in enumerate(word):
                seen[(self.prefix if place else "") + character] += count
        missing = [piece for piece, count in seen.items() if count >= LEAST and not self.knows(piece)]
        for piece in sorted(missing, key=lambda piece: (-seen[piece], piece))[:most]:
            self.new(piece, ())
        return len(self.parts)

    def knows(self, piece: str) -> bool:
        return piece in self.vocabulary

    def new(self, piece: str, parts: tuple[str, ...]) -> None:
        self.vocabulary[piece] = self.next
        self.next += 1
        self.parts[piece] = parts

    def joined(self, left: str, right: str) -> str | None:
        """The piece of two; none with a special token, or where it is known and yet not used."""
        piece = left + right.removeprefix(self.prefix)
        return None if self.knows(piece) or {left, right} & self.marks else piece

    def add(self, pair: tuple[str, str], piece: str) -> int:
        """Take up a pair; the number of new pieces."""
        self.new(piece, tuple(old for part in pair for old in self.parts.get(part, (part,))))
        return 1

    def finish(self) -> None:
        """What is to be done when all pieces are known."""


class GrowingBpe(Growing):
    """A pair is a merge, the last in order; it may lead to a piece that is there already."""

    def joined(self, left: str, right: str) -> str | None:
        return None if {left, right} & self.marks else left + right.removeprefix(self.prefix)

    def add(self, pair: tuple[str, str], piece: str) -> int:
        merges = self.model["merges"]
        merges.append(" ".join(pair) if merges and isinstance(merges[0], str) else list(pair))
        return 0 if self.knows(piece) else super().add(pair, piece)


class GrowingUnigram(Growing):
    """A piece's id is its place in the list, and its score decides whether it is used."""

    def __init__(self, form: dict[str, Any], first: int):
        listed = form["model"]["vocab"]
        self.scores: dict[str, float] = dict(listed)
        self.lowest = min(self.scores.values())
        known: Any = {**form, "model": {**form["model"], "vocab": {piece: i for i, (piece, _) in enumerate(listed)}}}
        super().__init__(known, first)
        self.listed = listed
        numbers = {token["id"]: token["content"] for token in form["added_tokens"]}
        for number in range(len(listed), first):  # ids of added tokens are no places for new pieces
            listed.append([numbers.get(number, f"<isogloss-unused-{number}>"), self.lowest])

    def add_characters(self, words: Counter[str], most: int) -> int:
        number = super().add_characters(words, most)
        self.scores |= dict.fromkeys(self.parts, self.lowest)
        self.listed += [[piece, self.lowest] for piece in self.parts]
        return number

    def finish(self) -> None:
        """Scores in the order of the pieces, for a long one may best be cut into pieces that are new as well."""
        longest = max(map(len, self.scores))
        grown = [piece for piece in self.parts if piece not in self.scores]
        for number, piece in enumerate(grown):
            best = _best_score(piece, self.scores, min(longest, len(piece)), self.lowest)
            self.scores[piece] = best + MARGIN * (1 - number / len(grown))
            self.listed.append([piece, self.scores[piece]])


def _best_score(text: str, scores: dict[str, float], longest: int, lowest: float) -> float:
    """The best sum of scores of any way to cut a text.

    >>> _best_score("abc", {"a": -1.0, "b": -1.0, "c": -1.0, "bc": -1.5}, 2, -9.0)
    -2.5
    """
    best = [0.0]
    for end in range(1, len(text) + 1):
        begins: Sequence[int] = range(max(0, end - longest), end)
        ways = [best[begin] + scores[text[begin:end]] for begin in begins if text[begin:end] in scores]
        best.append(max(ways, default=best[end - 1] + lowest - 10))
    return best[-1]


GROWING: dict[str, type[Growing]] = {"WordPiece": Growing, "BPE": GrowingBpe, "Unigram": GrowingUnigram}
