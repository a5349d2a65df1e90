"""`python docs/tools/paper_differences.py MODEL PUD SENTENCES ALIGNMENT`: effects of differences from the papers.

The numbers of the table "Differences from the papers" in docs/reproduce.md. PUD is a folder with
`en_pud-ud-test.conllu` and `fr_pud-ud-test.conllu` (also compressed); SENTENCES and ALIGNMENT are parallel text and its
links in Pharaoh format.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.linalg import svd

import isogloss as ig
from isogloss.analysis.aligned_vectors import aligned_vectors
from isogloss.indexes.distances import derangement
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.hidden_states import sentence_states

WINDOW_SENTENCES = 200
WINDOWS = 4
POOLED_SENTENCES = 300


def released_anc(X: np.ndarray, Y: np.ndarray) -> float:
    """xsim: cosine of centred neurons with a floor of 1e-8 for the norms, so that a constant neuron counts as 0."""
    X, Y = X - X.mean(0), Y - Y.mean(0)
    norms = np.maximum(np.linalg.norm(X, axis=0), 1e-8) * np.maximum(np.linalg.norm(Y, axis=0), 1e-8)
    return float(np.abs((X * Y).sum(0) / norms).mean())


def released_svcca(X: np.ndarray, Y: np.ndarray, share: float = 0.99) -> float:
    """xsim: directions of the vectors as they are, until the sum of singular values reaches the share (exclusive)."""
    sides = []
    for Z in (X, Y):
        _, sizes, directions = svd(Z, full_matrices=False)
        count = int((np.cumsum(sizes) / sizes.sum() < share).sum())
        sides.append(Z @ directions[:count].T)
    bases = [svd(Z - Z.mean(0), full_matrices=False)[0] for Z in sides]
    return float(svd(bases[0].T @ bases[1], compute_uv=False).mean())


def released_rbf(X: np.ndarray, Y: np.ndarray) -> float:
    """First Align: mean RBF CKA of windows of 200 sentences that start at sentences 0, 1, 2 and 3."""
    windows = [slice(start, start + WINDOW_SENTENCES) for start in range(WINDOWS)]
    return float(np.mean([ig.cka(X[rows], Y[rows], kernel="rbf") for rows in windows]))


def unrelated_words(model: LoadedModel, bitext: ig.Corpus) -> str:
    """Separation with unrelated words from anywhere, and only from other sentences."""
    X, Y = aligned_vectors(model, bitext, links=1_000_000)
    sentence = np.array([i for i, pair in enumerate(bitext) for _ in dict.fromkeys(pair.alignment.sure)])
    partner = derangement(len(X), 0)
    related = np.linalg.norm(X - Y, axis=1)
    distances = [np.linalg.norm(X - Y[partner], axis=1), np.linalg.norm(X[partner] - Y, axis=1)]
    other = sentence != sentence[partner]
    values = [area(related, np.concatenate([part[rows] for part in distances])) for rows in (other | True, other)]
    same = f"{1 - other.mean():.2%} of the pairs are from the same sentence"
    return f"separation of {len(X)} links: {values[0]:.4f}, without pairs of one sentence {values[1]:.4f} ({same})"


def area(related: np.ndarray, unrelated: np.ndarray) -> float:
    ordered = np.sort(unrelated)
    return float(1 - np.searchsorted(ordered, related).mean() / len(ordered))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("pud", type=Path)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("alignment", type=Path)
    arguments = parser.parse_args()
    model = ig.load_model(arguments.model)
    bitext = ig.read_bitext(arguments.sentences, alignment=arguments.alignment)
    print(unrelated_words(model, bitext), flush=True)
    text = ig.read_parallel({lang: next(arguments.pud.rglob(f"{lang}_pud-ud-test.conllu*")) for lang in ("en", "fr")})
    for index, values in pooling(model, text[:POOLED_SENTENCES]).items():
        print(f"last layer, {index}: mean pooling {values[0]:.3f}, CLS {values[1]:.3f}", flush=True)
    states = [sentence_states(model, text.sentences(lang)).collect() for lang in text.languages]
    layers = list(zip(*states, strict=True))
    print(f"{len(text)} sentences, layers 0 to {len(layers) - 1}: isogloss → released, means over layers")
    constant = sum(int(((X.std(0) == 0) | (Y.std(0) == 0)).sum()) for X, Y in layers)
    compare("ANC", ig.anc, released_anc, layers, f"({constant} constant neurons)")
    compare("RBF CKA, windows", ig.cka, released_rbf, layers)
    compare("RBF CKA, all sentences", ig.cka, lambda X, Y: ig.cka(X, Y, kernel="rbf"), layers)
    compare("SVCCA(.99)", ig.svcca, released_svcca, layers)


def pooling(model: LoadedModel, text: ig.ParallelSet) -> dict[str, list[float]]:
    """CKA and ANC at the last layer, with mean and with CLS pooling."""
    values: dict[str, list[float]] = {"CKA": [], "ANC": []}
    for pool in ("mean", "cls"):
        X, Y = (
            sentence_states(model, text.sentences(lang), pool=pool, layers=[model.last_layer]).collect()[0]
            for lang in text.languages
        )
        values["CKA"].append(ig.cka(X, Y))
        values["ANC"].append(ig.anc(X, Y))
    return values


Function = Callable[[np.ndarray, np.ndarray], float]


def compare(
    name: str, ours: Function, released: Function, layers: list[tuple[np.ndarray, np.ndarray]], note: str = ""
) -> None:
    values = np.array([(ours(X, Y), released(X, Y)) for X, Y in layers])
    print(f"{name}: {values[:, 0].mean():.4f} → {values[:, 1].mean():.4f}, largest difference of a layer "
          f"{np.abs(values[:, 0] - values[:, 1]).max():.4f} {note}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
