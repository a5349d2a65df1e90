"""Vectors of linked words, against all word vectors of all sentences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import isogloss as ig
from isogloss.analysis.aligned_vectors import aligned_vectors
from isogloss.core.errors import UsageError
from isogloss.corpora.kinds.alignment import Alignment, Link
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.hidden_states import word_states

Tiny = Callable[[str], LoadedModel]
PAIRS = ig.Laboratory(0).bitext("qla", "qlc", 30)


@pytest.mark.parametrize(("family", "layer"), [("bert", "last"), ("bert", 1), ("modernbert", "last"), ("llama", 2)])
def test_they_are_those_of_the_words(tiny: Tiny, family: str, layer: int | str) -> None:
    model = tiny(family)
    where = model.last_layer if layer == "last" else layer
    sides = [[pair.source for pair in PAIRS], [pair.target for pair in PAIRS]]
    source, target = (word_states(model, side, layers=[where]).collect() for side in sides)
    links = [(i, s, t) for i, pair in enumerate(PAIRS) for s, t in pair.alignment.sure]
    X, Y = aligned_vectors(model, PAIRS, layer=layer)
    np.testing.assert_allclose(X, [source[i][0, s] for i, s, _ in links], rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(Y, [target[i][0, t] for i, _, t in links], rtol=1e-3, atol=1e-5)


def test_some_are_drawn(tiny: Tiny) -> None:
    everything = {tuple(row) for row in np.hstack(aligned_vectors(tiny("bert"), PAIRS)).round(3)}
    drawn = [np.hstack(aligned_vectors(tiny("bert"), PAIRS, links=20, seed=seed)) for seed in (0, 0, 1)]
    assert len(drawn[0]) == 20
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    assert {tuple(row) for row in drawn[0].round(3)} <= everything


def test_words_without_a_vector_are_left_out(tiny: Tiny) -> None:
    pair = PAIRS[0]
    empty = PAIRS.with_items([type(pair)(("", "cat"), ("chat", "x"), Alignment((Link(0, 0), Link(1, 1))))])
    X, Y = aligned_vectors(tiny("xlm-roberta"), empty)
    assert len(X) == len(Y) == 1


def test_nothing_linked_is_told(tiny: Tiny) -> None:
    bare = PAIRS.with_items(type(pair)(pair.source, pair.target, Alignment()) for pair in PAIRS)
    with pytest.raises(UsageError, match="no sure link"):
        aligned_vectors(tiny("bert"), bare)
