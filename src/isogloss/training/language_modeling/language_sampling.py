"""Language sampling: each language is sampled in proportion to its size raised to α.

p_l ∝ n_l^α (Conneau & Lample 2019 with α = 0.7; the temperature of other papers is 1/α). α = 1 samples languages by
size, α = 0 uniformly. The sequences of a step are a pure function of the seed and the step number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from isogloss.core.errors import UsageError
from isogloss.core.seeds import derive_seed
from isogloss.models.tokenization.batching import IntArray
from isogloss.training.language_modeling.packing import Text
from isogloss.training.language_modeling.settings import SAMPLING_EXPONENT

STEPS_PER_ROUND = 256  # steps in which every language gets its exact share


def sampling_shares(sizes: Sequence[float], alpha: float = SAMPLING_EXPONENT) -> list[float]:
    """The sampling share of each language, from the sizes of their text.

    >>> [round(share, 3) for share in sampling_shares([1000, 10], alpha=0.5)]
    [0.909, 0.091]
    """
    if not 0 <= alpha <= 1 or not sizes or min(sizes) <= 0:
        raise UsageError(f"expected sizes above 0 and alpha from 0 to 1, got sizes {list(sizes)} and alpha {alpha}")
    largest = max(sizes)
    powers = [(size / largest) ** alpha for size in sizes]
    return [power / sum(powers) for power in powers]


def apportion(parts: Sequence[float], slots: int) -> list[int]:
    """Integer numbers of slots in the given proportion (largest remainders), at least one each.

    >>> apportion([0.5, 0.3, 0.2], 5)
    [3, 1, 1]
    """
    if slots < len(parts):
        raise UsageError(f"{len(parts)} languages need at least as many sequences a round, got {slots}")
    exact = [slots * part for part in parts]
    counts = [int(value) for value in exact]
    by_remainder = sorted(range(len(parts)), key=lambda i: (counts[i] - exact[i], i))
    for i in by_remainder[: slots - sum(counts)]:
        counts[i] += 1
    for i in range(len(parts)):
        if not counts[i]:
            counts[counts.index(max(counts))] -= 1
            counts[i] = 1
    return counts


def permutation(number: int, seed: int) -> IntArray:
    """A permutation of 0 … number - 1 by the seed; raw generator bits are the same in every version of NumPy."""
    return np.argsort(np.random.Philox(key=seed).random_raw(number), kind="stable")


@dataclass
class SequenceOrder:
    """Which sequences each step reads, over several languages.

    Sequences are numbered language after language. In every round each language has exactly its number of slots;
    its sequences are read pass by pass, each pass in a new order.
    """

    sizes: Sequence[int]  # sequences of each language
    slots: Sequence[int]  # of each language in a round
    batch: int
    seed: int
    _round: tuple[int, IntArray] | None = field(default=None, repr=False)
    _passes: dict[int, tuple[int, IntArray]] = field(default_factory=dict, repr=False)

    def at(self, step: int) -> IntArray:
        """The sequences of a step."""
        slot_numbers = np.arange(step * self.batch, (step + 1) * self.batch)
        rounds = slot_numbers // sum(self.slots)
        return np.concatenate([self.round(r)[slot_numbers[rounds == r] % sum(self.slots)] for r in np.unique(rounds)])

    def round(self, number: int) -> IntArray:
        if self._round is None or self._round[0] != number:
            starts = np.cumsum([0, *self.sizes])
            by_language = [starts[language] + self._sequences(language, number) for language in range(len(self.sizes))]
            mixed = np.concatenate(by_language)[permutation(sum(self.slots), derive_seed(self.seed, "round", number))]
            self._round = number, mixed
        return self._round[1]

    def _sequences(self, language: int, number: int) -> IntArray:
        """The sequences of a language in a round; they continue those of the previous round."""
        size, slots = self.sizes[language], self.slots[language]
        positions = np.arange(number * slots, (number + 1) * slots)
        passes = positions // size
        return np.concatenate([self._pass(language, p)[positions[passes == p] % size] for p in np.unique(passes)])

    def _pass(self, language: int, number: int) -> IntArray:
        if self._passes.get(language, (-1,))[0] != number:
            order = permutation(self.sizes[language], derive_seed(self.seed, "pass", language, number))
            self._passes[language] = number, order
        return self._passes[language][1]


def sequence_order(sizes: Sequence[int], *, alpha: float, batch: int, seed: int) -> SequenceOrder:
    """An order whose rounds hold every language in its share; with α = 1, every sequence exactly once a round.

    >>> sorted(sequence_order([3, 2], alpha=1.0, batch=5, seed=0).at(7).tolist())
    [0, 1, 2, 3, 4]
    """
    slots = list(sizes) if alpha == 1 else apportion(sampling_shares(sizes, alpha), STEPS_PER_ROUND * batch)
    return SequenceOrder(sizes, slots, batch, seed)


def balanced_lines(
    texts: Mapping[str, Iterable[Text]], characters: Mapping[str, int], *, alpha: float, max_characters: int
) -> Iterator[str]:
    """Training text of a tokenizer: lines of all languages in their shares, `max_characters` at most.

    The lines of a language are repeated, or left out at regular intervals, to reach its share.
    """
    budget = min(max_characters, sum(characters.values()))
    for lang, share in zip(texts, sampling_shares([characters[lang] for lang in texts], alpha), strict=True):
        rate, due = share * budget / characters[lang], 0.0
        for line in texts[lang]:
            due += rate
            while due >= 1:
                yield from [line] if isinstance(line, str) else line
                due -= 1
