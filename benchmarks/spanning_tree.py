"""Decoding 10,000 sentences of 25 words: isogloss against networkx, which is timed on a hundredth of them.

Scores are those of a parser that is often wrong (a random tree under noise), so that Edmonds' algorithm has work.
"""

from __future__ import annotations

import time

import networkx
import numpy as np

from benchmarks.timing import best_times, report
from isogloss.tasks.spanning_tree import decode_trees

WORDS = 25


def noisy_scores(sentences: int, certainty: float) -> np.ndarray:
    """Arc scores in which a random single-root tree stands out of standard normal noise by `certainty`."""
    generator = np.random.default_rng(0)
    scores = generator.normal(size=(sentences, WORDS, WORDS + 1)).astype(np.float32)
    for sentence in scores:
        order = generator.permutation(WORDS)
        sentence[order[0], 0] += certainty
        for i in range(1, WORDS):
            sentence[order[i], 1 + order[generator.integers(i)]] += certainty
    return scores


def with_networkx(scores: np.ndarray) -> None:
    """Its maximum arborescence, which may have several roots."""
    for sentence in scores:
        graph = networkx.DiGraph()
        arcs = ((head, word + 1, float(sentence[word, head])) for word in range(WORDS) for head in range(WORDS + 1))
        graph.add_weighted_edges_from(arc for arc in arcs if arc[0] != arc[1])
        networkx.maximum_spanning_arborescence(graph)


def run(quick: bool = False) -> None:
    sentences = 1000 if quick else 10_000
    start = time.perf_counter()
    decode_trees(np.zeros((1, 2, 3), dtype=np.float32))
    print(f"first call (compiles, or reads what was compiled): {time.perf_counter() - start:.2f} s")
    for certainty, name in ((3.0, "a parser that is often wrong"), (6.0, "a good parser"), (0.0, "pure noise")):
        scores = noisy_scores(sentences, certainty)
        trees = decode_trees(scores)
        greedy = (np.where(np.eye(WORDS, WORDS + 1, 1) == 1, -np.inf, scores).argmax(axis=2) == trees).all(axis=1)
        print(f"{name}: {sentences} sentences of {WORDS} words, {greedy.mean():.0%} of the trees greedy")
        times = best_times({"isogloss": lambda scores=scores: decode_trees(scores)})
        if certainty == 3.0:
            some = scores[: sentences // 100]
            times["networkx"] = 100 * best_times({"": lambda some=some: with_networkx(some)}, repeats=1)[""]
        report(times, ours="isogloss")
