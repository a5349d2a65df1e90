"""Coverage of the 95 % intervals of every index, by simulation.

A population of sentence pairs is sampled many times. Each sample gives a value and an interval; the interval should
contain the expected value of the index at this number of sentences, estimated by the mean over all samples, in 95 % of
them. The populations: normal vectors; a smooth spectrum (variances 1/k², so that another sample chooses other principal
directions); heavy tails (Student's t with 3 degrees of freedom, per neuron and per sentence); and few sentences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from isogloss.indexes import INDEXES, svcca
from isogloss.indexes.battery import compare
from isogloss.indexes.index import Index

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


@dataclass(frozen=True)
class Population:
    """Meanings of unequal variances, seen through a map of each language, with noise."""

    name: str
    sentences: int
    neurons: int
    directions: int  # of svcca(keep=…)
    draw: Draw = lambda random, shape: random.normal(size=shape)
    smooth: bool = False

    def sample(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        shape = (self.sentences, self.neurons)
        fixed, random = np.random.default_rng(0), np.random.default_rng(seed)
        neuron = np.arange(self.neurons)
        if self.smooth:
            scale = 1 / (1 + neuron)
            meaning = self.draw(random, shape)
            return (meaning + 0.3 * random.normal(size=shape)) * scale, (
                meaning + 0.3 * random.normal(size=shape)
            ) * scale
        source, difference = fixed.normal(size=(2, self.neurons, self.neurons)) / np.sqrt(self.neurons)
        meaning = self.draw(random, shape) * np.exp(-3 * neuron / self.neurons)
        x = meaning @ source + 0.3 * random.normal(size=shape)
        return x, meaning @ (0.6 * source + difference) + 0.5 * random.normal(size=shape)


def per_sentence_t(random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Multivariate t: all neurons of a sentence share one scale."""
    return random.normal(size=shape) / np.sqrt(random.chisquare(3, size=(shape[0], 1)) / 3)


POPULATIONS = [
    Population("normal", 300, 12, 3),
    Population("smooth spectrum", 500, 60, 10, smooth=True),
    Population("t₃ per neuron", 300, 12, 3, lambda random, shape: random.standard_t(3, size=shape)),
    Population("t₃ per sentence", 300, 12, 3, per_sentence_t),
    Population("60 sentences", 60, 12, 3),
]


def run(quick: bool = False) -> None:
    samples = 20 if quick else 400
    torch.set_num_threads(1)
    print(f"{samples} samples of each population; Monte-Carlo error at 95 %: ±{(0.95 * 0.05 / samples) ** 0.5:.3f}")
    columns = [coverage(population, samples) for population in POPULATIONS]
    print("| index | " + " | ".join(f"{p.name} ({p.sentences} × {p.neurons})" for p in POPULATIONS) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for row, name in enumerate([*INDEXES, "svcca(keep=k)"]):
        print(f"| `{name}` | " + " | ".join(f"{column[row]:.3f}".lstrip("0") for column in columns) + " |")


def coverage(population: Population, samples: int) -> list[float]:
    """The share of samples whose interval contains the expected value, for each index."""
    indexes: list[str | Index] = [*INDEXES, svcca.index(keep=population.directions)]
    rows = []
    for seed in range(samples):
        x, y = population.sample(seed)
        rows.append(compare({"x": x, "y": y}, [("x", "y")], indexes, bootstrap=1))
    shares = []
    for measurements in zip(*rows, strict=True):
        expected = np.mean([m.value for m in measurements])
        shares.append(float(np.mean([(m.low or 0.0) <= expected <= (m.high or 0.0) for m in measurements])))
    return shares
