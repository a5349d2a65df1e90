"""What a model's tokenizer makes of a text: how finely it cuts words, what it cannot read, which scripts it knows.

Words are what spaces divide. A character is known if some piece of the vocabulary holds it, a script if at least
`FEWEST` pieces of two or more letters are written in it: with single letters alone a model spells, and reads nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from isogloss.core.errors import UsageError
from isogloss.languages.scripts import UNDETERMINED, letter_script, script_of
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import tokenize, word_tokens

FEWEST = 100  # pieces of two or more letters that make a script a known one


@dataclass(frozen=True)
class ScriptCoverage:
    """A script of the text: the share of the text's letters in it, and the vocabulary's pieces of several letters."""

    letters: float
    pieces: int

    @property
    def known(self) -> bool:
        return self.pieces >= FEWEST


@dataclass(frozen=True)
class TokenizerStatistics:
    """Shares are from 0 to 1; `scripts` has the text's scripts, the most frequent first."""

    words: int
    subwords_per_word: float
    whole_words: float  # share of words that are a single, known piece
    unknown_words: float  # share of words with a piece that is unknown
    unknown_tokens: float  # share of all pieces that are unknown
    known_characters: float  # share of the characters that the vocabulary holds
    words_in_known_scripts: float
    scripts: dict[str, ScriptCoverage]

    @property
    def script(self) -> str:
        """The script of most letters."""
        return next(iter(self.scripts), UNDETERMINED)


def tokenizer_statistics(model: LoadedModel, lines: Iterable[str]) -> TokenizerStatistics:
    """How the model's tokenizer reads these lines of text."""
    sentences = [cut for line in lines if (cut := line.split())]
    if not sentences:
        raise UsageError("tokenizer statistics: expected text with words, got none")
    words = Counter(word for sentence in sentences for word in sentence)
    characters, letters, written = _counts(words)
    pieces = script_pieces(model.tokenizer)
    known = known_characters(model, characters)
    return TokenizerStatistics(
        words=words.total(),
        known_characters=sum(n for char, n in characters.items() if char in known) / characters.total(),
        words_in_known_scripts=_share(written, {script for script in written if pieces[script] >= FEWEST}),
        scripts={one: ScriptCoverage(n / letters.total(), pieces[one]) for one, n in letters.most_common()},
        **_cuts(model, sentences, words.total()),
    )


def known_characters(model: LoadedModel, characters: Iterable[str]) -> set[str]:
    """Those that the vocabulary can write: as part of a piece, or, where it works on bytes, as several."""
    held = {char for piece in _pieces(model.tokenizer) for char in piece}
    left = [char for char in characters if char not in held]
    ids = tokenize(model, left)["input_ids"] if left else []
    readable = {char for char, own in zip(left, ids, strict=True) if own and model.tokenizer.unk_token_id not in own}
    return held | readable


def _counts(words: Counter[str]) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Characters, letters by script, and words by script."""
    characters: Counter[str] = Counter()
    for word, number in words.items():
        for char in word:
            characters[char] += number
    letters: Counter[str] = Counter()
    for char, number in characters.items():
        if script := letter_script(char):
            letters[script] += number
    written: Counter[str] = Counter()
    for word, number in words.items():
        written[script_of(word)] += number
    del written[UNDETERMINED]
    return characters, letters, written


def _cuts(model: LoadedModel, sentences: Sequence[Sequence[str]], words: int) -> dict[str, float]:
    """How words are cut into pieces."""
    found: Counter[str] = Counter()
    for ids, owner in word_tokens(model, sentences):
        own = Counter(owner)
        lost = {word for id, word in zip(ids, owner, strict=True) if id == model.tokenizer.unk_token_id}
        found["pieces"] += len(ids)
        found["unknown"] += sum(id == model.tokenizer.unk_token_id for id in ids)
        found["lost"] += len(lost)
        found["whole"] += sum(number == 1 and word not in lost for word, number in own.items())
    return {
        "subwords_per_word": found["pieces"] / words,
        "whole_words": found["whole"] / words,
        "unknown_words": found["lost"] / words,
        "unknown_tokens": found["unknown"] / max(1, found["pieces"]),
    }


def _share(counts: Counter[str], chosen: set[str]) -> float:
    return sum(counts[one] for one in chosen) / counts.total() if counts else 1.0


def script_pieces(tokenizer: Any) -> Counter[str]:
    """How many pieces of two or more letters the vocabulary has in each script."""
    several = (piece for piece in _pieces(tokenizer) if sum(letter_script(char) is not None for char in piece) > 1)
    return Counter(script_of(piece) for piece in several)


@lru_cache(maxsize=4)
def _pieces(tokenizer: Any) -> tuple[str, ...]:
    """The pieces as text, special ones left out."""
    special = set(tokenizer.all_special_tokens)
    marks = [token for token in tokenizer.get_vocab() if token not in special]
    return tuple(tokenizer.convert_tokens_to_string([mark]).removeprefix("##") for mark in marks)
