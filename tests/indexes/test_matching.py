from __future__ import annotations

import numpy as np
import pytest
import textbook
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import isogloss as ig
from isogloss.core.errors import UnknownName, UsageError
from isogloss.indexes import matching


def data(n: int = 80, d: int = 8, noise: float = 1.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, X + noise * random.normal(size=(n, d))


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 70), st.integers(1, 9), st.floats(0, 3), st.integers(0, 99))
def test_equals_the_full_matrix(n: int, d: int, noise: float, seed: int) -> None:
    X, Y = data(n, d + 1, noise, seed)
    assert ig.matching_accuracy(X, Y) == pytest.approx(textbook.matching(X, Y), abs=1e-12)


def test_directions() -> None:
    X, Y = data()
    forward, backward = (ig.matching_accuracy(X, Y, direction=d) for d in ("forward", "backward"))
    assert forward != backward
    assert ig.matching_accuracy(X, Y) == forward
    assert ig.matching_accuracy(X, Y, direction="both") == pytest.approx((forward + backward) / 2)
    assert ig.matching_accuracy(Y, X, direction="forward") == backward
    with pytest.raises(UnknownName, match="did you mean 'forward'"):
        ig.matching_accuracy(X, Y, direction="forwards")


def test_ties_are_misses() -> None:
    X, Y = data(6, 4, noise=0.01)
    Y[3] = Y[2]
    assert ig.matching_accuracy(X, Y) == pytest.approx(4 / 6)
    assert ig.matching_accuracy(np.ones((5, 3)), np.ones((5, 3))) == 0
    # the same vector for everything on one side only
    assert ig.matching_accuracy(X, np.ones((6, 4))) == 0


def test_repeated_rows_count_as_one_sentence() -> None:
    """XNLI has every premise three times."""
    X, Y = data(60, 8, noise=0.8)
    once = ig.matching_accuracy(X, Y)
    assert 0.1 < once < 0.9
    assert ig.matching_accuracy(np.repeat(X, 3, 0), np.repeat(Y, 3, 0)) == pytest.approx(once)


def by_hand(X: np.ndarray, Y: np.ndarray, translations: list[str]) -> float:
    """The nearest row of Y has the text of the translation; a tie with another text is a miss."""
    cosine = (X / np.linalg.norm(X, axis=1)[:, None]) @ (Y / np.linalg.norm(Y, axis=1)[:, None]).T
    hits = []
    for i, row in enumerate(cosine):
        others = [row[j] for j in range(len(row)) if translations[j] != translations[i]]
        copies = [row[j] for j in range(len(row)) if translations[j] == translations[i]]
        hits.append(bool(others) and max(copies) > max(others) + 1e-12)
    return float(np.mean(hits))


@settings(max_examples=30, deadline=None)
@given(st.integers(3, 60), st.integers(1, 20), st.integers(0, 99))
def test_every_copy_of_the_translation_is_correct(n: int, kinds: int, seed: int) -> None:
    """Copies whose vectors differ in the last digits, as after different batches; on one side or on both."""
    random = np.random.default_rng(seed)
    X, Y = data(n, 6, 0.7, seed)
    target = random.integers(min(kinds, n), size=n)
    source = random.integers(min(kinds, n), size=n)
    Y = (Y[target] * (1 + 1e-7 * random.normal(size=(n, 6)))).astype(np.float32)
    texts = ([f"s{i}" for i in source], [f"t{i}" for i in target])
    forward = ig.matching_accuracy(X, Y, sentences=texts)
    assert forward == pytest.approx(by_hand(X, Y.astype(float), texts[1]))
    backward = ig.matching_accuracy(X, Y, direction="backward", sentences=texts)
    assert backward == pytest.approx(by_hand(Y.astype(float), X, texts[0]))


@pytest.mark.parametrize("with_text", [False, True])
def test_ties_are_decided_alike_for_any_block_size_precision_and_order(
    with_text: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same vector at the edge of a block and inside it may get another last bit from the product."""
    X, Y = (Z.astype(np.float32) for Z in data(500, 50, noise=1.5))
    Y[300:320] = Y[:20]  # ties, or copies
    texts = [str(i % 300 if i < 320 else i) for i in range(500)]
    sentences = ([str(i) for i in range(500)], texts) if with_text else None
    expected = by_hand(X.astype(float), Y.astype(float), texts if with_text else [str(i) for i in range(500)])
    order = np.random.default_rng(0).permutation(500)
    shuffled = sentences and tuple([side[i] for i in order] for side in sentences)
    for rows in (1, 64, 1000):
        monkeypatch.setattr(matching, "BLOCK_ROWS", rows)
        for dtype in (np.float32, np.float64):
            x, y = X.astype(dtype), Y.astype(dtype)
            assert ig.matching_accuracy(x, y, sentences=sentences) == pytest.approx(expected)
            assert ig.matching_accuracy(x[order], y[order], sentences=shuffled) == pytest.approx(expected)


def test_low_precision_products_do_not_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where float32 products may be rounded to 10 bits (TF32), float64 is used."""
    used = []
    similarities = matching._similarities
    monkeypatch.setattr(matching, "_similarities", lambda x, *rest: used.append(x.dtype) or similarities(x, *rest))
    monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda: "high")
    ig.matching_accuracy(*data())
    assert used == [torch.float64]


def test_unequal_widths() -> None:
    X, Y = data()
    with pytest.raises(UsageError, match="X and Y of equal width, got 8 and 5 features"):
        ig.matching_accuracy(X, Y[:, :5])


def test_sentences_that_are_not_those_of_the_rows() -> None:
    X, Y = data()
    with pytest.raises(UsageError, match="a sentence for each of the 80 rows, got 2"):
        ig.matching_accuracy(X, Y, sentences=(["a", "b"], ["c", "d"]))
    with pytest.raises(UsageError, match="parallel, got 1 and 2"):
        ig.matching_accuracy(X, Y, sentences=(["a"], ["c", "d"]))


def test_directions_that_float32_cannot_tell_apart() -> None:
    """All cosines within 1e-9 of 1: the decision is made in float64."""
    X, Y = data(60, 20, noise=0.1)
    assert ig.matching_accuracy(X + 1e5, Y + 1e5) == pytest.approx(textbook.matching(X + 1e5, Y + 1e5), abs=1e-12)
    assert ig.matching_accuracy(X + 1e5, Y + 1e5) > 0.5


def test_centring_undoes_a_language_offset() -> None:
    X, Y = data(noise=0.2)
    offset = Y + 30 * np.random.default_rng(1).normal(size=8)
    assert ig.matching_accuracy(X, offset, direction="both") < 0.3
    centred = ig.matching_accuracy(X - X.mean(0), Y - Y.mean(0))
    assert ig.matching_accuracy(X, offset, centre=True) == pytest.approx(centred)


def test_csls_equals_its_definition() -> None:
    X, Y = data(90, 5, noise=0.6)
    Y[:10] = Y[:10] * 0.1 + Y.mean(0) + 1  # hubs
    units = [Z / np.linalg.norm(Z, axis=1)[:, None] for Z in (X, Y)]
    cosine = units[0] @ units[1].T
    near_x, near_y = np.sort(cosine, 1)[:, -10:].mean(1), np.sort(cosine, 0)[-10:].mean(0)
    similarity = 2 * cosine - near_x[:, None] - near_y
    hits = [similarity.argmax(axis) == np.arange(90) for axis in (1, 0)]
    found = matching.matches(X, Y, csls=True)
    for one, other in zip(found, hits):
        np.testing.assert_array_equal(one.numpy(), other)
    assert ig.matching_accuracy(X, Y, "both", csls=True) != ig.matching_accuracy(X, Y, "both")


def test_influence_is_that_of_a_mean() -> None:
    X, Y = data()
    forward, backward = matching.matches(X, Y)
    hits = (forward.double() + backward.double()) / 2
    torch.testing.assert_close(matching.sample(X, Y, "both").influence, (hits - hits.mean()) / 80)


@pytest.mark.parametrize("scale", [1e-25, 1.0, 1e25])
def test_float32_of_any_size(scale: float) -> None:
    """Squares of such numbers leave the range of float32."""
    X, Y = (Z.astype(np.float32) for Z in data())
    found = ig.matching_accuracy(X * np.float32(scale), Y)
    assert found == pytest.approx(textbook.matching(X.astype(float), Y.astype(float)))


def test_zero_vector_has_no_direction() -> None:
    X, Y = data()
    Y[7] = 0
    for dtype in (np.float32, np.float64):
        with pytest.raises(UsageError, match=r"Y: expected a direction .* got a zero vector in sentence 7"):
            ig.matching_accuracy(X.astype(dtype), Y.astype(dtype))
