"""Is this line in the language of that sample? Character n-grams, for languages that no library knows.

A model counts the letters' n-grams of one to four characters, with the spaces around words; a line's score is the
mean of their log-probabilities. Against samples of neighbours the best-scoring language wins; without any, a line
passes if it scores no worse than nearly all lines of the sample that were held out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from isogloss.core.errors import UsageError
from isogloss.text.words import word_pattern

ORDERS = (1, 2, 3, 4)
UNSEEN = 0.5  # what is added to every count
HELD_OUT = 10  # one line of so many
PASSING = 0.02  # share of held-out lines of the language itself that may fail
FEWEST = 50  # lines of a sample


@dataclass(frozen=True)
class CharacterModel:
    """Counts of n-grams by order."""

    counts: tuple[Counter[str], ...]
    totals: tuple[int, ...]

    def score(self, text: str) -> float:
        """The mean log-probability of a text's n-grams, all orders weighing the same."""
        means = []
        for counts, total, order in zip(self.counts, self.totals, ORDERS, strict=True):
            grams = ngrams(text, order)
            smallest = math.log(UNSEEN / (total + UNSEEN * len(counts)))
            seen = [math.log((counts[gram] + UNSEEN) / UNSEEN) for gram in grams if gram in counts]
            means.append(smallest + sum(seen) / max(1, len(grams)))
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
    """Whether a line is in the sample's language: `neighbours` score lower, or the score is not below `threshold`."""

    model: CharacterModel
    neighbours: Mapping[str, CharacterModel]
    threshold: float

    def other(self, line: str) -> str | None:
        """What a line is instead: a neighbour, or "another language" where there are none; None if it is ours."""
        own = self.model.score(line)
        if not self.neighbours:
            return "another language" if own < self.threshold else None
        scores = {lang: model.score(line) for lang, model in self.neighbours.items()}
        best = max(scores, key=lambda lang: scores[lang])
        return best if scores[best] > own else None


def sample_check(sample: Sequence[str], neighbours: Mapping[str, Sequence[str]]) -> SampleCheck:
    """A check learnt from text that is surely in the language, and from as much text of each neighbour."""
    if len(sample) < FEWEST:
        raise UsageError(f"a sample of at least {FEWEST} lines is needed to learn a language, got {len(sample)}")
    training = [line for i, line in enumerate(sample) if i % HELD_OUT]
    model = character_model(training)
    held_out = sorted(model.score(line) for line in sample[::HELD_OUT])
    size = sum(map(len, sample if neighbours else training))
    others = {lang: character_model(_as_much(lines, size)) for lang, lines in neighbours.items()}
    return SampleCheck(character_model(sample) if neighbours else model, others, held_out[int(PASSING * len(held_out))])


def _as_much(lines: Sequence[str], size: int) -> list[str]:
    """The first lines, up to `size` characters: a model of more text would know more of any language."""
    chosen, length = [], 0
    for line in lines:
        if length >= size:
            break
        chosen.append(line)
        length += len(line)
    return chosen
