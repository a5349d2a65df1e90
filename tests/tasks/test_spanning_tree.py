from __future__ import annotations

from functools import cache
from itertools import product

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import ArrayLike

from isogloss.core.errors import UsageError
from isogloss.tasks.spanning_tree import MIN_SENTENCES_PER_THREAD, compiled, decode_trees


@cache
def all_trees(n: int) -> np.ndarray:
    """Every single-root tree over n words, found by trying all head assignments: (trees, words)."""
    choices = np.array(list(product(range(n + 1), repeat=n)))
    node = np.tile(np.arange(1, n + 1), (len(choices), 1))
    heads = np.concatenate([np.zeros((len(choices), 1), int), choices], axis=1)
    for _ in range(n):
        node = np.take_along_axis(heads, node, axis=1)
    return choices[(node == 0).all(1) & ((choices == 0).sum(1) == 1)]


def decode_tree(scores: ArrayLike) -> list[int]:
    heads: list[int] = decode_trees(np.asarray(scores)[None])[0].tolist()
    return heads


def tree_scores(scores: np.ndarray, trees: np.ndarray) -> np.ndarray:
    return scores[np.arange(len(scores)), trees].sum(axis=1)


def assert_best(scores: np.ndarray) -> None:
    trees = all_trees(len(scores))
    heads = np.array(decode_tree(scores))
    assert (trees == heads).all(1).any(), f"{heads} is no single-root tree"
    got, best = tree_scores(scores, heads[None])[0], tree_scores(scores, trees).max()
    finite = scores[np.isfinite(scores)]
    assert got == pytest.approx(best, rel=1e-12, abs=1e-12 * (1 + np.abs(finite).max(initial=0)))


def square(n: int, elements: st.SearchStrategy[float]) -> st.SearchStrategy[np.ndarray]:
    return arrays.arrays(np.float64, (n, n + 1), elements=elements)


def test_the_number_of_trees_is_cayleys() -> None:
    assert [len(all_trees(n)) for n in range(1, 6)] == [n ** (n - 1) for n in range(1, 6)]


@settings(max_examples=150)
@given(st.integers(1, 5).flatmap(lambda n: square(n, st.floats(-1e3, 1e3))))
def test_real_scores_against_all_trees(scores: np.ndarray) -> None:
    assert_best(scores)


@settings(max_examples=150)
@given(st.integers(1, 5).flatmap(lambda n: square(n, st.integers(-2, 2).map(float))))
def test_tied_scores_against_all_trees(scores: np.ndarray) -> None:
    assert_best(scores)


@pytest.mark.parametrize("roots", [0.0, 3.0, 100.0, -100.0])
def test_random_scores_with_eager_and_reluctant_roots_against_all_trees(roots: float) -> None:
    generator = np.random.default_rng(0)
    for n in [3, 4, 5] * 60 + [6] * 20:
        scores = generator.normal(size=(n, n + 1))
        scores[:, 0] += roots
        assert_best(scores)


@pytest.mark.parametrize("size", [1e-30, 1e12, 1e30])
def test_the_single_root_costs_no_precision(size: float) -> None:
    """A constant large enough to keep roots away would drown differences of size 1 at a range of 1e30."""
    generator = np.random.default_rng(1)
    for _ in range(50):
        assert_best(size * generator.normal(size=(5, 6)))
        masked = generator.normal(size=(5, 6))
        masked[generator.random(masked.shape) < 0.3] = -1e30
        masked[:, 0] = generator.normal(size=5)  # roots everywhere, so that a tree without a mask is likely
        trees = all_trees(5)
        heads = np.array(decode_tree(masked))
        best = tree_scores(masked, trees).max()
        if best > -1e29:
            assert tree_scores(masked, heads[None])[0] == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
def test_forbidden_arcs(share: float) -> None:
    generator = np.random.default_rng(5)
    for n in [2, 3, 4, 5] * 150:
        scores = generator.normal(size=(n, n + 1)) - 5
        scores[generator.random(scores.shape) < share] = -np.inf
        assert_best_or_refused(scores)


@settings(max_examples=100)
@given(st.integers(1, 5).flatmap(lambda n: square(n, st.one_of(st.just(-np.inf), st.floats(-10, 10)))))
def test_forbidden_and_odd_scores(scores: np.ndarray) -> None:
    assert_best_or_refused(scores)


def assert_best_or_refused(scores: np.ndarray) -> None:
    if tree_scores(scores, all_trees(len(scores))).max() == -np.inf:
        with pytest.raises(UsageError, match=r"sentence 0 forbid \(-inf\) every tree"):
            decode_tree(scores)
    else:
        assert_best(scores)


@pytest.mark.parametrize("words", [12, 25, 40])
@pytest.mark.parametrize("forbidden", [0.0, 0.6, 0.9])
def test_long_sentences_against_networkx(words: int, forbidden: float) -> None:
    """networkx knows no single root, so arcs from the root cost more than all others together: exact, in integers."""
    generator = np.random.default_rng(words)
    for _ in range(2):
        scores = generator.integers(-50, 50, size=(words, words + 1)).astype(float)
        scores[generator.random(scores.shape) < forbidden] = -np.inf
        scores[np.arange(words), generator.integers(0, words + 1, size=words)] = -49.0  # so that a tree is likely
        best = best_by_networkx(scores)
        if best == -np.inf:
            with pytest.raises(UsageError, match="every tree"):
                decode_tree(scores)
        else:
            heads = np.array(decode_tree(scores))
            assert (heads == 0).sum() == 1
            assert tree_scores(scores, heads[None])[0] == best


def best_by_networkx(scores: np.ndarray) -> float:
    """The score of the best tree with a single root, -inf if there is none."""
    words, dear = len(scores), 1_000_000
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(words + 1))
    for d, h in np.argwhere(scores > -np.inf):
        if h != d + 1:
            graph.add_edge(int(h), int(d) + 1, weight=int(scores[d, h]) - dear * bool(h == 0))
    try:
        tree = networkx.maximum_spanning_arborescence(graph)
    except networkx.NetworkXException:
        return -np.inf
    total = sum(weight for _, _, weight in tree.edges(data="weight"))
    return total + dear if total > -1.5 * dear else -np.inf


def test_a_batch_is_its_sentences_whatever_lies_in_the_padding() -> None:
    generator = np.random.default_rng(3)
    count = 2 * MIN_SENTENCES_PER_THREAD + 3  # several threads
    lengths = generator.integers(0, 8, size=count)
    scores = np.full((count, 8, 9), np.nan, dtype=np.float32)
    for sentence, n in enumerate(lengths):
        scores[sentence, :n, : n + 1] = generator.normal(size=(n, n + 1))
    heads = decode_trees(scores, lengths)
    assert heads.shape == (count, 8)
    for sentence, n in enumerate(lengths):
        assert heads[sentence, n:].tolist() == [-1] * (8 - n)
        assert heads[sentence, :n].tolist() == decode_trees(scores[sentence : sentence + 1, :n, : n + 1])[0].tolist()


def test_other_layouts_and_types_give_the_same_trees() -> None:
    scores = np.random.default_rng(4).integers(-50, 50, size=(20, 6, 7))
    expected = decode_trees(scores.astype(np.float64))
    for other in (scores, scores.astype(np.float16), scores.astype(np.float32), np.asfortranarray(scores)):
        assert (decode_trees(other) == expected).all()


def test_small_cases() -> None:
    assert decode_tree([[-5.0, 9.0]]) == [0]
    assert decode_trees(np.zeros((2, 0, 1))).shape == (2, 0)
    assert decode_trees(np.zeros((0, 3, 4))).shape == (0, 3)
    diagonal = np.zeros((2, 3))
    diagonal[0, 1] = np.nan  # a word as its own head is never looked at
    assert sorted(decode_tree(diagonal)) in ([0, 1], [0, 2])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_broken_scores_are_refused_and_the_sentence_named(value: float) -> None:
    scores = np.zeros((MIN_SENTENCES_PER_THREAD + 2, 3, 4))
    scores[MIN_SENTENCES_PER_THREAD + 1, 2, 1] = value
    with pytest.raises(UsageError, match=f"sentence {MIN_SENTENCES_PER_THREAD + 1} hold NaN or"):
        decode_trees(scores)


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(UsageError, match=r"\(sentences, words, 1 \+ words\), got \(2, 3, 3\)"):
        decode_trees(np.zeros((2, 3, 3)))
    for lengths in ([3], [3, 4], [-1, 3]):
        with pytest.raises(UsageError, match="from 0 to 3 for each of 2 sentences"):
            decode_trees(np.zeros((2, 3, 4)), lengths)


def test_nowhere_to_keep_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba refuses to decorate where neither the package nor the user's cache can be written."""
    monkeypatch.setattr("numba.core.caching.FunctionCache.__init__", refuse)
    assert compiled(lambda x: x + 1)(1) == 2


def refuse(*arguments: object) -> None:
    raise RuntimeError("cannot cache function: no locator available")
