"""Rotations: SciPy's solution, what they undo, and states that are mapped inside a model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import orthogonal_procrustes
from scipy.stats import ortho_group

import isogloss as ig
from isogloss.analysis.aligned_vectors import aligned_vectors
from isogloss.analysis.rotation import best_rotation, rotated, rotation
from isogloss.core.errors import UsageError
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.hidden_states import sentence_states, word_states

Tiny = Callable[[str], LoadedModel]
LAB = ig.Laboratory(0)
PAIRS = LAB.bitext("qla", "qlc", 30)
SENTENCES = ["The cat sat on the mat.", "Le chat dort.", "x"]


@given(st.integers(0, 1000), st.booleans())
@settings(max_examples=25)
def test_it_is_scipys_and_nothing_is_closer(seed: int, centre: bool) -> None:
    numbers = np.random.default_rng(seed)
    X, Y = numbers.normal(1, 2, (2, 20, 5))
    found = best_rotation(X, Y, layer=1, centre=centre)
    means = [side.mean(0) if centre else np.zeros(5) for side in (X, Y)]
    expected, _ = orthogonal_procrustes(Y - means[1], X - means[0])
    np.testing.assert_allclose(found.matrix.numpy(), expected, atol=1e-8)
    np.testing.assert_allclose(found.matrix.T @ found.matrix, np.eye(5), atol=1e-10)
    left = np.linalg.norm(found(torch.from_numpy(Y)).numpy() - X)
    other = ortho_group.rvs(5, random_state=seed)
    assert left <= np.linalg.norm((Y - means[1]) @ other + means[0] - X) + 1e-9


def test_it_undoes_a_rotation_and_a_shift() -> None:
    numbers = np.random.default_rng(0)
    X = numbers.normal(size=(40, 6))
    Y = X @ ortho_group.rvs(6, random_state=1) + 3
    found = best_rotation(X, Y, layer="final")
    np.testing.assert_allclose(found(torch.from_numpy(Y)).numpy(), X, atol=1e-9)
    assert ig.matching_accuracy(X, Y) < 1
    assert ig.matching_accuracy(X, found(torch.from_numpy(Y))) == 1


@pytest.mark.parametrize("family", ["bert", "modernbert", "llama", "mt5", "xglm"])
def test_states_inside_the_model_are_mapped_and_then_not(tiny: Tiny, family: str) -> None:
    model = tiny(family)
    found = rotation(model, PAIRS)
    assert found.layer == model.last_layer
    plain = sentence_states(model, SENTENCES, layers=[1, found.layer]).collect()
    with rotated(model, found) as changed:
        mapped = sentence_states(changed, SENTENCES, layers=[1, found.layer]).collect()
    np.testing.assert_array_equal(mapped[0], plain[0])
    # the mean over tokens and the map may change places
    np.testing.assert_allclose(mapped[1], found(torch.from_numpy(plain[1])).numpy(), rtol=1e-3, atol=1e-4)
    again = sentence_states(model, SENTENCES, layers=[found.layer]).collect()
    np.testing.assert_array_equal(again[0], plain[1])


def test_it_brings_linked_words_closer(tiny: Tiny) -> None:
    model = tiny("bert")
    X, Y = aligned_vectors(model, PAIRS, layer=2)
    found = rotation(model, PAIRS, layer=2)
    assert np.linalg.norm(found(torch.from_numpy(Y)).numpy() - X) < np.linalg.norm(Y - X)


def test_from_a_dictionary(tiny: Tiny) -> None:
    model, lexicon = tiny("bert"), LAB.lexicon("qla", "qlc")[:50]
    found = rotation(model, lexicon)
    source = word_states(model, [[entry.source] for entry in lexicon], layers=[3]).collect()
    np.testing.assert_allclose(found.source_mean, np.mean([one[0, 0] for one in source], axis=0), rtol=1e-3, atol=1e-5)


def test_what_cannot_be_is_told(tiny: Tiny) -> None:
    with pytest.raises(UsageError, match="bitext or a lexicon"):
        rotation(tiny("bert"), LAB.text("qla", 3))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="0 … 3"):
        rotation(tiny("bert"), PAIRS, layer=7)
    found = rotation(tiny("bert"), PAIRS, layer=0)
    with pytest.raises(UsageError, match="embeddings"), rotated(tiny("bert"), found):
        pass
