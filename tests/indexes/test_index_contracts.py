"""Every registered index against what it declares, against its textbook form, and at the edges."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.stats
import textbook
import torch

import isogloss as ig
from isogloss.core.errors import UsageError
from isogloss.indexes import INDEXES, cca, pwcca, svcca
from isogloss.indexes.battery import compare
from isogloss.indexes.index import MAPS, Index, bounded
from isogloss.indexes.moments import moments

every_index = pytest.mark.parametrize("name", list(INDEXES))
CANONICAL = {"cca", "svcca", "pwcca"}


def data(n: int = 120, d: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Related vectors with unequal variances, an offset, and noise."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * np.linspace(0.5, 3, d) @ random.normal(size=(d, d)) + random.normal(size=d)
    return X, 0.7 * X + X @ random.normal(size=(d, d)) * 0.3 + random.normal(size=(n, d)) + random.normal(size=d)


def measure(index: Index | str, X, Y) -> float:
    return compare({"x": X, "y": Y}, [("x", "y")], [index], bootstrap=0)[0].value


def influence(index: Index, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    from isogloss.indexes.bootstrap import influence as influence_of

    if index.of_vectors:
        return index.of_vectors(X, Y).influence.numpy()
    m = moments(X, Y)
    assert index.gradient is not None
    return influence_of(X, Y, m, index.gradient(m)).numpy()


def transformed(X: np.ndarray, map_name: str, seed: int = 5) -> np.ndarray:
    random = np.random.default_rng(seed)
    d = X.shape[1]
    if map_name == "rotation":
        return X @ scipy.stats.ortho_group.rvs(d, random_state=seed)
    if map_name == "isotropic scaling":
        return X * 3.7
    if map_name == "invertible linear":
        return X @ (random.normal(size=(d, d)) + np.eye(d))
    if map_name == "permutation":
        return X[:, np.roll(np.arange(d), 1)]
    return X + random.normal(size=d) * 20


def test_registry_is_whole() -> None:
    assert set(INDEXES) == set(textbook.INDEXES)
    for name, index in INDEXES.items():
        assert index.name == name
        assert "" not in (index.summary, index.cost, index.reference)
        assert (index.of_moments is None) != (index.of_vectors is None)
        assert (index.of_moments is None) == (index.gradient is None)


@every_index
def test_equals_the_textbook(name: str) -> None:
    for seed, (n, d) in enumerate([(40, 3), (121, 6), (64, 17)]):
        X, Y = data(n, d, seed)
        assert measure(name, X, Y) == pytest.approx(textbook.INDEXES[name](X, Y), abs=1e-8)


@every_index
def test_identity_and_bounds(name: str) -> None:
    low, high = INDEXES[name].bounds
    X, Y = data()
    assert measure(name, X, X) == pytest.approx(1, abs=1e-9)
    for other in (Y, -X, np.random.default_rng(1).normal(size=X.shape), X + 1e-9 * Y):
        assert low <= measure(name, X, other) <= high


@every_index
def test_symmetry_is_as_declared(name: str) -> None:
    X, Y = data()
    difference = abs(measure(name, X, Y) - measure(name, Y, X))
    assert difference < 1e-9 if INDEXES[name].symmetric else difference > 1e-4


@pytest.mark.parametrize("map_name", MAPS)
@every_index
def test_invariances_are_as_declared(name: str, map_name: str) -> None:
    X, Y = data(230, 6)
    index, value = INDEXES[name], measure(name, X, Y)
    alone = [measure(name, transformed(X, map_name), Y), measure(name, X, transformed(Y, map_name))]
    together = [measure(name, transformed(X, map_name), transformed(Y, map_name))]
    for values, declared in ((alone, index.invariances_per_side), (together, index.joint_invariances)):
        change = max(abs(new - value) for new in values)
        assert change < 1e-9 if map_name in declared else change > 1e-4, f"{map_name} changes {name} by {change:.1e}"


@every_index
def test_order_of_sentences_does_not_matter(name: str) -> None:
    X, Y = data(90)
    order = np.random.default_rng(2).permutation(90)
    # separation draws its unrelated pairs by place, so another order draws others
    tolerance = 0.05 if name == "separation" else 1e-10
    assert measure(name, X[order], Y[order]) == pytest.approx(measure(name, X, Y), abs=tolerance)


@pytest.mark.parametrize("name", [name for name, index in INDEXES.items() if index.of_moments])
def test_influence_is_the_derivative_by_a_sentence_weight(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (svcca, pwcca):  # the plain derivative, where gaps are taken as certain
        monkeypatch.setattr(module, "damped_inverse", lambda gaps, _: torch.where(gaps == 0, 0.0, 1 / gaps))
    # a share of variance makes the number of directions jump, which the derivative smooths
    index = svcca.index(keep=3) if name == "svcca" else INDEXES[name]
    X, Y = data(100, 4)
    found = influence(index, X, Y)
    assert abs(found.sum()) < 1e-10
    for i in range(0, 100, 13):
        step = 1e-5 * torch.eye(100, dtype=torch.float64)[i]
        more, fewer = (index.of_moments(moments(X, Y, 1 + sign * step)) for sign in (1, -1))
        assert found[i] == pytest.approx((more - fewer) / 2e-5, rel=1e-4, abs=1e-8)


@pytest.mark.parametrize("make", [cca.index, pwcca.index])
def test_influence_with_a_ridge(make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pwcca, "damped_inverse", lambda gaps, _: torch.where(gaps == 0, 0.0, 1 / gaps))
    index, (X, Y) = make(regularisation=0.2), data(60, 4)
    found = influence(index, X, Y[:, :3])
    for i in range(0, 60, 13):
        step = 1e-5 * torch.eye(60, dtype=torch.float64)[i]
        more, fewer = (index.of_moments(moments(X, Y[:, :3], 1 + sign * step)) for sign in (1, -1))
        assert found[i] == pytest.approx((more - fewer) / 2e-5, rel=1e-4, abs=1e-8)


@pytest.mark.parametrize("name", ["rbf_cka", "debiased_cka"])
def test_influence_of_kernel_indexes_is_what_leaving_out_shows(name: str) -> None:
    """Not weights but whole sentences, and a bandwidth that moves with them: equal but for terms in 1/n²."""
    X, Y = data(400, 4)
    found, rows = influence(INDEXES[name], X, Y), range(0, 400, 31)
    left_out = [measure(name, X, Y) - measure(name, np.delete(X, i, 0), np.delete(Y, i, 0)) for i in rows]
    assert abs(found.sum()) < 1e-10
    assert np.corrcoef(found[rows], left_out)[0, 1] > 0.97
    assert np.std(found[rows]) == pytest.approx(np.std(left_out), rel=0.15)


@every_index
def test_replicates_spread_like_the_standard_error(name: str) -> None:
    X, Y = data()
    row = compare({"x": X, "y": Y}, [("x", "y")], [name], bootstrap=2000)[0]
    assert row.replicates is not None
    assert row.error is not None
    assert row.replicates.std() == pytest.approx(row.error, rel=0.1, abs=1e-12)
    assert row.low <= row.value <= row.high


@every_index
def test_block_size_does_not_matter(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = data(101)
    whole = compare({"x": X, "y": Y}, [("x", "y")], [name])[0]
    from isogloss.indexes import matching, rbf_cka

    monkeypatch.setattr(matching, "BLOCK_ROWS", 7)
    monkeypatch.setattr(rbf_cka, "BLOCK_ROWS", 7)
    for block in (1, 13, 101):
        row = compare({"x": X, "y": Y}, [("x", "y")], [name], block=block)[0]
        assert row.value == pytest.approx(whole.value, abs=1e-12)
        np.testing.assert_allclose(row.replicates, whole.replicates, atol=1e-10)


@every_index
def test_every_kind_of_array(name: str, tmp_path) -> None:
    X, Y = (Z.astype(np.float32) for Z in data())
    value = measure(name, X.astype(float), Y.astype(float))
    X.tofile(tmp_path / "x")
    mapped = np.memmap(tmp_path / "x", dtype=np.float32, mode="r", shape=X.shape)
    wide = np.concatenate([Y, Y], axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x, y in ((X, Y), (torch.tensor(X), torch.tensor(Y)), (mapped, wide[:, :6]), (X.astype(">f4"), Y)):
            assert measure(name, x, y) == pytest.approx(value, abs=1e-12)


@every_index
def test_half_precision_inputs(name: str) -> None:
    X, Y = data()
    half = measure(name, X.astype(np.float16), Y.astype(np.float16))
    assert half == pytest.approx(measure(name, X, Y), abs=0.01)
    assert measure(name, torch.tensor(X).half(), torch.tensor(Y).half()) == pytest.approx(half, abs=1e-12)


@every_index
def test_huge_offset(name: str) -> None:
    """1e6 under noise of size 1: as exact as the inputs themselves are after rounding to double."""
    X, Y = data()
    moved = (X + 1e6) - 1e6, (Y - 1e6) + 1e6
    far = measure(name, moved[0] + 1e6, moved[1] - 1e6)
    if "translation" in INDEXES[name].invariances_per_side:
        assert far == pytest.approx(measure(name, *moved), abs=1e-7)
    elif "translation" in INDEXES[name].joint_invariances:
        assert measure(name, moved[0] + 1e6, moved[1] + 1e6) == pytest.approx(measure(name, *moved), abs=1e-7)
    else:
        assert 0 <= far <= 1


@every_index
def test_constant_neuron(name: str) -> None:
    """A neuron that never moves adds nothing to any index that is blind to translation."""
    X, Y = data()
    X2, Y2 = (np.hstack([Z, np.full((len(Z), 1), 0.1)]) for Z in (X, Y))
    if "translation" in INDEXES[name].joint_invariances:
        assert measure(name, X2, Y2) == pytest.approx(measure(name, X, Y), abs=1e-9)
    assert measure(name, X2, X2) == pytest.approx(1, abs=1e-9)


@every_index
def test_collapsed_vectors_never_look_similar(name: str) -> None:
    same = np.ones((30, 4)) * 0.3
    if name in ("matching", "separation"):
        assert measure(name, same, same) == {"matching": 0, "separation": 0.5}[name]
    else:
        with pytest.raises(UsageError, match="not defined"):
            measure(name, same, data(30, 4)[1])


@every_index
def test_one_sentence_is_too_few(name: str) -> None:
    with pytest.raises(UsageError, match="at least 2 samples"):
        measure(name, np.ones((1, 3)), np.ones((1, 3)))


@every_index
def test_fewer_sentences_than_neurons(name: str) -> None:
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(2, 20, 30))
    if name in CANONICAL:
        with pytest.raises(UsageError, match="20 samples are too few"):
            measure(name, X, Y)
    else:
        assert measure(name, X, Y) == pytest.approx(textbook.INDEXES[name](X, Y), abs=1e-8)


@every_index
def test_bad_numbers_name_language_layer_and_sentence(name: str) -> None:
    for bad, told in ((np.nan, "NaN"), (np.inf, "an infinite value")):
        X, Y = data()
        Y[17, 3] = bad
        with pytest.raises(UsageError, match=rf"layer 5, fr: expected finite .* got {told} in sentence 17"):
            compare({"en": X, "fr": Y}, [("en", "fr")], [name], where="layer 5", block=7)


@pytest.mark.parametrize("scale", [1e80, 1e200, 1e-80, 1e-200])
@every_index
def test_very_large_and_small_numbers(name: str, scale: float) -> None:
    """Their squares, or the squares of those, leave the range of float64."""
    X, Y = data()
    scale = 2.0 ** round(np.log2(scale))  # exact
    pairs = [(X * scale, Y * scale)]
    if "isotropic scaling" in INDEXES[name].invariances_per_side:
        pairs += [(X * scale, Y), (X, Y / scale)]
    expected = compare({"x": X, "y": Y}, [("x", "y")], [name])[0]
    for x, y in pairs:
        row = compare({"x": x, "y": y}, [("x", "y")], [name])[0]
        assert row.value == pytest.approx(expected.value, abs=1e-12)
        assert (row.low, row.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize("function", [ig.cka, ig.cca, ig.svcca, ig.pwcca, ig.anc, ig.procrustes, ig.matching_accuracy])
def test_functions_at_the_limits_of_double_precision(function) -> None:
    X, Y = data()
    for scale in (2.0**266, 2.0**-266, 2.0**900):
        assert function(X * scale, Y) == pytest.approx(function(X, Y), abs=1e-12)
    assert ig.cka(X * 2.0**266, Y, kernel="rbf") == pytest.approx(ig.cka(X, Y, kernel="rbf"))
    assert ig.cka(X * 2.0**266, Y, debiased=True) == pytest.approx(ig.cka(X, Y, debiased=True))


def test_a_similarity_that_is_not_a_number_is_an_error() -> None:
    """`min(1.0, nan)` is 1.0."""
    for number in (np.nan, np.inf, -np.inf):
        with pytest.raises(UsageError, match="too large or too small"):
            bounded(number)


@pytest.mark.gpu
@every_index
def test_gpu_equals_cpu(name: str) -> None:
    X, Y = data(700, 24)
    on_cpu = compare({"x": X, "y": Y}, [("x", "y")], [name])[0]
    on_gpu = compare({"x": X, "y": Y}, [("x", "y")], [name], device="cuda")[0]
    assert on_gpu.value == pytest.approx(on_cpu.value, abs=1e-10)
    assert on_gpu.error == pytest.approx(on_cpu.error, rel=1e-6)
    np.testing.assert_allclose(on_gpu.replicates, on_cpu.replicates, atol=1e-8)
