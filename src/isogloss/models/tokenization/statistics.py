"""Statistics of a tokenizer on a text: sub-words per word, unknown tokens, scripts in its vocabulary.

Words are separated by spaces. A character is known if a piece of the vocabulary contains it. A script is known if at
least `MIN_SCRIPT_PIECES` pieces of two or more letters are in it: from single letters a model learns no words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from transformers import PreTrainedTokenizerBase

from isogloss.core.errors import UsageError
from isogloss.languages.scripts import UNDETERMINED, letter_script, script_of
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import tokenize, word_tokens
from isogloss.models.tokenization.readability import readability
from isogloss.results.rows.readability import Readability

MIN_SCRIPT_PIECES = 100  # of two or more letters, for a script to count as known


@dataclass(frozen=True)
class ScriptCoverage:
    """A script of the text: its share of the letters, and the pieces of two or more letters in the vocabulary."""

    letters: float
    pieces: int

    @property
    def known(self) -> bool:
        return self.pieces >= MIN_SCRIPT_PIECES


@dataclass(frozen=True)
class TokenizerStatistics:
    """Statistics of a tokenizer on a text. Shares are from 0 to 1; `scripts` is sorted by frequency."""

    words: int
    subwords_per_word: float
    whole_words: float  # share of words that are one known piece
    unknown_words: float  # share of words with an unknown piece
    known_characters: float  # share of characters in the vocabulary
    words_in_known_scripts: float
    scripts: dict[str, ScriptCoverage]
    readability: Readability | None = None  # of tokens

    @property
    def script(self) -> str:
        """The most frequent script."""
        return next(iter(self.scripts), UNDETERMINED)


def tokenizer_statistics(model: LoadedModel, lines: Iterable[str]) -> TokenizerStatistics:
    """The statistics of the model's tokenizer on lines of text."""
    sentences = [sentence_words for line in lines if (sentence_words := line.split())]
    if not sentences:
        raise UsageError("tokenizer statistics: expected text with words, got none")
    words = Counter(word for sentence in sentences for word in sentence)
    characters, letters, words_by_script = _counts(words)
    pieces = script_pieces(model.tokenizer)
    in_vocabulary = known_characters(model, characters)
    scripts = {name: ScriptCoverage(count / letters.total(), pieces[name]) for name, count in letters.most_common()}
    known_words = sum(count for name, count in words_by_script.items() if pieces[name] >= MIN_SCRIPT_PIECES)
    return TokenizerStatistics(
        words=words.total(),
        known_characters=sum(count for char, count in characters.items() if char in in_vocabulary) / characters.total(),
        words_in_known_scripts=known_words / words_by_script.total() if words_by_script else 1.0,
        scripts=scripts,
        readability=readability(model, [" ".join(sentence) for sentence in sentences]),
        **_segmentation(model, sentences, words.total()),
    )


def known_characters(model: LoadedModel, characters: Iterable[str]) -> set[str]:
    """The characters that the vocabulary can encode: inside a piece, or as several byte pieces."""
    in_pieces = {char for piece in _pieces(model.tokenizer) for char in piece}
    remaining = [char for char in characters if char not in in_pieces]
    ids = tokenize(model, remaining)["input_ids"] if remaining else []
    readable = {
        char
        for char, token_ids in zip(remaining, ids, strict=True)
        if token_ids and model.tokenizer.unk_token_id not in token_ids
    }
    return in_pieces | readable


def _counts(words: Counter[str]) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Characters, letters by script, and words by script."""
    characters = Counter("".join(words.elements()))
    letters: Counter[str] = Counter()
    for char, count in characters.items():
        if script := letter_script(char):
            letters[script] += count
    words_by_script: Counter[str] = Counter()
    for word, count in words.items():
        words_by_script[script_of(word)] += count
    del words_by_script[UNDETERMINED]
    return characters, letters, words_by_script


def _segmentation(model: LoadedModel, sentences: Sequence[Sequence[str]], words: int) -> dict[str, float]:
    """Statistics of the segmentation of words into pieces."""
    counts: Counter[str] = Counter()
    for ids, word_of_token in word_tokens(model, sentences):
        tokens_per_word = Counter(word_of_token)
        tokens = zip(ids, word_of_token, strict=True)
        unknown_words = {word for id, word in tokens if id == model.tokenizer.unk_token_id}
        counts["pieces"] += len(ids)
        counts["lost"] += len(unknown_words)
        counts["whole"] += sum(count == 1 and word not in unknown_words for word, count in tokens_per_word.items())
    return {
        "subwords_per_word": counts["pieces"] / words,
        "whole_words": counts["whole"] / words,
        "unknown_words": counts["lost"] / words,
    }


def script_pieces(tokenizer: PreTrainedTokenizerBase) -> Counter[str]:
    """The number of pieces of two or more letters in the vocabulary by script."""
    several = (piece for piece in _pieces(tokenizer) if sum(letter_script(char) is not None for char in piece) > 1)
    return Counter(script_of(piece) for piece in several)


@lru_cache(maxsize=4)
def _pieces(tokenizer: PreTrainedTokenizerBase) -> tuple[str, ...]:
    """The pieces as text, without special tokens."""
    special = set(tokenizer.all_special_tokens)
    tokens = [token for token in tokenizer.get_vocab() if token not in special]
    return tuple(tokenizer.convert_tokens_to_string([token]).removeprefix("##") for token in tokens)
