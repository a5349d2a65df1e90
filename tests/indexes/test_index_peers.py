"""Agreement with packages that others wrote; each test is skipped where its package is not installed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.spatial
import torch

import isogloss as ig


def data(n: int = 151) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 8)) @ random.normal(size=(8, 8)) + 3
    return X, X @ random.normal(size=(8, 6)) + random.normal(size=(n, 6))


def test_ckatorch() -> None:
    cka_base = pytest.importorskip("ckatorch.core").cka_base
    X, Y = data()
    x, y = torch.tensor(X), torch.tensor(Y)
    assert ig.cka(X, Y) == pytest.approx(float(cka_base(x, y)), abs=1e-10)
    assert ig.cka(X, Y, debiased=True) == pytest.approx(float(cka_base(x, y, unbiased=True)), abs=1e-10)
    assert ig.cka(X, Y, kernel="rbf") == pytest.approx(float(cka_base(x, y, kernel="rbf")), abs=1e-10)


def test_repsim() -> None:
    repsim = pytest.importorskip("repsim")
    X, Y = data()
    assert ig.cka(X, Y) == pytest.approx(repsim.cka([X, Y], "linear")[0, 1], abs=1e-10)
    assert ig.cca(X, Y) == pytest.approx(repsim.cca([X, Y], "pillai")[0, 1], abs=1e-8)
    # repsim averages the two choices of the side that gives the weights
    both = (ig.pwcca(X, Y) + ig.pwcca(Y, X)) / 2
    assert both == pytest.approx(repsim.pwcca([X, Y])[0, 1], abs=1e-8)


def test_cca_zoo() -> None:
    linear = pytest.importorskip("cca_zoo.linear")
    X, Y = data()
    model = linear.CCA(n_components=6).fit([X, Y])
    scores = model.transform([X, Y])
    correlations = [abs(np.corrcoef(a, b)[0, 1]) for a, b in zip(scores[0].T, scores[1].T)]
    assert ig.cca(X, Y) == pytest.approx(np.mean(correlations), abs=1e-6)


def test_torch_cka() -> None:
    """Its mini-batch estimate with one batch of everything is the debiased CKA."""
    pytest.importorskip("torch_cka")
    from torch.utils.data import DataLoader, TensorDataset
    from torch_cka import CKA

    X, Y = (torch.tensor(Z - Z.mean(0), dtype=torch.float32) for Z in data())
    models = [torch.nn.Sequential(torch.nn.Identity()) for _ in range(2)]
    with pytest.warns(UserWarning, match="identical names"):
        peer = CKA(*models, model1_layers=["0"], model2_layers=["0"])
    loaders = [DataLoader(TensorDataset(Z), batch_size=len(Z)) for Z in (X, Y)]
    peer.compare(*loaders)
    assert ig.cka(X, Y, debiased=True) == pytest.approx(float(peer.hsic_matrix[0, 0]), abs=1e-5)


def test_scipy_procrustes() -> None:
    X, Y = data()
    X = X[:, :6]
    disparity = scipy.spatial.procrustes(X, Y)[2]  # 1 − similarity², scaling allowed
    assert ig.procrustes(X, Y) == pytest.approx(np.sqrt(1 - disparity), abs=1e-10)


def test_scikit_learn_nearest_neighbours() -> None:
    neighbors = pytest.importorskip("sklearn.neighbors")
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 16))
    Y = X + random.normal(size=X.shape)
    nearest = neighbors.NearestNeighbors(n_neighbors=1, metric="cosine").fit(Y).kneighbors(X)[1][:, 0]
    assert ig.matching_accuracy(X, Y, direction="forward") == pytest.approx(np.mean(nearest == np.arange(300)))
