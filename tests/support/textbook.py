"""The slow, obvious way to compute every index, from its definition and in NumPy: the oracle of the tests."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from isogloss.indexes.distances import derangement


def hsic(K: np.ndarray, L: np.ndarray) -> float:
    n = len(K)
    H = np.eye(n) - 1 / n
    return float(np.trace(K @ H @ L @ H))


def unbiased_hsic(K: np.ndarray, L: np.ndarray) -> float:
    """Song et al. (2012), Eq. 4, term by term."""
    n, one = len(K), np.ones(len(K))
    K, L = K - np.diag(np.diag(K)), L - np.diag(np.diag(L))
    sums = np.trace(K @ L) + one @ K @ one * (one @ L @ one) / ((n - 1) * (n - 2)) - 2 / (n - 2) * (one @ K @ L @ one)
    return float(sums / (n * (n - 3)))


def rbf(X: np.ndarray) -> np.ndarray:
    squared = ((X[:, None] - X[None]) ** 2).sum(-1)
    return np.exp(-squared / (2 * np.median(squared)))


def normalised(statistic, K: np.ndarray, L: np.ndarray) -> float:
    return statistic(K, L) / np.sqrt(statistic(K, K) * statistic(L, L))


def linear_cka(X: np.ndarray, Y: np.ndarray) -> float:
    return normalised(hsic, X @ X.T, Y @ Y.T)


def rbf_cka(X: np.ndarray, Y: np.ndarray) -> float:
    return normalised(hsic, rbf(X), rbf(Y))


def debiased_cka(X: np.ndarray, Y: np.ndarray) -> float:
    return normalised(unbiased_hsic, X @ X.T, Y @ Y.T)


def canonical_variates(X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Canonical variates of X, orthonormal columns, and the correlations: SVD of the product of two bases."""
    bases = [scipy.linalg.orth(Z - Z.mean(0)) for Z in (X, Y)]
    U, correlations, _ = np.linalg.svd(bases[0].T @ bases[1], full_matrices=False)
    return bases[0] @ U, correlations


def cca(X: np.ndarray, Y: np.ndarray) -> float:
    return float(canonical_variates(X, Y)[1].mean())


def principal(X: np.ndarray, keep: float | int) -> np.ndarray:
    U, s, _ = np.linalg.svd(X - X.mean(0), full_matrices=False)
    shares = np.cumsum(s**2) / np.sum(s**2)
    k = keep if isinstance(keep, int) else next(i for i, share in enumerate(shares, 1) if share >= keep)
    return U[:, :k] * s[:k]


def svcca(X: np.ndarray, Y: np.ndarray, keep: float | int = 0.99) -> float:
    return cca(principal(X, keep), principal(Y, keep))


def pwcca(X: np.ndarray, Y: np.ndarray) -> float:
    variates, correlations = canonical_variates(X, Y)
    weights = np.abs(variates.T @ (X - X.mean(0))).sum(1)
    return float(weights @ correlations / weights.sum())


def anc(X: np.ndarray, Y: np.ndarray, signed: bool = False) -> float:
    values = [np.corrcoef(x, y)[0, 1] for x, y in zip(X.T, Y.T)]
    return float(np.mean(values if signed else np.abs(values)))


def matching(X: np.ndarray, Y: np.ndarray) -> float:
    similarity = (X / np.linalg.norm(X, axis=1)[:, None]) @ (Y / np.linalg.norm(Y, axis=1)[:, None]).T
    return float(np.mean(similarity.argmax(1) == np.arange(len(X))))


def procrustes(X: np.ndarray, Y: np.ndarray) -> float:
    X, Y = ((Z - Z.mean(0)) / np.linalg.norm(Z - Z.mean(0)) for Z in (X, Y))
    rotation, _ = scipy.linalg.orthogonal_procrustes(X, Y)
    return float(1 - np.linalg.norm(X @ rotation - Y) ** 2 / 2)


def separation(X: np.ndarray, Y: np.ndarray) -> float:
    partner = derangement(len(X), 0)
    related = np.linalg.norm(X - Y, axis=1)
    unrelated = np.concatenate([np.linalg.norm(X - Y[partner], axis=1), np.linalg.norm(X[partner] - Y, axis=1)])
    return float(np.mean([(r < u) + (r == u) / 2 for r in related for u in unrelated]))


INDEXES = {
    "cka": linear_cka,
    "rbf_cka": rbf_cka,
    "debiased_cka": debiased_cka,
    "cca": cca,
    "svcca": svcca,
    "pwcca": pwcca,
    "anc": anc,
    "signed_anc": lambda X, Y: anc(X, Y, signed=True),
    "matching": matching,
    "procrustes": procrustes,
    "separation": separation,
}
