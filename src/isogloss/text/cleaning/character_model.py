"""Language identification with character n-grams learnt from a sample, for languages that no library supports.

A model counts n-grams of one to four letters, including the spaces around words. The score of a line is the mean of
their log-probabilities. With samples of neighbouring languages, the language with the highest score wins; without
them, a line passes if its score is not below that of nearly all held-out lines of the sample.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from isogloss.core.errors import UsageError
from isogloss.text.words import word_pattern

ORDERS = (1, 2, 3, 4)
ADDED_COUNT = 0.5  # additive smoothing
HELD_OUT_EVERY_LINES = 10  # one held-out line in 10
MAX_FAILING_SHARE = 0.02  # of held-out lines of the sample
MIN_SAMPLE_LINES = 50


@dataclass(frozen=True)
class CharacterModel:
    """Counts of n-grams by order."""

    counts: tuple[Counter[str], ...]
    totals: tuple[int, ...]

    def score(self, text: str) -> float:
        """The mean log-probability of the n-grams of a text; all orders have equal weight."""
        means = []
        for counts, total, order in zip(self.counts, self.totals, ORDERS, strict=True):
            grams = ngrams(text, order)
            smallest = math.log(ADDED_COUNT / (total + ADDED_COUNT * len(counts)))
            known_grams = [math.log((counts[gram] + ADDED_COUNT) / ADDED_COUNT) for gram in grams if gram in counts]
            means.append(smallest + sum(known_grams) / max(1, len(grams)))
        return sum(means) / len(means)


def ngrams(text: str, order: int) -> list[str]:
    """
    >>> ngrams("Ab, c!", 2)
    [' a', 'ab', 'b ', ' c', 'c ']
    """
    padded = f" {' '.join(word_pattern().findall(text.lower()))} "
    return [padded[i : i + order] for i in range(len(padded) - order + 1)]


def character_model(lines: Iterable[str]) -> CharacterModel:
    counts: tuple[Counter[str], ...] = tuple(Counter() for _ in ORDERS)
    for line in lines:
        for order, counter in zip(ORDERS, counts, strict=True):
            counter.update(ngrams(line, order))
    return CharacterModel(counts, tuple(sum(counter.values()) for counter in counts))


@dataclass(frozen=True)
class SampleCheck:
    """Checks whether a line is in the language: neighbours score lower or, without them, its score ≥ `threshold`."""

    model: CharacterModel
    neighbours: Mapping[str, CharacterModel]
    threshold: float

    def other_language(self, line: str) -> str | None:
        """The other language of a line: a neighbour, or "another language" without neighbours; None if it passes."""
        sample_score = self.model.score(line)
        if not self.neighbours:
            return "another language" if sample_score < self.threshold else None
        scores = {lang: model.score(line) for lang, model in self.neighbours.items()}
        best = max(scores, key=lambda lang: scores[lang])
        return best if scores[best] > sample_score else None


def sample_check(sample: Sequence[str], neighbours: Mapping[str, Sequence[str]]) -> SampleCheck:
    """A check learnt from a sample of the language, and from the same amount of text of each neighbour."""
    if len(sample) < MIN_SAMPLE_LINES:
        expected = f"a sample of at least {MIN_SAMPLE_LINES} lines to learn a language"
        raise UsageError(f"expected {expected}, got {len(sample)}")
    training = [line for i, line in enumerate(sample) if i % HELD_OUT_EVERY_LINES]
    model = character_model(training)
    held_out = sorted(model.score(line) for line in sample[::HELD_OUT_EVERY_LINES])
    size = sum(map(len, sample if neighbours else training))
    neighbour_models = {lang: character_model(_first_characters(lines, size)) for lang, lines in neighbours.items()}
    threshold = held_out[int(MAX_FAILING_SHARE * len(held_out))]
    return SampleCheck(character_model(sample) if neighbours else model, neighbour_models, threshold)


def _first_characters(lines: Sequence[str], size: int) -> list[str]:
    """The first lines, up to `size` characters: a model of more text would give higher scores for any language."""
    lengths = accumulate(map(len, lines), initial=0)
    return [line for line, length_before in zip(lines, lengths) if length_before < size]
